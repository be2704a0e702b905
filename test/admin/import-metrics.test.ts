import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, startCommand, succeed } from '../support/command';
import { toNdjson } from '../support/deposit-files';
import { createOrganization, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { readScrape } from '../support/scrape-reader';
import { until } from '../support/until';

const gateway = openGateway({ settings: { ADMIN_PORT: '0' } });
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'import-metrics-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Figures {
  readonly attempt: number;
  readonly success: number;
  readonly failures: number;
}

/** The figures of an organization's imports in a scrape that tells the database's state of now; undefined without any. */
async function readFigures({ id }: Pick<TestOrganization, 'id'>): Promise<Figures | undefined> {
  const { rows } = await gateway.database.client.query<{ now: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 AS now');
  // An organization of its own marks the state that a scrape must have.
  const marker = await createOrganization(gateway.services);
  await gateway.database.client.query('INSERT INTO import_attempt (organization_id, last_attempt_at) VALUES ($1, to_timestamp($2))', [
    marker.id,
    rows[0]!.now,
  ]);
  const values = async (name: string, organization: number): Promise<number | undefined> =>
    (await readScrape(gateway.adminUrl)).find((each) => each.name === name && each.labels.organization === `${organization}`)?.value;
  await until(async () => (await values('gateway_import_last_attempt_timestamp_seconds', marker.id)) !== undefined);
  const attempt = await values('gateway_import_last_attempt_timestamp_seconds', id);
  if (attempt === undefined) return undefined;
  return {
    attempt,
    success: (await values('gateway_import_last_success_timestamp_seconds', id))!,
    failures: (await values('gateway_import_failures_total', id))!,
  };
}

const wordsOf = ({ name }: TestOrganization, ...options: string[]): string[] => [
  ...['import', '-', '--format', 'ndjson', '--organization', name, ...options],
];
const environment = () => ({ DATABASE_URL: gateway.database.url });
const good = toNdjson([v2Line()]);

describe('an operator reads in the metrics', () => {
  test('nothing of an organization that has imported nothing, tried an import with --dry-run, or is the demo', async () => {
    const own = await createOrganization(gateway.services);
    await succeed(environment(), wordsOf(own, '--dry-run'), good);
    await runCommand(environment(), wordsOf(own, '--dry-run'), '{}');
    expect(await readFigures(own)).toBeUndefined();
    await gateway.services.demo.create(() => Promise.resolve());
    const [demo] = await gateway.services.organizations.list().then((all) => all.filter(({ name }) => name === 'Demo'));
    expect(await readFigures(demo!)).toBeUndefined();
  });

  test('that an import has succeeded, whether or not it changed the books', async () => {
    const own = await createOrganization(gateway.services);
    const figures: Figures[] = [];
    for (const _night of [1, 2]) {
      await succeed(environment(), wordsOf(own), good);
      figures.push((await readFigures(own))!);
    }
    const [first, second] = figures;
    expect(second!.attempt).toBeGreaterThan(first!.success);
    for (const { attempt, success, failures } of figures) expect([success >= attempt, failures]).toEqual([true, 0]);
    expect(await gateway.services.books.newestVersions(own.id, 9)).toHaveLength(1);
  });

  test('that imports have failed, for whatever reason, and when the last one succeeded', async () => {
    const own = await createOrganization(gateway.services);
    const fails = async (words: readonly string[], content: string): Promise<void> =>
      expect((await runCommand(environment(), words, content)).status).toBe(1);
    await fails(wordsOf(own), toNdjson([v2Line({ deposit_date: 'never' })]));
    const never = (await readFigures(own))!;
    expect(never).toEqual({ attempt: expect.any(Number) as number, success: 0, failures: 1 });
    await succeed(environment(), wordsOf(own), good);
    const { success } = (await readFigures(own))!;
    await fails(wordsOf(own), '');
    await fails(wordsOf(own, '--replace', '--from', '2024-01-01', '--to', '2024-01-31'), '\n');
    await fails(['import', join(directory, 'missing.csv'), '--organization', own.name], '');
    const figures = (await readFigures(own))!;
    expect(figures).toEqual({ attempt: expect.any(Number) as number, success, failures: 4 });
    expect(figures.attempt).toBeGreaterThan(success);
  });

  test('that an import was killed, by an attempt without a success, and nothing once the organization is deleted', async () => {
    const own = await createOrganization(gateway.services);
    await succeed(environment(), wordsOf(own), good);
    const before = (await readFigures(own))!;
    const child = startCommand(environment(), wordsOf(own));
    const closed = once(child, 'close');
    await until(async () => (await readFigures(own))!.attempt > before.attempt);
    child.kill('SIGKILL');
    await closed;
    const after = (await readFigures(own))!;
    expect([after.attempt > after.success, after.success, after.failures]).toEqual([true, before.success, 0]);
    await succeed(environment(), ['organization', 'delete', own.name, '--confirm', own.name]);
    expect(await readFigures(own)).toBeUndefined();
  });
});
