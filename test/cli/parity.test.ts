import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { AlteringProxy, type PassingAnswer } from '../support/altering-proxy';
import { bookLines } from '../support/any-lines';
import { misused, runCommand, startCommand, type CommandResult } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { createOrganization, importLines, startGateway, v2Line, type TestGateway, type TestOrganization } from '../support/gateway';
import { tries } from '../support/tries';
import { until } from '../support/until';

const DOORS = ['books by SQL', 'v2', 'GraphQL list', 'GraphQL pages', 'CSV', 'NDJSON', 'JSON', 'saved report', 'summary'];
const LINES = depositBook(700);
const EQUAL = 'Every door tells what the books tell.';

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

const environment = (): Record<string, string> => ({ DATABASE_URL: gateway.database.url, LOG_LEVEL: 'fatal' });

function words({ name, apiProvision }: Pick<TestOrganization, 'name' | 'apiProvision'>, ...options: string[]): string[] {
  const file = join(directory, apiProvision);
  writeFileSync(file, `${apiProvision}\n`, { mode: 0o600 });
  return ['parity', '--organization', name, '--from', '0001-01-01', '--to', '9999-12-31', '--provision-file', file, ...options];
}

const run = (...options: string[]): Promise<CommandResult> => runCommand(environment(), words(organization, '--url', proxy.url, ...options));

/** The rows of the tables that a run must leave as they were. The audit of a run stays. */
async function countRows(): Promise<unknown> {
  const tables = ['saved_report', 'session', 'provision', 'provision_key', 'data_version'];
  const { rows } = await gateway.database.client.query(
    `SELECT ${tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ')}`,
  );
  return rows[0];
}

describe('an operator who compares the doors', () => {
  let before: unknown;
  beforeEach(async () => (before = await countRows()));
  afterEach(async () => expect(await countRows()).toEqual(before));

  test('sees them equal, without and with pending deposits', async () => {
    const { status, stdout, stderr } = await runCommand(environment(), words(organization, '--url', gateway.url));
    expect([status, stderr]).toEqual([0, '']);
    const [without, pending, verdict] = stdout.split('\n\n');
    expect(verdict).toBe(`${EQUAL}\n`);
    for (const [table, title, lines] of [
      [without, 'Without pending deposits, data version 1', LINES.filter(({ deposit_status }) => deposit_status === 'posted').length],
      [pending, 'With pending deposits, data version 1', LINES.length],
    ] as const) {
      const [first, , ...rows] = table!.split('\n');
      expect(first).toBe(title);
      expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual(DOORS.map((door) => [door, String(lines)]));
      expect(rows.every((row) => row.endsWith('  yes'))).toBe(true);
    }
  });
});
