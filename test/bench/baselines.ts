import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { to as copyTo } from 'pg-copy-streams';
import { IS_CURRENT } from '../../src/data/books/line-columns';
import { LONG_SETTINGS, toStartupOptions } from '../../src/data/postgres/local-settings';
import { fields, type Contender, type Period } from './contenders';
import { connectTo, type BenchDatabase } from './database';
import type { Reading } from './http-client';
import { startProcess, stopProcess } from './processes';

/** Two ways to the same report: the view that joins the books, and the table of lines that the gateway reads. */
type Source = 'join' | 'lines';
const FROM: Readonly<Record<Source, string>> = {
  join: 'deposit_detail WHERE',
  lines: `deposit_line WHERE ${IS_CURRENT} AND`,
};

const select = (source: Source, organizationId: string, startDate: string, endDate: string): string =>
  `SELECT ${fields.join(', ')} FROM ${FROM[source]} organization_id = ${organizationId}
  AND deposit_date BETWEEN ${startDate} AND ${endDate} AND deposit_status = 'POSTED'
  ORDER BY deposit_date, deposit_id, transaction_id, allocation_id`.replace(/\s+/g, ' ');

const selectPeriod = (source: Source, { startDate, endDate }: Period, organizationId: number): string =>
  select(source, String(organizationId), `'${startDate}'`, `'${endDate}'`);

/** psql's \copy into nothing, in a session that stays: what the database and its own client need. */
function psql({ url, organization }: BenchDatabase, source: Source, { suffix = '', options = '' } = {}): Contender {
  return {
    name: `psql \\copy of the ${source}${suffix}`,
    connect: async () => {
      const env = { ...process.env, PGOPTIONS: options };
      const child = startProcess(() =>
        spawn('psql', ['--no-psqlrc', '--set', 'ON_ERROR_STOP=1', url], { env, stdio: ['pipe', 'pipe', 'inherit'] }),
      );
      const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const copy = async (period: Period): Promise<number> => {
        child.stdin.write(`\\copy (${selectPeriod(source, period, organization.id)}) TO '/dev/null'\n`);
        const answer = String((await answers.next()).value);
        const lines = /^COPY (\d+)$/.exec(answer)?.[1];
        if (lines === undefined) throw new Error(`psql answered ${answer}`);
        return Number(lines);
      };
      return {
        read: async (period) => {
          const startedAt = performance.now();
          await copy(period);
          return { wallMs: performance.now() - startedAt, firstByteMs: NaN, bytes: 0 };
        },
        check: copy,
        close: () => stopProcess(child),
      };
    },
  };
}

/** The same COPY through pg-copy-streams, on a connection that stays: it also tells when the database gave its first row. */
function copyStream({ url, organization }: BenchDatabase, source: Source): Contender {
  return {
    name: `COPY of the ${source}, pg-copy-streams`,
    connect: async () => {
      const client = await connectTo(url);
      const copy = async (period: Period): Promise<{ reading: Reading; lines: number }> => {
        const startedAt = performance.now();
        let firstByteMs = 0;
        let bytes = 0;
        const rows = client.query(copyTo(`COPY (${selectPeriod(source, period, organization.id)}) TO STDOUT`));
        for await (const piece of rows as AsyncIterable<Buffer>) {
          if (bytes === 0) firstByteMs = performance.now() - startedAt;
          bytes += piece.length;
        }
        return { reading: { wallMs: performance.now() - startedAt, firstByteMs, bytes }, lines: rows.rowCount };
      };
      return {
        read: async (period) => (await copy(period)).reading,
        check: async (period) => (await copy(period)).lines,
        close: () => client.end(),
      };
    },
  };
}

/** The report straight from the books, every value as its text. */
export async function readLines({ url, organization }: BenchDatabase, period: Period): Promise<string[][]> {
  const client = await connectTo(url);
  const asText = { getTypeParser: () => String };
  const { rows } = await client.query<string[]>({ text: selectPeriod('join', period, organization.id), rowMode: 'array', types: asText });
  await client.end();
  return rows;
}

/** pg's own query of the lines, into objects, without any server: what a day's report is measured by. */
function pgQuery({ url, organization }: BenchDatabase): Contender {
  const text = select('lines', '$1', '$2', '$3');
  return {
    name: 'pg query',
    connect: async () => {
      const client = await connectTo(url);
      const query = ({ startDate, endDate }: Period) => client.query(text, [organization.id, startDate, endDate]);
      return {
        read: async (period) => {
          const startedAt = performance.now();
          await query(period);
          return { wallMs: performance.now() - startedAt, firstByteMs: NaN, bytes: 0 };
        },
        check: async (period) => (await query(period)).rows.length,
        close: () => client.end(),
      };
    },
  };
}

/** What the database gives without any server. Without psql, the same COPY of the join through pg-copy-streams stands for it. */
export async function openBaselines(database: BenchDatabase): Promise<Contender[]> {
  const ofClient = (await hasPsql())
    ? [
        psql(database, 'join'),
        psql(database, 'lines'),
        // The limit that the gateway's reports themselves could reach.
        psql(database, 'lines', { suffix: ', report settings', options: toStartupOptions(LONG_SETTINGS) }),
      ]
    : [copyStream(database, 'join')];
  return [...ofClient, copyStream(database, 'lines'), pgQuery(database)];
}

/** True when psql, of Debian's postgresql-client, is installed. */
export function hasPsql(): Promise<boolean> {
  return new Promise((resolve) => {
    spawn('psql', ['--version'], { stdio: 'ignore' })
      .on('error', () => resolve(false))
      .on('exit', (status) => resolve(status === 0));
  });
}
