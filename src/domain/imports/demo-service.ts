import { randomBytes } from 'node:crypto';
import { OperatorError } from '../../errors';
import { createDemoLines } from './demo-lines';
import type { ImportService } from './import-service';
import type { OrganizationService } from '../access/organization-service';
import { REPORT_PRIVILEGE } from '../../values/privileges';
import type { ProvisionService } from '../access/provision-service';
import type { UserService } from '../access/user-service';

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
/** The name of a demo until all of it is there. A process that was killed leaves one, which tells it from an organization of operators. */
const UNFINISHED = 'Demo (unfinished)';
const USERNAME = 'analyst';
const PASSWORD_BYTES = 12;

/** Creates a demo organization with data, provisions and a user. */
export class DemoService {
  constructor(private readonly services: DemoServices) {}

  /** True when the database has no organization yet, or a demo alone that was not finished. */
  async isWanted(): Promise<boolean> {
    return (await this.services.organizations.list()).every(({ name }) => name === UNFINISHED);
  }

  /** True when the organization is there and finished that credentials were saved of, whatever its name is now. */
  async isThere({ webProvision, apiProvision }: DemoCredentials): Promise<boolean> {
    const { provisions } = this.services;
    const provision = (await provisions.find(webProvision)) ?? (await provisions.find(apiProvision));
    return provision !== null && provision.organization.name !== UNFINISHED;
  }

  /**
   * Creates the demo, in place of one that was not finished. `save` keeps its credentials before it counts as finished. Throws an
   * OperatorError when there is one already.
   */
  async create(save: (credentials: DemoCredentials) => Promise<void>): Promise<DemoCredentials> {
    const { provisions, users, imports, organizations } = this.services;
    const names = (await organizations.list()).map(({ name }) => name);
    if (names.includes(ORGANIZATION)) throw new OperatorError(`There is an organization "${ORGANIZATION}" already`);
    if (names.includes(UNFINISHED)) await organizations.delete(UNFINISHED, UNFINISHED);
    const { id, name: organization } = await organizations.create(UNFINISHED, []);
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
    const credentials = { organization: ORGANIZATION, apiProvision, webProvision, username: USERNAME, password };
    await save(credentials);
    await organizations.rename(UNFINISHED, ORGANIZATION);
    return credentials;
  }
}
