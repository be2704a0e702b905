import { kindOfFileColumn, lineFileColumns } from '../../src/playground/web/files/file-columns';
import { writeFile } from '../../src/playground/web/files/file-writer';
import type { FileFormat } from '../../src/values/file-formats';
import type { Cell, TableColumn } from '../../src/playground/web/values/table-types';
import { v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway({
  lines: [
    v2Line({ donor_last_name: '=SUM(A1)', amount: '-5.00', fee_amount: '0.00', net_amount: '-5.00' }),
    v2Line({
      transaction_id: 'P11',
      allocation_id: 'P110',
      donor_id: 8,
      donor_last_name: 'O"Brien,\r\nWells',
      donor_first_name: '',
      allocation_amount: '10.50',
    }),
  ],
});

const kinds: Readonly<Record<string, TableColumn['kind']>> = {
  deposit_date: 'date',
  amount: 'money',
  fee_amount: 'money',
  net_amount: 'money',
  donor_id: 'count',
};

const fetchFile = async (format: FileFormat): Promise<string> => {
  const path = `/export/deposit-details.${format}?start_date=2024-01-01&end_date=2024-12-31&columns=v2`;
  const response = await fetch(gateway.url + path, { headers: { Provision: gateway.organization.apiProvision } });
  expect(response.status).toBe(200);
  return response.text();
};

test.each(['csv', 'ndjson', 'json'] as const)('the page writes the same %s file of rows as the gateway', async (format) => {
  const lines = (await fetchFile('ndjson'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, Cell>);
  expect(lines).toHaveLength(2);
  const columns = Object.keys(lines[0]!).map((id): TableColumn => ({ id, title: id, kind: kinds[id] ?? 'text', adds: false }));
  const file = await writeFile({ title: 'Lines', columns, rows: [lines.map((line) => Object.values(line))], facts: [] }, format);
  const byteOrderMark = format === 'csv' ? '\uFEFF' : '';
  // Blob.text() takes a byte order mark off.
  expect(Buffer.from(await file.arrayBuffer()).toString()).toBe(byteOrderMark + (await fetchFile(format)));
});

/** The first row of a file of the gateway. */
async function fetchFirstRow(path: string): Promise<Record<string, Cell>> {
  const response = await fetch(`${gateway.url}/export/${path}&start_date=2024-01-01&end_date=2024-12-31`, {
    headers: { Provision: gateway.organization.apiProvision },
  });
  expect(response.status).toBe(200);
  return JSON.parse((await response.text()).split('\n')[0]!) as Record<string, Cell>;
}

function kindOfValue(value: Cell): string {
  if (typeof value === 'number') return 'count';
  if (typeof value === 'boolean') return 'boolean';
  if (/^-?\d+\.\d\d$/.test(value ?? '')) return 'money';
  return /^\d{4}-\d\d-\d\d$/.test(value ?? '') ? 'date' : 'text';
}

test('the page knows the columns of the gateway’s files of lines, and what the values of every column are', async () => {
  for (const [choice, names] of Object.entries(lineFileColumns)) {
    expect(Object.keys(await fetchFirstRow(`deposit-details.ndjson?columns=${choice}`))).toEqual(names);
  }
  const lines = await fetchFirstRow('deposit-details.ndjson?columns=all');
  const groupings = ['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR', 'DEPOSIT', 'DEPOSIT_STATUS', 'DESIGNATION', 'STATUS', 'ACCOUNT_TYPE'];
  const rows = [
    lines,
    // A summary groups by few things at a time.
    ...(await Promise.all(
      [...groupings, 'PAYMENT_TYPE', 'DONOR', 'CITY', 'STATE'].map((by) =>
        fetchFirstRow(`deposit-summary.ndjson?columns=all&pending=WITH&group_by=${by}`),
      ),
    )),
  ];
  for (const row of rows) {
    const known = Object.entries(row).filter(([, value]) => value !== null);
    expect(known.map(([name]) => [name, kindOfFileColumn(name)])).toEqual(known.map(([name, value]) => [name, kindOfValue(value)]));
  }
});
