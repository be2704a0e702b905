import { hash } from 'node:crypto';
import type { Connection, PoolClient, QueryResultRow } from 'pg';
import type { Prisma } from '../../generated/prisma/client';

/** The number of statements that a connection keeps. Each takes some 100 kB of its backend, and callers can make up any number of them. */
const MAX_KEPT = 64;

/** The part of pg's connection that its types leave out: the texts of the statements that it keeps, by their names. */
type Keeping = Connection & { readonly parsedStatements: Readonly<Record<string, string>> };

/**
 * Runs a composed statement that the connection keeps. The statements of the books are long: parsing and planning one takes PostgreSQL
 * several times as long as running it. After five runs PostgreSQL decides whether one plan for all values is as good as one for each.
 */
export async function runPrepared<Row extends QueryResultRow>(client: PoolClient, { text, values }: Prisma.Sql): Promise<Row[]> {
  const { rows } = await client.query<Row>({ name: hash('sha256', text, 'base64url'), text, values });
  return rows;
}

/** True when a connection keeps as many statements as it may. The pool then replaces it by one that keeps none. */
export function keepsTooMany(client: PoolClient): boolean {
  const { connection } = client as PoolClient & { readonly connection: Keeping };
  return Object.keys(connection.parsedStatements).length >= MAX_KEPT;
}
