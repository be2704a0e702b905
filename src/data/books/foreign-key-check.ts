import type { BookTransaction } from './book-transaction';

/**
 * Checks each foreign key of the tables for all rows of the organization. Throws when a key leads nowhere. The catalog names the keys, so
 * that a new one is checked too.
 */
export async function checkForeignKeys(books: BookTransaction, tables: readonly string[]): Promise<void> {
  const { rows: keys } = await books.query<{ name: string; statement: string }>(FOREIGN_KEYS, [tables]);
  for (const { name, statement } of keys) {
    const { rows } = await books.query<{ orphans: string }>(statement, [books.organizationId]);
    if (rows[0]!.orphans !== '0') throw new Error(`Rows that lead nowhere by the foreign key ${name}: ${rows[0]!.orphans}`);
  }
}

/** The foreign keys, each with the statement that counts the rows without the row that they name. PostgreSQL joins the tables by a hash. */
const FOREIGN_KEYS = `
SELECT conname AS name, format(
  'SELECT count(*) AS orphans FROM %s AS child WHERE child.organization_id = $1 AND %s AND NOT EXISTS (SELECT FROM %s AS parent WHERE %s)',
  conrelid::regclass, string_agg(format('child.%I IS NOT NULL', own.attname), ' AND '),
  confrelid::regclass, string_agg(format('parent.%I = child.%I', named.attname, own.attname), ' AND ')
) AS statement
FROM pg_constraint
CROSS JOIN unnest(conkey, confkey) AS key (own, named)
JOIN pg_attribute own ON own.attrelid = conrelid AND own.attnum = key.own
JOIN pg_attribute named ON named.attrelid = confrelid AND named.attnum = key.named
WHERE contype = 'f' AND conrelid = ANY ($1::regclass[])
GROUP BY conname, conrelid, confrelid ORDER BY conname`;
