import { join } from 'node:path';
import { IS_CURRENT } from '../../src/data/books/line-columns';
import { startGateway } from './contenders';
import type { BenchDatabase } from './database';
import { makeDirectory } from './endings';
import { HttpClient, type HttpRequest } from './http-client';
import { importFile, selectNew, toColumns, writeFile } from './import-work';
import { measureRequests } from './request-work';
import type { Result } from './results';

const ALL = 'start_date=0001-01-01&end_date=9999-12-31&pending=WITH&totals=skip';
/** The imports of a part of the lines each, after which half of all lines have changed. */
const IMPORTS = 50;

/**
 * Measures the books as they were, and what changed: the lines of today against those of a state after which 5 % of them changed, and of
 * one 50 imports ago after which half of them did; and the changes of 1 % of the lines against reading all of them.
 */
export async function measureHistory(work: string, database: BenchDatabase, count: number, rounds: number): Promise<Result[]> {
  const directory = makeDirectory();
  const file = join(directory.path, 'lines.csv');
  const empty = await database.openEmpty();
  const client = new HttpClient();
  try {
    const lines = await writeFile(database, file, selectNew(count));
    await importFile(empty, file, { added: lines, changed: 0 });
    /** Changes the memo of each line whose id has one of some remainders by 100. */
    const change = async (from: number, to: number): Promise<void> => {
      const changed = await writeFile(empty, file, selectPart(from, to));
      await importFile(empty, file, { added: 0, changed });
    };
    await change(0, 4);
    const gateway = await startGateway(empty);
    const headers = { Provision: empty.organization.apiProvision };
    const ask = (path: string): HttpRequest => ({ url: `${gateway.url}/export/${path}&${ALL}`, headers });
    const measure = async (contenders: Readonly<Record<string, string>>): Promise<Result[]> =>
      measureRequests(
        { name: work, rounds, repeats: 3 },
        Object.entries(contenders).map(([name, path]) => ({ name, request: ask(path) })),
        [client],
      );
    try {
      const few = await measure({ [TODAY]: 'deposit-details.csv?', [FEW_CHANGED]: 'deposit-details.csv?as_of=1' });
      for (let part = 0; part < IMPORTS; part++) await change(5 + part, 5 + part);
      const many = await measure({
        [TODAY_LATER]: 'deposit-details.csv?',
        [MANY_CHANGED]: 'deposit-details.csv?as_of=2',
        [CHANGES]: `deposit-changes.csv?from=${IMPORTS + 1}&to=${IMPORTS + 2}`,
      });
      return [...few, ...many].map((result) => ({ ...result, lines }));
    } finally {
      await gateway.stop();
    }
  } finally {
    client.close();
    await empty.stop();
    await directory.remove();
  }
}

export const TODAY = 'today';
export const FEW_CHANGED = 'as of a state, 5 % changed since';
export const TODAY_LATER = 'today, after 50 imports';
export const MANY_CHANGED = '50 states ago, half changed since';
export const CHANGES = 'changes of 1 %';

const selectPart = (from: number, to: number): string =>
  `SELECT ${toColumns({ designation_memo: `designation_memo || ' corrected'` })} FROM deposit_line
    WHERE ${IS_CURRENT} AND abs(hashtext(allocation_id)) % 100 BETWEEN ${from} AND ${to}`;
