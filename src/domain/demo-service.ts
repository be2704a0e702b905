import { randomBytes } from 'node:crypto';
import { createDemoLines } from './demo-lines';
import type { ImportService } from './import-service';
import type { OrganizationService } from './organization-service';
import { REPORT_PRIVILEGE } from './privileges';
import type { ProvisionService } from './provision-service';
import type { UserService } from './user-service';

/** The names and credentials with which a newcomer can try everything. The password is stored nowhere else as text. */
export interface DemoCredentials {
  readonly organization: string;
  readonly apiProvision: string;
  readonly webProvision: string;
  readonly username: string;
  readonly password: string;
}

/** The services that a demo is created by. */
interface DemoServices {
  readonly organizations: OrganizationService;
  readonly provisions: ProvisionService;
  readonly users: UserService;
  readonly imports: ImportService;
}

const ORGANIZATION = 'Demo';
const USERNAME = 'analyst';
const PASSWORD_BYTES = 12;

/** Creates a demo organization with data, provisions and a user. */
export class DemoService {
  constructor(private readonly services: DemoServices) {}

  /** True when the database has no organization yet. */
  async isWanted(): Promise<boolean> {
    return (await this.services.organizations.list()).length === 0;
  }

  /** Creates the demo. Throws an OperatorError when there is one already. */
  async create(): Promise<DemoCredentials> {
    const { provisions, users, imports, organizations } = this.services;
    const { id, name: organization } = await organizations.create(ORGANIZATION, []);
    const password = randomBytes(PASSWORD_BYTES).toString('base64url');
    await imports.importLines(id, createDemoLines(new Date()), { source: () => ({ cause: 'demo' }) });
    await users.create({ organization, username: USERNAME, password, grants: [REPORT_PRIVILEGE] });
    const apiProvision = await provisions.create({
      organization,
      kind: 'API',
      label: 'demo server',
      grants: [REPORT_PRIVILEGE],
    });
    const webProvision = await provisions.create({ organization, kind: 'WEB', label: 'demo page', grants: [] });
    return { organization, apiProvision, webProvision, username: USERNAME, password };
  }
}
