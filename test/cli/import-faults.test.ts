import { mkdir } from 'node:fs/promises';
import { runCommand } from '../support/command';
import { isDistributed } from '../support/database';
import { CSV_HEADER, openDepositFiles, toCsv, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { until } from '../support/until';

let files: DepositFiles;
let organization: string;

beforeAll(async () => {
  files = await openDepositFiles();
  organization = await files.createOrganization();
});
afterAll(() => files.close());

const NOTHING = { deposits: 0, transactions: 0, allocations: 0, designations: 0, donors: 0 };
/** Good lines, which must not be written beside a bad one. */
const good = v2Line();
const gift = (number: number, fields: object = {}) => v2Line({ transaction_id: `T${number}`, allocation_id: `A${number}`, ...fields });

async function expectRefusal(name: string, content: string | Buffer, lines: readonly string[]): Promise<void> {
  const result = await files.import(organization, name, content);
  expect(result).toEqual({ status: 1, stdout: '', stderr: lines.map((line) => `${line}\n`).join('') });
  expect(await files.countRows()).toEqual(NOTHING);
}

describe('an operator whose file has bad lines', () => {
  const TEXT_MONEY = 'must be an amount as text with two decimals, like "10.50"';
  const RANGE = 'is beyond the range of amounts, which is from -999999999999.99 to 999999999999.99';
  const UNSEEN = 'begins or ends with a blank or a character that nobody sees';
  const DATE = 'must be a calendar date YYYY-MM-DD';
  const NUMBER = 'must be a whole number from 0 to 9007199254740991, without leading zeros';
  const faults: Readonly<Record<string, readonly (readonly [object, string])[]>> = {
    ids: [
      [{ deposit_id: '' }, 'deposit_id must not be empty'],
      [{ transaction_id: 'x'.repeat(601) }, 'transaction_id is longer than 600 bytes of UTF-8'],
      [{ allocation_id: 900 }, 'allocation_id must be text'],
      [{ allocation_id: null }, 'allocation_id must be text'],
      [{ donor_id: '7' }, `donor_id ${NUMBER}`],
      [{ donor_id: -1 }, `donor_id ${NUMBER}`],
      [{ donor_id: 7.5 }, `donor_id ${NUMBER}`],
      [{ donor_id: 9007199254740992 }, `donor_id ${NUMBER}`],
      [{ designation_id: null }, `designation_id ${NUMBER}`],
      [
        { donor_id: 0, donor_first_name: '', donor_last_name: '', address1: '', zip: '', phone: '' },
        'city must be empty where donor_id is 0',
      ],
    ],
    'ids with what nobody sees at an end': [
      [{ deposit_id: 'D1 ' }, `deposit_id ${UNSEEN}`],
      [{ transaction_id: ' T1' }, `transaction_id ${UNSEEN}`],
      ...[
        'A1\u00a0',
        '\tA1',
        'A1\n',
        'A1\u200b',
        '\ufeffA1',
        'A1\u00ad',
        '\u2060A1',
        'A1\u3000',
        '\u200eA1',
        'A1\u3164',
        '\u0085A1',
        '\u2800',
      ].map((allocation_id) => [{ allocation_id }, `allocation_id ${UNSEEN}`] as const),
    ],
    'dates and texts': [
      [{ deposit_date: '2024-02-30' }, 'deposit_date is no day of the calendar'],
      [{ deposit_date: '2024-1-1' }, `deposit_date ${DATE}`],
      [{ deposit_date: '' }, `deposit_date ${DATE}`],
      [{ deposit_date: null }, `deposit_date ${DATE}`],
      [{ transaction_date: '0000-01-01' }, 'transaction_date is no day of the calendar'],
      [{ transaction_date: '2024-01-01T00:00:00Z' }, `transaction_date ${DATE}`],
      [{ transaction_date: 20240101 }, `transaction_date ${DATE}`],
      [{ transaction_date: undefined }, 'transaction_date is missing'],
      [{ city: undefined }, 'city is missing'],
      [{ state: null }, 'state must be text'],
      [{ zip: 12345 }, 'zip must be text'],
      [{ main_memo: 'a\0b' }, 'main_memo contains a NUL character'],
      [{ designation: '\ud83d' }, 'designation contains half of a surrogate pair'],
      [{ deposit_status: 'POSTED' }, 'deposit_status must be posted or pending'],
      [
        { deposit_status: 'posted', allocation_amount: '1.00', allocation_amount_inferred: true },
        'allocation_amount is said to be inferred, and is not the amount',
      ],
      [{ allocation_amount_inferred: 'yes' }, 'allocation_amount_inferred must be true or false'],
      [{ donor_title: 'Countess' }, 'donor_title is not a field of a deposit line'],
    ],
    amounts: [
      [{ amount: 10.5 }, `amount ${TEXT_MONEY}`],
      [{ amount: '10.5' }, `amount ${TEXT_MONEY}`],
      [{ amount: '' }, `amount ${TEXT_MONEY}`],
      [{ amount: '1e3' }, `amount ${TEXT_MONEY}`],
      [{ amount: 'NaN' }, `amount ${TEXT_MONEY}`],
      [{ amount: '1,000.00' }, `amount ${TEXT_MONEY}`],
      [{ amount: '+1.00' }, `amount ${TEXT_MONEY}`],
      [{ amount: ' 1.00' }, `amount ${TEXT_MONEY}`],
      [{ amount: '01.00' }, `amount ${TEXT_MONEY}`],
      [{ amount: '1000000000000.00' }, `amount ${RANGE}`],
      [{ amount: '1000000000000.0' }, `amount ${TEXT_MONEY}`],
      [{ fee_amount: '-1000000000000.00' }, `fee_amount ${RANGE}`],
      [{ allocation_amount: `${'9'.repeat(50)}.00` }, `allocation_amount ${RANGE}`],
      [{ fee_amount: '-0.00' }, `fee_amount ${TEXT_MONEY}`],
      [{ fee_amount: null }, `fee_amount ${TEXT_MONEY}`],
      [{ net_amount: 10 }, `net_amount ${TEXT_MONEY}`],
      [{ net_amount: '10.01' }, 'net_amount is not amount minus fee_amount, 10.00'],
      [{ net_amount: '10' }, 'net_amount is not amount minus fee_amount, 10.00'],
      [{ allocation_amount: '5' }, `allocation_amount ${TEXT_MONEY}`],
    ],
  };

  test.each(Object.keys(faults))('is told the field and the reason of each, and nothing is written: %s', async (kind) => {
    const cases = faults[kind]!;
    const lines = [good, ...cases.map(([fields], position) => gift(position, fields))];
    const expected = cases.map(([, fault], position) => `line ${position + 2}: ${fault}`);
    if (kind === 'ids') expected.push('line 11: email_address must be empty where donor_id is 0');
    await expectRefusal('lines.ndjson', toNdjson(lines), [...expected, `Nothing was imported: ${expected.length} faults`]);
  });

  test('is told the elements of a v2 answer that are no lines', async () => {
    await expectRefusal('answer.json', `{"response":[${JSON.stringify(good)},null,"x",7,[]]}`, [
      ...[2, 3, 4, 5].map((line) => `line ${line}: it must be an object with the fields of a deposit line`),
      'Nothing was imported: 4 faults',
    ]);
  });

  test('is told the records of a CSV file, counted in lines of text', async () => {
    const first = gift(1, { main_memo: 'over\r\nthree\nlines\rand so on', city: '\r\n' });
    const content = `${toCsv([first, gift(2, { donor_id: '9007199254740992' })])}\r\n${toCsv([
      gift(3, { amount: "'-5.00", designation_id: '' }),
      gift(4, { designation_id: '004' }),
    ]).slice(CSV_HEADER.length + 2)}`;
    await expectRefusal('lines.csv', content, [
      `line 6: donor_id ${NUMBER}`,
      `line 8: amount ${TEXT_MONEY}`,
      `line 8: designation_id ${NUMBER}`,
      `line 9: designation_id ${NUMBER}`,
      'Nothing was imported: 4 faults',
    ]);
  });

  test('is told the first twenty of many faults', async () => {
    const lines = Array.from({ length: 25 }, (_, position) => gift(position, { amount: 'much' }));
    await expectRefusal('lines.ndjson', toNdjson(lines), [
      ...lines.slice(0, 20).map((_, position) => `line ${position + 1}: amount ${TEXT_MONEY}`),
      'and 5 more',
      'Nothing was imported: 25 faults',
    ]);
  });

  test('gets the faults as JSON on request', async () => {
    const { status, stdout, stderr } = await files.import(organization, 'lines.ndjson', toNdjson([good, gift(2, { city: 5 })]), '--json');
    expect([status, stderr]).toEqual([1, '{"error":"Nothing was imported: 1 fault"}\n']);
    expect(JSON.parse(stdout)).toEqual({ imported: 0, faultCount: 1, faults: [{ line: 2, field: 'city', reason: 'must be text' }] });
    expect(await files.countRows()).toEqual(NOTHING);
  });
});

describe('an operator whose lines contradict each other', () => {
  test('is told every kind of contradiction, and nothing is written', async () => {
    const lines = [
      good,
      v2Line({ allocation_id: '1', amount: '20.50', net_amount: '20.00', status: 'Settled' }),
      gift(2, { allocation_id: 'P100' }),
      gift(3, { address1: 'Elsewhere', phone: '' }),
      gift(4, { designation: 'Other Fund' }),
      gift(5, { deposit_date: '2024-01-03' }),
      gift(6, { deposit_id: '2', deposit_status: 'posted' }),
      gift(7, { deposit_id: '2', deposit_status: 'pending' }),
      v2Line({ allocation_id: '8', deposit_id: '3', main_memo: 'other' }),
    ];
    await expectRefusal('lines.ndjson', toNdjson(lines), [
      'line 2: amount differs from line 1, which has the same transaction_id',
      'line 2: status differs from line 1, which has the same transaction_id',
      'line 3: allocation_id is the same as in line 1',
      'line 4: address1 differs from line 1, which has the same donor_id',
      'line 4: phone differs from line 1, which has the same donor_id',
      'line 5: designation differs from line 1, which has the same designation_id',
      'line 6: deposit_date differs from line 1, which has the same deposit_id',
      'line 8: deposit_status differs from line 7, which has the same deposit_id',
      'line 9: deposit_id differs from line 1, which has the same transaction_id',
      'line 9: main_memo differs from line 1, which has the same transaction_id',
      'Nothing was imported: 10 faults',
    ]);
  });

  test('is told the first twenty of many faults', async () => {
    const lines = [good, ...Array.from({ length: 25 }, (_, position) => v2Line({ allocation_id: `${position}`, status: `${position}` }))];
    await expectRefusal('lines.ndjson', toNdjson(lines), [
      ...lines.slice(1, 21).map((_, position) => `line ${position + 2}: status differs from line 1, which has the same transaction_id`),
      'and 5 more',
      'Nothing was imported: 25 faults',
    ]);
  });
});

describe('a file that is not what it says', () => {
  const line = JSON.stringify(good);
  const csv = toCsv([good]);
  const NOT_JSON = 'The file is not a v2 answer in JSON: ';
  const cut = (text: string): Buffer => Buffer.concat([Buffer.from(text), Buffer.from([0xc3])]);
  const cases: [string, string, string | Buffer, string][] = [
    [
      'a v2 answer cut between lines',
      'answer.json',
      `{"response":[${line},`,
      `${NOT_JSON}it breaks off at line 1, column ${line.length + 15}`,
    ],
    [
      'a v2 answer cut before its end',
      'answer.json',
      `{"response":[${line}]`,
      `${NOT_JSON}it breaks off at line 1, column ${line.length + 15}`,
    ],
    [
      'a v2 answer over several lines',
      'answer.json',
      `{"response":[\n${line},\n {"city": "\\x"}]}`,
      `${NOT_JSON}it is not JSON at line 3, column 13`,
    ],
    ['two v2 answers', 'answer.json', `{"response":[${line}]}{}`, `${NOT_JSON}it is not JSON at line 1, column ${line.length + 16}`],
    ['a v2 answer without response', 'answer.json', `{"lines":[${line}]}`, `${NOT_JSON}it has no array "response"`],
    [
      'a v2 answer with two responses',
      'answer.json',
      `{"response":[${line}],"response":[${line}]}`,
      `${NOT_JSON}it has two arrays "response"`,
    ],
    ['a response that is no array', 'answer.json', `{"response":${line}}`, `${NOT_JSON}"response" must be an array`],
    [
      'a v2 answer that ends within a character',
      'answer.json',
      cut(`{"response":[${line}]}`),
      'The file ends within a character of UTF-8, so it is not whole: a download may have been cut off',
    ],
    ['NDJSON with a broken line', 'lines.ndjson', `${line}\n\n${line.slice(1)}\n`, 'Line 3 is not JSON at column 13'],
    [
      'a CSV file with a wrong header',
      'lines.csv',
      csv.replace('address2,address3', 'city,adress3'),
      'Line 1, the header: address2 is missing, address3 is missing, adress3 is not a field of a deposit line, city stands twice',
    ],
    [
      'a CSV record cut short',
      'lines.csv',
      `${csv}"1","2"\r\n`,
      'The file is not valid CSV: line 3 must have 26 values, like the header, not 2',
    ],
    [
      'a CSV file with an open quote',
      'lines.csv',
      csv.slice(0, -3),
      'The file is not valid CSV: line 2 begins a record with a quote that has no end',
    ],
    ['a line without end', 'lines.ndjson', `{"city":"${'x'.repeat(1_100_000)}`, 'Line 1 is longer than 1000000 characters'],
  ];

  test.each(['lines.csv', 'lines.ndjson', 'answer.json'])(
    'is refused where nothing is in it, as its source has most likely failed: %s',
    async (name) => {
      const result = await files.import(organization, name, '');
      const hint = 'is empty: nothing was imported. A source without lines sends {"response":[]}, or CSV with its header';
      expect(result).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining(`${name} ${hint}\n`) as string });
    },
  );

  test.each(cases)('is refused in one line, and nothing is written: %s', async (_title, name, content, reason) => {
    await expectRefusal(name, content, [reason]);
  });

  test('is refused in one line when it has another format, is missing or is a directory', async () => {
    const directory = files.path('folder.csv');
    await mkdir(directory);
    const missing = files.path('missing.json');
    for (const [file, reason] of [
      ['lines.xlsx', 'lines.xlsx: the name of an import file ends in .json, .ndjson or .csv, or --format names its format'],
      [missing, `Cannot read ${missing}`],
      [directory, `${directory} is not a file`],
    ] as const) {
      const result = await runCommand(files.environment, ['import', file, '--organization', organization]);
      expect(result).toEqual({ status: 1, stdout: '', stderr: `${reason}\n` });
    }
  });
});

describe('an operator whose import cannot go on', () => {
  test('is told in one line that there is no such organization', async () => {
    const result = await files.import('Nobody', 'lines.ndjson', toNdjson([good]));
    expect(result).toEqual({ status: 1, stdout: '', stderr: 'There is no organization "Nobody"\n' });
  });

  test('is told in one line that the database ended the connection, and nothing is written', async () => {
    const { client } = files.database;
    await client.query('BEGIN');
    await client.query('LOCK TABLE allocation');
    const result = files.import(organization, 'lines.ndjson', toNdjson([good]));
    await until(async () => (await client.query(END_WAITING_CONNECTION)).rowCount === 1);
    await client.query('ROLLBACK');
    expect(await result).toEqual({
      status: 1,
      stdout: '',
      stderr: 'No connection to data source: terminating connection due to administrator command\n',
    });
    expect(await files.countRows()).toEqual(NOTHING);
  });
});

const END_WAITING_CONNECTION = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND relation = 'allocation'::regclass`;

/** On Citus a statement waits on the node of its rows, and this view tells of all nodes. */
const WAITING_INSERT = isDistributed
  ? 'SELECT FROM citus_lock_waits'
  : "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO deposit %'";

test('an operator whose file meets rows that other SQL writes meanwhile is told to run the import again', async () => {
  const { client } = files.database;
  const { rows: organizations } = await files.query<{ id: number }>('SELECT id FROM organization WHERE name = $1', [organization]);
  const { id } = organizations[0]!;
  await client.query('BEGIN');
  await client.query(`INSERT INTO deposit (organization_id, id, deposit_date, status) VALUES (${id}, '1', '2024-01-02', 'POSTED')`);
  const importing = files.import(organization, 'raced.ndjson', toNdjson([good]));
  await until(async () => (await files.query(WAITING_INSERT)).rows.length > 0);
  await client.query('COMMIT');
  expect(await importing).toEqual({
    status: 1,
    stdout: '',
    stderr: 'Nothing was imported: other SQL has changed the same rows meanwhile. Run the import again\n',
  });
  await client.query(`DELETE FROM deposit WHERE organization_id = ${id}`);
  expect(await files.countRows()).toEqual(NOTHING);
});
