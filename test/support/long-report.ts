import type { Client } from 'pg';
import { repairLines } from './books';

export const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
/** The address of all lines that `fillReport` wrote. */
export const EVERYTHING = `${REPORT}?start_date=2020-01-01&end_date=2029-12-31`;

/** Writes lines of a thousand deposits, one a day from 2020-01-01 on. The database makes them itself; `memo` is SQL that may use the line's number n. */
export async function fillReport(client: Client, organizationId: number, lines: number, memo: string): Promise<void> {
  const run = (sql: string) => client.query(sql.replaceAll(':organization', `${organizationId}`).replaceAll(':lines', `${lines}`));
  await run(`INSERT INTO designation VALUES (:organization, 1, 'General Fund')`);
  await run(
    `INSERT INTO donor VALUES (:organization, 1, 'Ada', 'Lovelace', '12 St James Square', '', '', 'London', '', 'SW1Y', '555-0100', 'ada@example.org', '')`,
  );
  await run(`INSERT INTO deposit SELECT :organization, 'D' || n, date '2020-01-01' + n, 'POSTED' FROM generate_series(0, 999) n`);
  await run(`INSERT INTO transaction SELECT :organization, 'T' || n, 'D' || n % 1000, 1, '2020-01-01', n, 0, 'Complete', 'Checking', 'ACH', ${memo}
    FROM generate_series(1, :lines) n`);
  await run(`INSERT INTO allocation SELECT :organization, 'A' || n, 'T' || n, 1, NULL, '' FROM generate_series(1, :lines) n`);
  await repairLines(client, organizationId);
  await run('ANALYZE');
}

const ACTIVE = `datname = current_database() AND backend_type = 'client backend' AND state <> 'idle' AND query LIKE 'COPY%'`;

/** The number of reports that the database is reading. */
export async function activeReports(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM pg_stat_activity WHERE ${ACTIVE}`);
  return rows[0]!.count;
}

/** Ends the connections on which the database is reading a report. */
export async function breakReports(client: Client): Promise<void> {
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ACTIVE}`);
}
