import { randomBytes } from 'node:crypto';
import { createDemoLines } from './demo-lines';
import type { ImportService } from './import-service';
import type { OrganizationService } from './organization-service';
import { REPORT_PRIVILEGE } from './privileges';

/** The names and credentials with which a newcomer can try everything. The password is stored nowhere else as text. */
export interface DemoCredentials {
  readonly organization: string;
  readonly apiProvision: string;
  readonly webProvision: string;
  readonly username: string;
  readonly password: string;
}

const ORGANIZATION = 'Demo';
const USERNAME = 'analyst';
const PASSWORD_BYTES = 12;

/** Creates a demo organization with data, provisions and a user. */
export class DemoService {
  constructor(
    private readonly organizations: OrganizationService,
    private readonly imports: ImportService,
  ) {}

  /** True when the database has no organization yet. */
  async isWanted(): Promise<boolean> {
    return (await this.organizations.list()).length === 0;
  }

  /** Creates the demo. Throws an OperatorError when there is one already. */
  async create(): Promise<DemoCredentials> {
    const { id, name: organization } = await this.organizations.create(ORGANIZATION, []);
    const password = randomBytes(PASSWORD_BYTES).toString('base64url');
    await this.imports.importLines(id, createDemoLines(new Date()), { source: () => ({ cause: 'demo' }) });
    await this.organizations.createUser({ organization, username: USERNAME, password, grants: [REPORT_PRIVILEGE] });
    const apiProvision = await this.organizations.createProvision({
      organization,
      kind: 'API',
      label: 'demo server',
      grants: [REPORT_PRIVILEGE],
    });
    const webProvision = await this.organizations.createProvision({ organization, kind: 'WEB', label: 'demo page', grants: [] });
    return { organization, apiProvision, webProvision, username: USERNAME, password };
  }
}
