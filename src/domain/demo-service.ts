import { randomBytes } from 'node:crypto';
import { createDemoLines } from './demo-lines';
import type { ImportService } from './import-service';
import type { OrganizationService } from './organization-service';
import { REPORT_PRIVILEGE } from './privileges';

/** What a newcomer needs to try everything. The password is known here only. */
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

/** Fills a database with an organization to play with. */
export class DemoService {
  constructor(
    private readonly organizations: OrganizationService,
    private readonly imports: ImportService,
  ) {}

  async isWanted(): Promise<boolean> {
    return (await this.organizations.list()).length === 0;
  }

  /** Throws an OperatorError where there is a demo already. */
  async create(): Promise<DemoCredentials> {
    const { id, name: organization } = await this.organizations.create(ORGANIZATION, []);
    const password = randomBytes(PASSWORD_BYTES).toString('base64url');
    await this.imports.importLines(id, createDemoLines(new Date()));
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
