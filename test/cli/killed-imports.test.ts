import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runCommand, runProcess, startCommand } from '../support/command';
import { toNdjson } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

/** Imports that the suite kills: every second one while the database writes, and the others at any moment. `KILLED_IMPORTS=20` kills more. */
const KILLS = Number(process.env.KILLED_IMPORTS ?? 1);
const LINES = 1000;

const gateway = openGateway();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'killed-imports-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** Lines of which every file has other memos, leaves some out and brings some. */
const linesOf = (file: number): object[] =>
  Array.from({ length: LINES }, (_, index) => {
    const id = String(index + 10 * file);
    return v2Line({ deposit_id: `${index >> 5}`, transaction_id: id, allocation_id: id, main_memo: `of file ${file}` });
  });

/** The version of the books, and a checksum of the lines. */
async function stateOf(organizationId: number): Promise<{ version: number; lines: string }> {
  const { rows } = await gateway.database.client.query<{ version: number; lines: string }>(
    `SELECT (SELECT COALESCE(max(number), 0)::int FROM data_version WHERE organization_id = $1) AS version,
       (SELECT count(*) || ' ' || COALESCE(md5(string_agg(to_jsonb(l)::text, '' ORDER BY allocation_id)), '')
        FROM deposit_line l WHERE organization_id = $1 AND until = $2) AS lines`,
    [organizationId, Number.MAX_SAFE_INTEGER],
  );
  return rows[0]!;
}

/** True while another session of the database runs a statement or is within a transaction. */
const isBusy = async (condition = ''): Promise<boolean> => {
  const { rows } = await gateway.database.client.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()
       AND backend_type = 'client backend' ${condition}`,
  );
  return rows.length > 0;
};
const isWriting = (): Promise<boolean> => isBusy('AND backend_xid IS NOT NULL');

test('an import that is killed at any moment has been made, or has not', async () => {
  const { organization } = gateway;
  const environment = { DATABASE_URL: gateway.database.url };
  const wordsOf = async (file: number): Promise<string[]> => {
    const path = join(directory, `${file}.ndjson`);
    await writeFile(path, toNdjson(linesOf(file)));
    return ['import', path, '--organization', organization.name, '--replace', '--from', '2024-01-02', '--to', '2024-01-02'];
  };
  const begun = performance.now();
  expect(await runProcess(environment, await wordsOf(0))).toMatchObject({ status: 0 });
  const durationMs = performance.now() - begun;

  for (let file = 1; file <= KILLS; file++) {
    const before = await stateOf(organization.id);
    const child = startCommand(environment, await wordsOf(file), 'ignore');
    const closed = once(child, 'close');
    await Promise.race([closed, file % 2 === 1 ? until(isWriting) : setTimeout(Math.random() * durationMs)]);
    child.kill('SIGKILL');
    const [, signal] = (await closed) as [number | null, string | null];
    // The first one is killed while it writes.
    if (file === 1) expect(signal).toBe('SIGKILL');
    // The database notices some time later that the process is gone.
    await until(async () => !(await isBusy()));
    const after = await stateOf(organization.id);
    if (after.version === before.version) expect(after).toEqual(before);
    else expect(after.version).toBe(before.version + 1);
    expect(await gateway.services.books.check(organization.id)).toMatchObject({
      differences: 0,
      versionsAreWhole: true,
      totalsAgree: true,
    });
    expect(await runCommand(environment, await wordsOf(file))).toMatchObject({ status: 0 });
    expect((await stateOf(organization.id)).version).toBe(before.version + 1);
  }
});
