import { Client } from 'pg';
import type { DatabaseAddress } from '../../src/data/postgres/database';
import { repairLines } from '../support/books';

/** The number of lines in all. They are spread evenly over the organizations and over four years. */
export interface DataSetSize {
  readonly lines: number;
  readonly organizations: number;
}

const FIRST_DAY = '2022-01-01';
const DAYS = 1461;
const DEPOSITS_PER_DAY = 4;
/** One gift in 20 is split in two, and one in 20 is split in three. */
const LINES_PER_TRANSACTION = 1.15;
const TRANSACTIONS_PER_DONOR = 15;
const DESIGNATIONS = 60;

/**
 * Fills a migrated, empty database: in the order in which such data arrives (day by day, the organizations in turn), with numbers that
 * grow as ids, the same in each of them; one deposit in 40 is pending, one gift in 16 nobody's.
 */
export async function fillDataSet(address: DatabaseAddress, { lines, organizations }: DataSetSize): Promise<void> {
  const transactions = Math.ceil(lines / organizations / LINES_PER_TRANSACTION);
  const deposits = DAYS * DEPOSITS_PER_DAY;
  const donors = Math.ceil(transactions / TRANSACTIONS_PER_DONOR);
  const client = new Client(address);
  await client.connect();
  try {
    // The rows fit together as they are made; checking every key would take most of the time.
    await client.query('SET session_replication_role = replica');
    await client.query(DESIGNATION, [organizations, DESIGNATIONS]);
    await client.query(DONOR, [organizations, donors]);
    await client.query(DEPOSIT, [organizations, deposits, FIRST_DAY, DEPOSITS_PER_DAY]);
    await client.query(TRANSACTION, [organizations, transactions, deposits, donors, FIRST_DAY, DEPOSITS_PER_DAY]);
    await client.query(ALLOCATION, [organizations, transactions, DESIGNATIONS]);
    await client.query('ANALYZE');
    for (let organization = 1; organization <= organizations; organization++) await repairLines(client, organization);
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

const DESIGNATION = `INSERT INTO designation
  SELECT o, n, (ARRAY['General Fund', 'Missions', 'Building Fund', 'Youth & Families', 'Disaster Relief – Español'])[1 + n % 5] || ' ' || n
  FROM generate_series(1, $1::int) o, generate_series(1, $2::int) n`;

const DONOR = `INSERT INTO donor
  SELECT o, n, (ARRAY['Ada', 'José', 'Mary Ann', 'Søren', 'William "Bill"', 'Chiara', 'George'])[1 + n % 7],
    (ARRAY['Lovelace', 'O''Brien', 'van der Berg', 'Fernández', 'Wright, Jr.', 'Nakamura'])[1 + n % 6],
    n % 4000 || ' ' || (ARRAY['Main Street', 'Elm Avenue', 'Church Road', 'Río Grande Boulevard'])[1 + n % 4],
    CASE n % 5 WHEN 0 THEN 'Apt #' || n % 90 ELSE '' END, '', (ARRAY['Springfield', 'Portland', 'San José', 'Boston'])[1 + n % 4],
    (ARRAY['IL', 'OR', 'CA', 'MA'])[1 + n % 4], lpad((n * 37 % 99999)::text, 5, '0'), '555-' || lpad((n % 10000)::text, 4, '0'),
    'donor' || n || '@example.org', ''
  FROM generate_series(1, $1::int) o, generate_series(1, $2::int) n`;

const DEPOSIT = `INSERT INTO deposit
  SELECT o, 10000 + n, $3::date + (n - 1) / $4::int, CASE n % 40 WHEN 0 THEN 'PENDING'::deposit_status ELSE 'POSTED' END
  FROM generate_series(1, $2::int) n, generate_series(1, $1::int) o ORDER BY n, o`;

const TRANSACTION = `INSERT INTO transaction
  SELECT o, 'P' || 10000000 + n * 3, 10000 + 1 + n * $3::bigint / ($2 + 1), CASE n % 16 WHEN 0 THEN NULL ELSE 1 + n * 31::bigint % $4 END,
    $5::date + (n * $3::bigint / ($2 + 1) / $6::int)::int - (n % 3)::int, 5 * (1 + n % 97), round((1 + n % 97) * 0.15, 2),
    CASE n % 9 WHEN 0 THEN 'Pending' ELSE 'Complete' END, (ARRAY['Checking', 'Savings', 'Credit Card'])[1 + n % 3],
    (ARRAY['ACH', 'Visa', 'Mastercard', 'Check'])[1 + n % 4], CASE n % 6 WHEN 0 THEN 'In memory of "Grandma" ' || n ELSE '' END
  FROM generate_series(1, $2::int) n, generate_series(1, $1::int) o ORDER BY n, o`;

const ALLOCATION = `INSERT INTO allocation
  SELECT o, 'P' || 30000000 + n * 5 + part, 'P' || 10000000 + n * 3, 1 + (n * 7 + part) % $3,
    CASE WHEN n % 10 = 0 THEN NULL ELSE 5 * (1 + n % 97) END, CASE n % 4 WHEN 0 THEN 'Week ' || n % 52 ELSE '' END
  FROM generate_series(1, $2::int) n, generate_series(1, CASE n % 20 WHEN 0 THEN 3 WHEN 10 THEN 2 ELSE 1 END) part, generate_series(1, $1::int) o
  ORDER BY n, o, part`;
