import { writeFile } from '../../src/playground/web/files/file-writer';
import type { FileFormat } from '../../src/playground/web/files/file-format';
import type { Cell, TableColumn } from '../../src/playground/web/tables/table-types';
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
