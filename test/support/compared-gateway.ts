import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AlteringProxy, type PassingAnswer } from './altering-proxy';
import { runCommand, type CommandResult } from './command';
import { depositBook } from './deposit-book';
import { createOrganization, importLines, startGateway, type TestGateway, type TestOrganization } from './gateway';

/** The doors in the order of the table, each with what its requests have. */
export const ASKED = {
  v2: /^\/api\/v2\//,
  'GraphQL list': /query Parity\(/,
  'GraphQL pages': /query ParityPages\(/,
  CSV: /^\/export\/deposit-details\.csv/,
  NDJSON: /^\/export\/deposit-details\.ndjson/,
  JSON: /^\/export\/deposit-details\.json/,
  OData: /^\/odata\/Lines/,
  'saved report': /^\/reports\/parity-/,
  summary: /query ParitySummary\(/,
};
export const DOORS = ['books by SQL', ...Object.keys(ASKED)];
/** The allocation of the only line that has this memo. It is posted, and on the second page. */
export const ALLOCATION = 'A609-0';
export const MEMO = 'Memo of Ada';
/** More than a page of lines. */
export const LINES = depositBook(700).map((line) => ({ ...line, main_memo: line.allocation_id === ALLOCATION ? MEMO : '' }));
export const POSTED = LINES.filter(({ deposit_status }) => deposit_status === 'posted');

/** A gateway, a proxy before it, and an organization with lines, for runs of `parity`. */
export interface ComparedGateway {
  readonly gateway: TestGateway;
  readonly proxy: AlteringProxy;
  readonly organization: TestOrganization;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly writeProvision: (provision: string, mode?: number) => string;
  /** The words of a run for all dates. */
  readonly words: (url: string, of: TestOrganization, ...options: string[]) => string[];
  /** Runs the command through the proxy, which changes the answers whose request has a pattern. */
  readonly parity: (asked: RegExp, change: (answer: PassingAnswer) => unknown, ...options: string[]) => Promise<CommandResult>;
  /** The saved reports of all organizations. */
  readonly listReports: () => Promise<string[]>;
}

/** Opens the gateway before the tests of a file, and stops it after them. No test may leave a saved report, a session or a provision. */
export function openComparedGateway(): ComparedGateway {
  let gateway: TestGateway;
  let proxy: AlteringProxy;
  let directory: string;
  let organization: TestOrganization;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-parity-'));
    gateway = await startGateway();
    proxy = await AlteringProxy.start(gateway.url);
    organization = await createOrganization(gateway.services);
    await importLines(gateway.services, organization, LINES);
  });
  afterAll(async () => {
    await proxy.stop();
    await gateway.stop();
    rmSync(directory, { recursive: true });
  });
  const query = async <Row extends object>(statement: string): Promise<Row[]> => (await gateway.database.client.query<Row>(statement)).rows;
  const listReports = async (): Promise<string[]> =>
    (await query<{ name: string }>('SELECT name FROM saved_report ORDER BY name')).map(({ name }) => name);
  afterEach(async () => {
    expect(await listReports()).toEqual([]);
    expect(await query('SELECT * FROM session')).toEqual([]);
    // Each organization of a test has two.
    expect(await query('SELECT organization_id FROM provision GROUP BY 1 HAVING count(*) <> 2')).toEqual([]);
  });

  const writeProvision = (provision: string, mode = 0o600): string => {
    const file = join(directory, `${provision}-${mode}`);
    writeFileSync(file, `${provision}\n`, { mode });
    return file;
  };
  const words = (url: string, of: TestOrganization, ...options: string[]): string[] => [
    ...['parity', '--organization', of.name, '--from', '0001-01-01', '--to', '9999-12-31', '--url', url],
    ...['--provision-file', writeProvision(of.apiProvision), ...options],
  ];
  const environment = (): Record<string, string> => ({ DATABASE_URL: gateway.database.url, LOG_LEVEL: 'fatal' });
  return {
    get gateway() {
      return gateway;
    },
    get proxy() {
      return proxy;
    },
    get organization() {
      return organization;
    },
    get directory() {
      return directory;
    },
    get environment() {
      return environment();
    },
    ...{ writeProvision, words, listReports },
    parity: (asked, change, ...options) =>
      proxy.while(
        (answer) => (asked.test(answer.asked) ? change(answer) : undefined),
        () => runCommand(environment(), words(proxy.url, organization, ...options)),
      ),
  };
}
