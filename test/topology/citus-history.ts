import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Services } from '../../src/services';
import { runCommand, type Environment } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { send, type Finding } from '../trust/attack';

/** A gateway over the books, and the settings of commands on the same database. */
export interface Keeper {
  readonly url: string;
  readonly services: Services;
  readonly settings: Environment;
}

const EVER = 'start_date=0001-01-01&end_date=9999-12-31&include_pending=true';
const FILES = [
  `deposit-details.ndjson?${EVER}&columns=all,late`,
  ...[1, 2, 3, 4].map((version) => `deposit-details.ndjson?${EVER}&columns=all,late&as_of=${version}`),
  ...[1, 2, 3].map((from) => `deposit-changes.ndjson?${EVER}&from=${from}`),
  'deposit-changes.ndjson?since=2',
];

/** What changes between runs and databases: names, ids of receipts, times and places. */
const withoutOwn = (text: string, { name }: TestOrganization): string =>
  text
    .replaceAll(name, 'NAME')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z| UTC)?/g, 'TIME')
    .replaceAll(/"next":"[^"]*"/g, '"next"');

/** Closes a month, erases a donor, lets late gifts in, gives one to the erased donor, and proves files. Resolves to all that is told. */
async function live({ url, services, settings }: Keeper): Promise<readonly string[]> {
  const organization = await createOrganization(services);
  const told: string[] = [];
  const directory = await mkdtemp(join(tmpdir(), 'citus-history-'));
  const run = async (...words: string[]): Promise<void> => {
    const { status, stdout, stderr } = await runCommand(settings, [...words, '--organization', organization.name]);
    told.push(withoutOwn(`${words[0]!} ${words[1]!.slice(0, 8)}: ${status} ${stdout} ${stderr}`, organization).replaceAll(directory, ''));
  };
  const read = async (file: string): Promise<string> => {
    const { status, body } = await send(`${url}/export/${file}`, { headers: { Provision: organization.apiProvision } });
    told.push(withoutOwn(`${file}: ${status} ${body}`, organization));
    return body;
  };
  const lines = depositBook(60);
  const [first] = lines.filter(({ donor_id: id }) => id > 0);
  const other = lines.find(({ donor_id: id }) => id > 0 && id !== first!.donor_id)!;
  const changed = lines.map((line) =>
    line.transaction_id === other.transaction_id ? { ...line, donor_id: first!.donor_id, main_memo: 'late' } : line,
  );
  try {
    const [before, after] = ['before.ndjson', 'after.ndjson'].map((name) => join(directory, name));
    await writeFile(before!, toNdjson(lines));
    await writeFile(after!, toNdjson(changed));
    await run('import', before!, '--allow-mismatch');
    const proven = join(directory, 'proven.csv');
    await writeFile(proven, await read(`deposit-details.csv?${EVER}`));
    await run('period', 'close', '--through', '2024-12-31');
    await run('donor', 'erase', '--donor', String(first!.donor_id), '--reason', 'Asked');
    await run('import', after!, '--allow-mismatch', '--late', 'accept');
    for (const file of FILES) await read(file);
    await run('prove', proven);
    await run('check', '--json');
    return told;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Lives the same history on both, and compares all that is told. */
export async function compareHistory(one: Keeper, other: Keeper): Promise<Finding> {
  const [expected, found] = [await live(one), await live(other)];
  const differing = expected.flatMap((text, at) => (text === found[at] ? [] : `${text.slice(0, 200)} / ${found[at]?.slice(0, 200)}`));
  const refused = expected.filter((text) => text.startsWith('prove') && !text.includes('erased'));
  return {
    name: 'a month closed, a donor erased, late gifts, one of them given to that donor, and a file proven',
    figure: `${expected.length - differing.length} of ${expected.length} answers equal ${[...differing, ...refused].join(' ; ')}`,
    holds: differing.length === 0 && refused.length === 0,
  };
}
