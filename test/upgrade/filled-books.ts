import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeed } from '../support/command';
import { createTestDatabase } from '../support/database';
import { depositBook, type BookLine } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { login, PASSWORD, startGateway } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { until } from '../support/until';
import type { Fixture } from './fixture';
import { EXPORT, ORGANIZATION, REPORT_PATH, SAVED_QUERY, V2_REPORT } from './questions';

const GIFTS = 45;
/** Texts that files and JSON must escape, of a donor and of a fund. */
const DONOR = { id: 4, donor_last_name: '=O"Hara, \\Zoë\t+1' };
const FUND = { id: 2, designation: 'Café – "Rooms"' };
const SECRET = `whsec_${createHash('sha256').update('the webhook of a fixture').digest('base64')}`;

const withTexts = (line: BookLine): BookLine => ({
  ...line,
  ...(line.donor_id === DONOR.id && { donor_last_name: DONOR.donor_last_name }),
  ...(line.designation_id === FUND.id && { designation: FUND.designation }),
});
const changed = (line: BookLine): BookLine => ({ ...line, amount: '77.25', net_amount: '77.00', fee_amount: '0.25' });
const sharesOf = ({ allocation_amount: _share, ...line }: BookLine): BookLine => line;

/**
 * Fills a database with what a gateway keeps: lines in several states, a closed month with a late change, a reopened one, an erased donor,
 * users, provisions, a saved report, a webhook, files with receipts, usage and an audit. Writes its backup and a file that it exported.
 */
export async function fill({ directory, backup, provisionFile }: Fixture): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'fixture-'));
  const database = await createTestDatabase();
  const environment = { DATABASE_URL: database.url };
  const of = ['--organization', ORGANIZATION];
  const run = (words: readonly string[], input = ''): Promise<string> => succeed(environment, words, input);
  const importLines = (lines: readonly BookLine[], ...options: string[]): Promise<string> =>
    run(['import', '-', '--format', 'ndjson', ...of, ...options], toNdjson(lines));
  const book = depositBook(GIFTS).map(withTexts);
  const [day] = book.map(({ deposit_date }) => deposit_date);
  const later = book.filter(({ deposit_date }) => deposit_date !== day);
  const first = later.find(({ transaction_id }) => later.filter((line) => line.transaction_id === transaction_id).length === 1)!;
  try {
    for (const name of [ORGANIZATION, 'Empty Chapel']) await run(['organization', 'create', name]);
    await importLines(book, '--allow-mismatch');
    await importLines([changed(sharesOf(first))], '--allow-mismatch');
    await importLines(
      later,
      '--replace',
      '--from',
      '2024-01-01',
      '--to',
      '2024-12-31',
      '--pending',
      'with',
      '--allow-mismatch',
      '--max-removed',
      '50',
    );
    await run(['period', 'close', ...of, '--through', '2024-01-10', '--note', 'Booked']);
    await run(['period', 'close', ...of, '--through', '2024-01-20']);
    await run(['period', 'reopen', ...of, '--through', '2024-01-20', '--reason', 'A deposit was missing']);
    await importLines([changed(sharesOf(first))], '--late', 'accept');
    await run(['donor', 'erase', ...of, '--donor', '12', '--reason', 'Request 1']);
    const privileges = ['--grant', V2_REPORT];
    const provision = (await run(['provision', 'create', ...of, '--kind', 'api', '--label', 'nightly', ...privileges])).trim();
    await writeFile(provisionFile, `${provision}\n`);
    const web = (await run(['provision', 'create', ...of, '--kind', 'web'])).trim();
    await run(['user', 'create', ...of, '--username', 'ada', ...privileges], PASSWORD);
    await run(['user', 'create', ...of, '--username', 'bea'], PASSWORD);
    await run(['user', 'disable', ...of, '--username', 'bea']);
    const query = join(scratch, 'report.graphql');
    await writeFile(query, SAVED_QUERY);
    const dates = JSON.stringify({ startDate: '2024-01-01', endDate: '2024-01-15' });
    await run(['report', 'save', ...of, 'first-half', query, '--variables', dates, '--title', 'First half']);
    const gateway = await startGateway({}, { ...database, drop: () => Promise.resolve() });
    try {
      const headers = { Provision: provision, 'User-Agent': 'nightly' };
      await readAll(await ask(gateway.url + REPORT_PATH, { headers }));
      const answer = await ask(gateway.url + EXPORT.path, { headers });
      const file = await readAll(answer);
      await writeFile(join(directory, EXPORT.file), file.body);
      await login(gateway.url, web);
      await until(async () => (await run(['usage'])).includes('nightly'));
      const receipt = `${gateway.url}/export/receipts/${String(answer.headers['x-export-id'])}`;
      await until(async () => !(await readAll(await ask(receipt, { headers }))).body.includes('"outcome":null'));
    } finally {
      await gateway.stop();
    }
    const secret = join(scratch, 'secret');
    await writeFile(secret, `${SECRET}\n`, { mode: 0o600 });
    await run(['webhook', 'create', ...of, '--url', 'https://receiver.invalid/hook', '--secret-file', secret]);
    await run(['backup', backup]);
  } finally {
    await database.drop();
    await rm(scratch, { recursive: true });
  }
}
