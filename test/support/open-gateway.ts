import {
  createOrganization,
  importLines,
  login,
  startGateway,
  type RunningGateway,
  type TestGateway,
  type TestOrganization,
} from './gateway';

type Settings = Readonly<Record<string, string>>;

export interface Opening {
  /** Settings of the gateway, or a function where earlier hooks must run before they are known. */
  readonly settings?: Settings | (() => Settings);
  /** The lines that the organization's report holds. */
  readonly lines?: readonly object[];
  /** Lets the gateway never write when a provision or a session was used, so that all statements of a request can be counted. */
  readonly countsStatements?: boolean;
  /** Logs the organization's user in, so that `cookie` is there. */
  readonly loggedIn?: boolean;
  /** Opens another gateway for each test, for tests that break theirs. */
  readonly forEachTest?: boolean;
}

/** A gateway that stops by itself after the last test. */
export interface OpenGateway extends RunningGateway {
  readonly organization: TestOrganization;
  /** The session of the organization's user on its web provision. Only with `loggedIn`. */
  readonly cookie: string;
}

/**
 * Opens a gateway with an organization before the tests of the file or block that calls it, and stops it after them.
 * The objects that it returns are empty until then: read their fields in hooks and tests alone.
 */
export function openGateway({
  settings = {},
  lines = [],
  countsStatements = false,
  loggedIn = false,
  forEachTest = false,
}: Opening = {}): OpenGateway {
  const organization = {} as TestOrganization;
  const gateway = { organization } as OpenGateway;
  let started: TestGateway | undefined;
  const [before, after] = forEachTest ? [beforeEach, afterEach] : [beforeAll, afterAll];
  before(async () => {
    started = await startGateway(typeof settings === 'function' ? settings() : settings);
    const { url, adminUrl, database, services, logLines } = started;
    Object.assign(gateway, { url, adminUrl, database, services, logLines });
    Object.assign(organization, await createOrganization(services));
    if (countsStatements) await database.client.query(`UPDATE provision SET last_used_at = 'infinity'`);
    if (lines.length > 0) await importLines(services, organization, lines);
    if (loggedIn) Object.assign(gateway, { cookie: await login(url, organization.webProvision) });
    if (countsStatements) await database.client.query(`UPDATE session SET last_seen_at = 'infinity'`);
  });
  after(() => started?.stop());
  return gateway;
}
