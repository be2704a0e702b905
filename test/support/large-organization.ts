import type { Client } from 'pg';
import { repairLines } from './books';

const DONORS = 40_000;
const GIFTS = 200_000;
/** The sum of all gifts, as the page writes it in English. */
export const RECEIVED = '20,000,100,000.00';

/**
 * Writes the books of a large organization: each donor gave five times in the two years from 2024-01-01 on, 1.00, 2.00 and so on, and every
 * tenth gift is split over two funds. The database makes them itself.
 */
export async function fillLargeBooks(client: Client, organizationId: number): Promise<void> {
  const run = (sql: string) => client.query(sql.replaceAll(':organization', `${organizationId}`));
  await run(`INSERT INTO designation VALUES (:organization, 1, 'General Fund'), (:organization, 2, 'Building Fund')`);
  await run(`INSERT INTO donor SELECT :organization, n, 'Ada ' || n % 200, 'Lovelace ' || n, n || ' St James Square', '', '', 'London', '', 'SW1Y',
    '555-0100', 'ada' || n || '@example.org', '' FROM generate_series(1, ${DONORS}) n`);
  await run(`INSERT INTO deposit SELECT :organization, 'D' || n, date '2024-01-01' + n, 'POSTED' FROM generate_series(0, 730) n`);
  await run(`INSERT INTO transaction SELECT :organization, 'T' || n, 'D' || n % 731, n % ${DONORS} + 1, date '2024-01-01' + n % 731, n, 0, 'Complete',
    'Checking', 'ACH', '' FROM generate_series(1, ${GIFTS}) n`);
  await run(`INSERT INTO allocation SELECT :organization, 'A' || n, 'T' || n, 1, CASE WHEN n % 10 = 0 THEN n - 0.25 END, ''
    FROM generate_series(1, ${GIFTS}) n`);
  await run(`INSERT INTO allocation SELECT :organization, 'B' || n, 'T' || n, 2, 0.25, '' FROM generate_series(10, ${GIFTS}, 10) n`);
  await run('ANALYZE');
  await repairLines(client, organizationId);
  await run('ANALYZE');
}
