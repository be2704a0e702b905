import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, type QueryResult, type QueryResultRow } from 'pg';
import { runCommand, succeed, type CommandResult, type Environment } from './command';
import { createTestDatabase, type TestDatabase } from './database';

/** The header of a CSV export, written out so that a test does not take it from the code. */
export const CSV_HEADER =
  'deposit_id,transaction_date,deposit_date,transaction_id,allocation_id,donor_id,donor_first_name,donor_last_name,address1,address2,address3,' +
  'city,state,zip,phone,email_address,amount,fee_amount,net_amount,status,account_type,payment_type,designation_id,designation,' +
  'designation_memo,main_memo';

/** The database of one test file, with the commands that import deposits into it and export them. */
export interface DepositFiles {
  readonly database: TestDatabase;
  readonly environment: Environment;
  query<Row extends QueryResultRow>(statement: string, values?: unknown[]): Promise<QueryResult<Row>>;
  /** The path for a new file of this name. */
  path(name: string): string;
  createOrganization(): Promise<string>;
  /** Imports a file of this name and content. */
  import(organization: string, name: string, content: string | Buffer, ...options: string[]): Promise<CommandResult>;
  /** Exports all deposits of the organization, pending ones too, in v2's fields or the chosen ones. */
  export(organization: string, format: 'json' | 'ndjson' | 'csv', columns?: string): Promise<string>;
  /** The lines of the organization's report straight from the database, which is quicker than an export. */
  lines(organization: string): Promise<object[]>;
  /** The number of rows in each of the five tables. */
  countRows(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

export async function openDepositFiles(): Promise<DepositFiles> {
  const database = await createTestDatabase();
  const pool = new Pool({ connectionString: database.url, max: 2 });
  // end() does not wait until the server has closed idle connections, so dropping the database may still break one.
  pool.on('error', () => undefined);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-files-'));
  const environment = { DATABASE_URL: database.url };
  const path = (name: string): string => join(directory, `${randomUUID()}-${name}`);
  return {
    database,
    environment,
    query: (statement, values) => pool.query(statement, values),
    path,
    createOrganization: async () => {
      const name = `Organization ${randomUUID()}`;
      await pool.query('INSERT INTO organization (name) VALUES ($1)', [name]);
      return name;
    },
    import: async (organization, name, content, ...options) => {
      const file = path(name);
      await writeFile(file, content);
      return runCommand(environment, ['import', file, '--organization', organization, ...options]);
    },
    export: (organization, format, columns = 'v2') =>
      succeed(environment, [
        ...['export', '--organization', organization, '--format', format, '--columns', columns],
        ...['--start', '0001-01-01', '--end', '9999-12-31', '--include-pending'],
      ]),
    lines: async (organization) => {
      const { rows } = await pool.query<{ line: object }>(LINES, [organization]);
      return rows.map(({ line }) => line);
    },
    countRows: async () => {
      const { rows } = await pool.query<Record<string, number>>(COUNT_ROWS);
      return rows[0]!;
    },
    close: async () => {
      rmSync(directory, { recursive: true });
      await pool.end();
      await database.drop();
    },
  };
}

const LINES = `SELECT jsonb_set(jsonb_set(jsonb_set(to_jsonb(d) - '{organization_id,deposit_status,allocation_amount,allocation_amount_inferred,allocation_known_amount,donor_search}'::text[],
    '{amount}', to_jsonb(amount::text)), '{fee_amount}', to_jsonb(fee_amount::text)), '{net_amount}', to_jsonb(net_amount::text)) AS line
  FROM deposit_detail d WHERE organization_id = (SELECT id FROM organization WHERE name = $1)
  ORDER BY deposit_date, deposit_id, transaction_id, allocation_id`;

const COUNT_ROWS = `SELECT (SELECT count(*)::int FROM deposit) AS deposits, (SELECT count(*)::int FROM transaction) AS transactions,
  (SELECT count(*)::int FROM allocation) AS allocations, (SELECT count(*)::int FROM designation) AS designations,
  (SELECT count(*)::int FROM donor) AS donors`;

/** A CSV file with a header and one record for each line, all values quoted. */
export function toCsv(lines: readonly Readonly<Record<string, unknown>>[], header = CSV_HEADER, lineEnd = '\r\n'): string {
  const records = lines.map((line) =>
    header
      .split(',')
      .map((field) => `"${(field in line ? String(line[field]) : '').replaceAll('"', '""')}"`)
      .join(','),
  );
  return [header, ...records, ''].join(lineEnd);
}

export const toNdjson = (lines: readonly unknown[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
