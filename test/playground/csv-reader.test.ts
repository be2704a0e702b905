import { CsvReader } from '../../src/playground/web/files/csv-reader';
import { lineFields, lineNames } from '../../src/line/line-fields';
import type { Cell } from '../../src/playground/web/values/table-types';
import { v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const TEXTS = [
  '=SUM(A1)',
  "'=SUM(A1)",
  "''",
  '"',
  '""',
  '","',
  'a"',
  'O"Brien,\r\nWells',
  '\r',
  '\n',
  'true',
  '12',
  '',
  ' ',
  'Zoë 🎁',
  'null',
];
const TEXT_COLUMNS = lineNames.filter((name) => ['text', 'name', 'code'].includes(lineFields[name].type));
const gateway = openGateway({
  lines: TEXTS.map((text, n) =>
    v2Line({
      ...Object.fromEntries(TEXT_COLUMNS.map((name) => [name, text])),
      ...{ transaction_id: `T${n}`, allocation_id: `A${n}`, donor_id: n + 1, designation_id: n + 1 },
      ...(n % 2 === 0 && { allocation_amount: undefined }),
    }),
  ),
});

async function fetchFile(path: string): Promise<string> {
  const response = await fetch(`${gateway.url}/export/${path}`, { headers: { Provision: gateway.organization.apiProvision } });
  expect(response.status).toBe(200);
  return response.text();
}

function readCsv(text: string, pieceLength: number): readonly Cell[][] {
  const records: Cell[][] = [];
  const reader = new CsvReader((record) => records.push([...record]));
  for (let at = 0; at < text.length; at += pieceLength) reader.add(text.slice(at, at + pieceLength));
  return records;
}

test.each([
  ['lines', 'deposit-details', 'columns=all'],
  ['groups', 'deposit-summary', 'group_by=DONOR&group_by=DESIGNATION&columns=all'],
])('the page reads the same cells of %s from CSV as there are in NDJSON, however the text is cut', async (_name, file, choices) => {
  const query = `start_date=2024-01-01&end_date=2024-12-31&${choices}`;
  const [csv, ndjson] = [await fetchFile(`${file}.csv?${query}`), await fetchFile(`${file}.ndjson?${query}`)];
  const rows = ndjson
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, Cell>);
  const expected = [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))];
  expect(rows).toHaveLength(TEXTS.length);
  for (const length of [1, 2, 3, 7, 64, csv.length]) expect(readCsv(csv, length)).toEqual(expected);
});
