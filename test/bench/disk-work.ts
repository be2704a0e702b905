import { connectTo, type BenchDatabase } from './database';
import type { Result } from './results';

const BYTES_PER_MB = 2 ** 20;
/** What the books took for each line while reports joined them, with the indexes of that join: 1,117 MB for 2 million lines. */
const JOINED_BYTES_PER_LINE = (1117 * BYTES_PER_MB) / 2_000_000;
/** The lines are the one table with partitions. The rows of the audit are those of the benchmark's own requests, and count for nothing. */
const SIZES = `SELECT sum(pg_total_relation_size(oid))::float8 AS "all",
    sum(pg_total_relation_size(oid)) FILTER (WHERE NOT relispartition)::float8 AS books
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'audit_record'`;

/** Measures the disk that the tables take with their indexes, with the lines and without, and tells what books alone took once. */
export async function measureDisk(work: string, { url }: BenchDatabase, lines: number): Promise<Result[]> {
  const client = await connectTo(url);
  const { rows } = await client.query<{ all: number; books: number }>(SIZES);
  await client.end();
  const { all, books } = rows[0]!;
  const joined = lines * JOINED_BYTES_PER_LINE;
  return Object.entries({ 'books for the join': joined, 'books alone': books, 'books and lines': all }).map(([contender, bytes]) => ({
    ...{ work, contender, rounds: 1, medianMs: NaN, minMs: NaN },
    diskMb: bytes / BYTES_PER_MB,
  }));
}
