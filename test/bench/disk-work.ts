import { connectTo, type BenchDatabase } from './database';
import type { Result } from './results';

const BYTES_PER_MB = 2 ** 20;
/** The lines are the one table with partitions. */
const SIZES = `SELECT sum(pg_total_relation_size(oid))::float8 AS "all",
    sum(pg_total_relation_size(oid)) FILTER (WHERE NOT relispartition)::float8 AS books
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;

/** Measures the disk that the tables take with their indexes, with the lines and without. */
export async function measureDisk(work: string, { url }: BenchDatabase): Promise<Result[]> {
  const client = await connectTo(url);
  const { rows } = await client.query<{ all: number; books: number }>(SIZES);
  await client.end();
  const { all, books } = rows[0]!;
  return Object.entries({ 'books alone': books, 'books and lines': all }).map(([contender, bytes]) => ({
    ...{ work, contender, rounds: 1, medianMs: NaN, minMs: NaN },
    diskMb: bytes / BYTES_PER_MB,
  }));
}
