import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { addressIn, COUNTED_AGENT, inDirectory, openBackedUpGateway, reportOf } from '../support/backed-up-gateway';
import { listBackup, readBackup } from '../support/backup-files';
import { runCommand, startServe, succeed, type ServeProcess } from '../support/command';
import { openSession } from '../support/gateway';

const gateway = openBackedUpGateway();

const isLoggedIn = async ({ url }: ServeProcess): Promise<boolean> => {
  const headers = { Provision: gateway.webProvision, Authorization: `Bearer ${gateway.token}` };
  return (await fetch(`${url}/api/v2/authenticated_test_session`, { headers })).status === 200;
};
const COUNTS = `SELECT table_name AS name, (xpath('//count/text()', query_to_xml(format('SELECT count(*) FROM %I', table_name), true, true, '')))[1]::text AS rows
  FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name`;
const KEYS = `SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || convalidated AS key FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace ORDER BY 1`;
/** The tables whose rows a backup leaves out, or that a gateway writes while it serves. */
const PASSING = /^(session|link_key|spent_cost|login_attempt|known_address|audit_record|v2_usage)$/;

async function query<Row extends object>(connectionString: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** The counts of the requests to v2 that came before the backup. */
const usageIn = async (address: string): Promise<object[]> =>
  (JSON.parse(await succeed({ DATABASE_URL: address }, ['usage', '--json'])) as { userAgent: string }[]).filter(
    ({ userAgent }) => userAgent === COUNTED_AGENT,
  );

/** The number of rows of each table, and the keys between them. */
const contentOf = async (address: string): Promise<object[][]> => [
  (await query<{ name: string }>(address, COUNTS)).filter(({ name }) => !PASSING.test(name)),
  await query(address, KEYS),
];

test('an operator restores a backup of a gateway that serves, and callers get the same answers to the byte', async () => {
  const directory = join(gateway.root, 'copy');
  expect(await isLoggedIn(gateway.serve)).toBe(true);
  expect(await succeed(gateway.source, ['verify', gateway.backup])).toContain('restores to the database of ');
  const { stdout } = await runCommand(inDirectory(directory), ['--json', 'restore', gateway.backup]);
  expect((JSON.parse(stdout) as { organizations: object[] }).organizations).toMatchObject([
    { name: 'Church', dataVersion: 1 },
    { name: 'School', dataVersion: 1 },
    { name: 'Empty', dataVersion: 0, lines: 0, amount: '0.00' },
  ]);
  const copy = await startServe(inDirectory(directory));
  try {
    const report = await reportOf(copy, gateway);
    expect(report.length).toBeGreaterThan(10_000);
    expect(report).toBe(await reportOf(gateway.serve, gateway));
    expect([await isLoggedIn(gateway.serve), await isLoggedIn(copy)]).toEqual([true, false]);
    expect(await openSession(copy.url, gateway.webProvision)).not.toBe('');
    const own = { DATABASE_URL: await addressIn(directory) };
    const source = await addressIn(join(gateway.root, 'source'));
    expect(await contentOf(own.DATABASE_URL)).toEqual(await contentOf(source));
    const usage = await usageIn(own.DATABASE_URL);
    const { response: lines } = JSON.parse(report) as { response: object[] };
    expect(usage).toMatchObject([{ organization: 'Church', requests: 1, errors: 0, lines: lines.length }]);
    expect(usage).toEqual(await usageIn(source));
    expect(await succeed(own, ['organization', 'create', 'College'])).toBe('Created organization "College"\n');
    for (const name of ['Church', 'School', 'Empty']) {
      expect(await succeed(own, ['audit', 'verify', '--organization', name])).toContain('are as they were written');
    }
  } finally {
    await copy.end('SIGTERM');
  }
});

test('an operator finds all tables in a backup but those of open sessions and links, and no other account reads it', async () => {
  const names = (await listBackup(gateway.backup)).map((name) => name.split('/')[1] ?? name);
  expect([names[0], names.at(-1)]).toEqual(['manifest.json', 'SHA256SUMS']);
  const entries = await readBackup(gateway.backup);
  const manifest = JSON.parse(entries[0]!.content.toString()) as { tables: { name: string }[] };
  const present = await query<{ name: string }>(await addressIn(join(gateway.root, 'source')), COUNTS);
  const passing = /^(_prisma_migrations|session|link_key|spent_cost|deposit_line_(current|past))$/;
  expect(manifest.tables.map(({ name }) => name)).toEqual(present.map(({ name }) => name).filter((name) => !passing.test(name)));
  expect(((await stat(gateway.backup)).mode & 0o777).toString(8)).toBe('600');
  const extracted = mkdtempSync(join(gateway.root, 'extracted-'));
  await promisify(execFile)('sh', ['-c', `cd ${extracted} && tar xzf ${gateway.backup} && sha256sum --check --quiet SHA256SUMS`]);
});
