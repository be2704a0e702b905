import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { Client } from 'pg';
import { pino } from 'pino';
import { createApp } from '../../src/app';
import { drainMsOf } from '../../src/cli/drain-time';
import { readConfig } from '../../src/config';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import type { ImportOptions, ImportResult } from '../../src/domain/imports/import-service';
import type { RawLine } from '../../src/formats/import-line';
import { createServices, type Services } from '../../src/services';
import { startServe, type Environment } from './command';
import { createTestDatabase, databaseSettings, rolesOf, type TestDatabase } from './database';
import { ROOT } from './documents';
import { PACKAGE } from './gateway-package';

/** A gateway on its own port and its own database, with the services that a test fills the database by. */
export interface RunningGateway {
  readonly url: string;
  /** The address of the operators' port, which a gateway has with the setting ADMIN_PORT. */
  readonly adminUrl: string;
  readonly database: TestDatabase;
  readonly services: Services;
  /** The lines that the gateway has logged so far. */
  readonly logLines: readonly string[];
}

/** A gateway that its test stops. */
export interface TestGateway extends RunningGateway {
  /** Stops the gateway and drops its database, once however often it is called. */
  stop(): Promise<void>;
}

/** Settings with room for a busy machine. Tests of these set their own. */
const UNHURRIED = {
  SHUTDOWN_GRACE_SECONDS: '5',
  // All callers of a test have one address.
  PROVISION_ATTEMPTS: '100000',
  // Tests count statements while answers are under way.
  ACCESS_CHECK_SECONDS: '3600',
};

/**
 * Starts a gateway over a new database, or over the one that is given, which it drops when it stops. A gateway whose settings name a database
 * of another one makes none, and leaves that one be. It serves in this process, which is quick to start; an installed package serves in its own.
 */
export async function startGateway(settings: Readonly<Record<string, string>> = {}, given?: TestDatabase): Promise<TestGateway> {
  const database = given ?? (settings.DATABASE_URL === undefined ? await createTestDatabase() : toBorrowed(settings.DATABASE_URL));
  const environment = { ...UNHURRIED, ...databaseSettings(), PORT: '0', DATABASE_URL: database.url, DRAIN_MILLISECONDS: '0', ...settings };
  const served = await (PACKAGE === ROOT ? serveHere(environment) : serveByPackage(environment)).catch(async (error: unknown) => {
    await database.drop();
    throw error;
  });
  const services = createServices(readConfig(environment), { connectionString: database.url });
  const stop = async (): Promise<void> => {
    await served.end();
    await services.close();
    await database.drop();
  };
  let stopped: Promise<void> | undefined;
  return { ...served, database, services, stop: () => (stopped ??= stop()) };
}

type Served = Pick<TestGateway, 'url' | 'adminUrl' | 'logLines'> & { readonly end: () => Promise<unknown> };

async function serveHere(environment: Environment): Promise<Served> {
  const config = readConfig(environment);
  const logLines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logLines.push(line) });
  const app = await createApp(config, rolesOf(config.DATABASE_URL), log);
  const { port, adminPort } = await app.listen();
  const at = (number: number | undefined): string => `http://127.0.0.1:${number}`;
  return { url: at(port), adminUrl: at(adminPort), logLines, end: () => app.stop(drainMsOf(config, 'SIGTERM')) };
}

async function serveByPackage(environment: Environment): Promise<Served> {
  const serve = await startServe(environment);
  const output = new PassThrough();
  output.write(serve.output());
  serve.child.stdout!.pipe(output);
  const logLines: string[] = [];
  createInterface(output).on('line', (line) => logLines.push(line));
  const adminUrl = /"url":"([^"]+)","msg":"listening for operators"/.exec(serve.output())?.[1] ?? '';
  const end = async (): Promise<void> => {
    const status = await serve.end('SIGTERM');
    if (status !== 0) throw new Error(`The package ended with ${String(status)}: ${serve.output()}`);
  };
  return { url: serve.url, adminUrl, logLines, end };
}

/** Nothing connects to the database before its client does: a test may count what the gateway sends there. */
const toBorrowed = (url: string): TestDatabase => ({ url, client: new Client({ connectionString: url }), drop: () => Promise.resolve() });

/** Starts a gateway for the time that a test uses it, and stops it when the test is done, has failed or has stopped it itself. */
export async function withGateway(settings: Readonly<Record<string, string>>, use: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway(settings);
  try {
    await use(gateway);
  } finally {
    await gateway.stop();
  }
}

export const PASSWORD = 'correct horse battery staple';

export interface TestOrganization {
  readonly id: number;
  readonly name: string;
  readonly apiProvision: string;
  readonly webProvision: string;
  /** The user, who has the privilege of the report. */
  readonly username: string;
}

let organizationNumber = 0;

/** Creates an organization with an API provision and a user, who both have the privilege of the report, and a WEB provision without it. */
export async function createOrganization(services: Services, hosts: string[] = []): Promise<TestOrganization> {
  const { id, name } = await services.organizations.create(`Organization ${++organizationNumber}`, hosts);
  const provision = (kind: 'API' | 'WEB', grants: string[]) => services.provisions.create({ organization: name, kind, label: '', grants });
  await services.users.create({ organization: name, username: 'ada', password: PASSWORD, grants: [REPORT_PRIVILEGE] });
  return { id, name, apiProvision: await provision('API', [REPORT_PRIVILEGE]), webProvision: await provision('WEB', []), username: 'ada' };
}

/** A v2 line of one gift to one designation. A test passes the fields that matter to it. */
export function v2Line(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    deposit_id: '1',
    transaction_date: '2024-01-01',
    deposit_date: '2024-01-02',
    transaction_id: 'P10',
    allocation_id: 'P100',
    donor_id: 7,
    donor_first_name: 'Ada',
    donor_last_name: 'Lovelace',
    address1: '12 St James Square',
    address2: '',
    address3: '',
    city: 'London',
    state: '',
    zip: 'SW1Y 4JH',
    phone: '555-0100',
    email_address: 'ada@example.org',
    amount: '10.50',
    fee_amount: '0.50',
    net_amount: '10.00',
    status: 'Complete',
    account_type: 'Checking',
    payment_type: 'ACH',
    designation_id: 3,
    designation: 'General Fund',
    designation_memo: '',
    main_memo: '',
    ...fields,
  };
}

/** The file that `importLines` says it reads. */
export const IMPORTED_FILE = { name: 'lines.json', sha256: 'a1'.repeat(32) };

export async function importLines(
  services: Services,
  organization: Pick<TestOrganization, 'id'>,
  lines: readonly object[],
  options: Partial<ImportOptions> = {},
): Promise<ImportResult> {
  async function* rawLines(): AsyncGenerator<readonly RawLine[]> {
    for (const [position, values] of lines.entries()) yield [{ line: position + 1, values }];
  }
  const source = () => ({ cause: 'import' as const, file: IMPORTED_FILE });
  // Random lines have random shares.
  return services.imports.importLines(organization.id, rawLines(), { source, allowsMismatch: true, ...options });
}

export interface GraphqlAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { data?: Record<string, unknown> | null; errors?: { message: string; extensions: { code: string } }[] };
}

/** Sends one GraphQL request as a frontend does. */
export async function graphql(
  url: string,
  query: string,
  options: { provision?: string; cookie?: string; bearer?: string; variables?: object; signal?: AbortSignal } = {},
): Promise<GraphqlAnswer> {
  const { provision, cookie, bearer, variables, signal } = options;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(provision !== undefined && { Provision: provision }),
      ...(cookie && { Cookie: cookie }),
      ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify({ query, variables }),
    ...(signal && { signal }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as GraphqlAnswer['body'] };
}

/** Logs in and resolves to the session cookie for further requests. */
export async function login(url: string, provision: string, username = 'ada', password = PASSWORD): Promise<string> {
  const query =
    'mutation ($username: String!, $password: String!) { login(input: { username: $username, password: $password }) { viewer { username } } }';
  const { headers, body } = await graphql(url, query, { provision, variables: { username, password } });
  const cookie = headers.get('set-cookie')?.split(';')[0];
  if (cookie === undefined) throw new Error(`The login failed: ${JSON.stringify(body)}`);
  return cookie;
}

/** Opens a session without a cookie and resolves to its token. */
export async function openSession(url: string, provision: string, username = 'ada', password = PASSWORD): Promise<string> {
  const query =
    'mutation ($username: String!, $password: String!) { openSession(input: { username: $username, password: $password }) { token } }';
  const { body } = await graphql(url, query, { provision, variables: { username, password } });
  const session = body.data?.openSession as { token: string } | undefined;
  if (!session) throw new Error(`No session was opened: ${JSON.stringify(body)}`);
  return session.token;
}
