import { Client } from 'pg';
import { REPORT_PRIVILEGE } from '../../src/domain/privileges';
import { v2Names } from '../../src/line/line-fields';
import { done, runCommand } from '../support/command';
import { createEarlierDatabase, type EarlierDatabase } from '../support/earlier-database';
import { importLines, v2Line, withGateway } from '../support/gateway';
import { testOnOneNode } from '../support/limited-tests';

let database: EarlierDatabase;

beforeAll(async () => {
  database = await createEarlierDatabase('20261122090000_deposit_lines');
});
afterAll(() => database.drop());

/** Two organizations with the same ids and other amounts, one with funds and donors alone, and one without anything. */
const FILL = `
INSERT INTO organization (name) VALUES ('Hope'), ('Faith'), ('Love'), ('Peace');
INSERT INTO designation (organization_id, id, name)
SELECT o, id, 'Fund "' || id || '"' FROM generate_series(1, 3) AS o, generate_series(0, 20) AS id;
INSERT INTO donor (organization_id, id, first_name, last_name, city, email)
SELECT o, id, CASE WHEN id % 3 = 0 THEN 'Ève' ELSE 'Ada' END, 'O´Müller ' || id || repeat('x', id % 50), 'Zürich', CASE WHEN id % 4 = 0 THEN '' ELSE id || '@x.org' END
FROM generate_series(1, 3) AS o, generate_series(1, 90) AS id;
INSERT INTO deposit (organization_id, id, deposit_date, status)
SELECT o, 'D' || id, '2024-01-01'::date + id, (CASE WHEN id % 5 = 0 THEN 'PENDING' ELSE 'POSTED' END)::deposit_status
FROM generate_series(1, 2) AS o, generate_series(1, 120) AS id;
INSERT INTO transaction (organization_id, id, deposit_id, donor_id, transaction_date, amount, fee_amount, main_memo)
SELECT o, 'T' || id, 'D' || (1 + id % 117), NULLIF(id % 91, 0), '2024-01-01'::date + id % 100, o + (id % 1000 - 300) / 7.0, (id % 3) / 3.0,
  CASE WHEN id % 9 = 0 THEN E'a\\tb\\n"é\\\\' ELSE '' END
FROM generate_series(1, 2) AS o, generate_series(1, 900) AS id;
INSERT INTO allocation (organization_id, id, transaction_id, designation_id, amount, memo)
SELECT o, 'A' || id, 'T' || (1 + id % 870), id % 21, CASE WHEN id % 4 = 0 THEN id / 3.0 END, CASE WHEN id % 7 = 0 THEN 'memo' ELSE '' END
FROM generate_series(1, 2) AS o, generate_series(1, 1200) AS id`;
const ORDER = 'organization_id, deposit_date, deposit_id, transaction_id, allocation_id';

/** The v2 fields of all lines, and what else a line says, as text. */
async function readLines(client: Client, table: string): Promise<Record<string, string | null>[]> {
  const columns = ['organization_id', ...v2Names, 'deposit_status', 'allocation_amount', 'allocation_amount_inferred'];
  const texts = columns.map((column) => `${column}::text`).join(', ');
  return (await client.query<Record<string, string | null>>(`SELECT ${texts} FROM ${table} ORDER BY ${ORDER}`)).rows;
}

testOnOneNode('an operator updates a filled database of an earlier release, and every line stays as it was', async () => {
  const { client, url, missing } = database;
  await client.query(FILL);
  const before = await readLines(client, 'deposit_detail');
  expect(before).toHaveLength(2400);
  expect(await runCommand({ DATABASE_URL: url }, ['migrate', '--json'])).toEqual(done(JSON.stringify({ applied: missing })));
  expect(await readLines(client, 'deposit_line')).toEqual(before);
  expect(await readLines(client, 'deposit_detail')).toEqual(before);

  await withGateway({ DATABASE_URL: url }, async ({ url: address, services }) => {
    for (const [index, organization] of ['Hope', 'Faith', 'Love', 'Peace'].entries()) {
      const id = index + 1;
      const Provision = await services.provisions.create({ organization, kind: 'API', label: '', grants: [REPORT_PRIVILEGE] });
      const query = 'start_date=2024-01-01&end_date=2024-12-31&include_pending=true';
      const answer = await fetch(`${address}/api/v2/${REPORT_PRIVILEGE}?${query}`, { headers: { Provision } });
      const { response } = (await answer.json()) as { response: Record<string, string | number>[] };
      const texts = response.map((line) => v2Names.map((field) => String(line[field])));
      expect(texts).toEqual(
        before.filter((line) => line.organization_id === String(id)).map((line) => v2Names.map((field) => line[field])),
      );
      const sound = { differences: 0, versionsAreWhole: true, totalsAgree: true, unsearchableDonors: 0 };
      expect(await services.books.check(id)).toMatchObject({ ...sound, lines: texts.length });
    }
    // Imports go on from the version that the update has made.
    const line = v2Line({ transaction_id: 'T5', deposit_id: 'D6', allocation_id: 'A4', donor_id: 5 });
    const [newest] = await services.books.newestVersions(1, 1);
    expect((await importLines(services, { id: 1 }, [line])).version).toMatchObject({ number: newest!.number + 1 });
    expect(await services.books.check(1)).toMatchObject({ differences: 0, totalsAgree: true });
  });
});
