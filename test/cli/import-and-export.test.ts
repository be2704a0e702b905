import fc from 'fast-check';
import { bookLines, reportLines } from '../support/any-lines';
import { CSV_HEADER, openDepositFiles, toCsv, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

/** A v2 answer in report order, as the legacy service might send it. The export returns every character of it. */
const ANSWER = [
  String.raw`{"response":[`,
  // The donor with the largest id splits a gift over two designations.
  String.raw`{"deposit_id":"10","transaction_date":"2023-12-31","deposit_date":"2024-01-02","transaction_id":"P500","allocation_id":"P900",`,
  String.raw`"donor_id":9007199254740991,"donor_first_name":"Ada \"Countess\"","donor_last_name":"O'Lovelace","address1":"12 St James Square",`,
  String.raw`"address2":"Apt #3","address3":"c\\o \\Nobody\\","city":"London","state":"","zip":"SW1Y 4JH","phone":"+44 20 555-0100",`,
  String.raw`"email_address":"ada@example.org","amount":"100.00","fee_amount":"2.50","net_amount":"97.50","status":"Complete",`,
  String.raw`"account_type":"Checking","payment_type":"ACH","designation_id":3,"designation":"General Fund","designation_memo":"half","main_memo":"\\."},`,
  String.raw`{"deposit_id":"10","transaction_date":"2023-12-31","deposit_date":"2024-01-02","transaction_id":"P500","allocation_id":"P901",`,
  String.raw`"donor_id":9007199254740991,"donor_first_name":"Ada \"Countess\"","donor_last_name":"O'Lovelace","address1":"12 St James Square",`,
  String.raw`"address2":"Apt #3","address3":"c\\o \\Nobody\\","city":"London","state":"","zip":"SW1Y 4JH","phone":"+44 20 555-0100",`,
  String.raw`"email_address":"ada@example.org","amount":"100.00","fee_amount":"2.50","net_amount":"97.50","status":"Complete",`,
  String.raw`"account_type":"Checking","payment_type":"ACH","designation_id":0,"designation":"","designation_memo":"","main_memo":"\\."},`,
  // A gift that was taken back, without donor and texts.
  String.raw`{"deposit_id":"10","transaction_date":"2024-01-01","deposit_date":"2024-01-02","transaction_id":"p1","allocation_id":"-7",`,
  String.raw`"donor_id":0,"donor_first_name":"","donor_last_name":"","address1":"","address2":"","address3":"","city":"","state":"","zip":"","phone":"",`,
  String.raw`"email_address":"","amount":"-5.00","fee_amount":"-0.25","net_amount":"-4.75","status":"","account_type":"","payment_type":"",`,
  String.raw`"designation_id":9007199254740991,"designation":"Größe 🌻 ${'\u2028'}","designation_memo":"","main_memo":""},`,
  // "9" comes after "10" bytewise. The texts look like values of the formats.
  String.raw`{"deposit_id":"9","transaction_date":"0001-01-01","deposit_date":"2024-01-02","transaction_id":"00","allocation_id":"000000001",`,
  String.raw`"donor_id":1,"donor_first_name":"\t\n\r\b\f\u000b\u0001\u001f${'\u007f\u0080\u2029\ufeff\uffff'}","donor_last_name":"a\n\\.\nb","address1":"\\N","address2":"NULL",`,
  String.raw`"address3":"null","city":" \t","state":"\r\n\r\n","zip":"'=1+1","phone":"''","email_address":"\"","amount":"999999999999.99",`,
  String.raw`"fee_amount":"-999999999999.99","net_amount":"1999999999999.98","status":"a,b;c","account_type":"\"\"","payment_type":"\\\"",`,
  String.raw`"designation_id":3,"designation":"General Fund","designation_memo":"=cmd|'/c calc'!A0","main_memo":"\u0001\u0002\\u0003"}]}`,
].join('');

describe('a v2 answer', () => {
  test('is exported as it was imported, byte for byte', async () => {
    const organization = await files.createOrganization();
    const result = await files.import(organization, 'answer.json', ANSWER);
    expect(result).toEqual({
      status: 0,
      stdout:
        'Imported 4 lines; new or changed: 2 deposits, 3 transactions, 4 allocations, 3 designations, 2 donors\n' +
        'The books are at data version 1: 4 lines added, 0 changed, 0 removed\n' +
        'The file does not say whether its deposits are posted or pending: 2 deposits taken for posted; --status says it\n',
      stderr: '',
    });
    expect(await files.export(organization, 'json')).toBe(ANSWER);
  });

  test('is the same after a way through every format', async () => {
    const [first, second, third] = [await files.createOrganization(), await files.createOrganization(), await files.createOrganization()];
    await files.import(first, 'lines.json', ANSWER);
    await files.import(second, 'lines.csv', await files.export(first, 'csv'));
    await files.import(third, 'lines.ndjson', await files.export(second, 'ndjson'));
    expect(await files.export(third, 'json')).toBe(ANSWER);
  });

  test('is the same after a way through a spreadsheet’s format, whatever its lines say', async () => {
    const property = fc.asyncProperty(reportLines, async (lines) => {
      const answer = JSON.stringify({ response: lines });
      const [first, second] = [await files.createOrganization(), await files.createOrganization()];
      await files.import(first, 'lines.json', answer);
      await files.import(second, 'lines.csv', await files.export(first, 'csv'));
      expect(await files.export(second, 'json')).toBe(answer);
    });
    await fc.assert(property, { numRuns: 1, endOnFailure: true });
  });
});

describe('a file with all columns', () => {
  /** The shares in any file of these lines: known ones as they are, and for a gift's only allocation the gift's amount. */
  const withShares = (lines: readonly Record<string, unknown>[]) =>
    lines.map((line) => {
      const isInferred =
        line.allocation_amount === null && lines.filter((each) => each.transaction_id === line.transaction_id).length === 1;
      const share = isInferred ? line.amount : line.allocation_amount;
      return { ...line, allocation_amount: share, allocation_amount_inferred: share === null ? null : isInferred };
    });

  test('is the same after a way through another organization, pending money and unknown shares in it', async () => {
    const property = fc.asyncProperty(bookLines, async (lines) => {
      const book = await files.createOrganization();
      await files.import(book, 'book.ndjson', toNdjson(lines), '--allow-mismatch');
      const [json, ndjson, csv] = [
        await files.export(book, 'json', 'all'),
        await files.export(book, 'ndjson', 'all'),
        await files.export(book, 'csv', 'all'),
      ];
      expect(json).toBe(JSON.stringify({ response: withShares(lines) }));
      for (const [format, content] of [
        ['json', json],
        ['ndjson', ndjson],
        ['csv', csv],
      ] as const) {
        const other = await files.createOrganization();
        expect(await files.import(other, `all.${format}`, content, '--allow-mismatch')).toMatchObject({ status: 0, stderr: '' });
        expect(await files.export(other, format, 'all')).toBe(content);
      }
    });
    await fc.assert(property, { numRuns: 2, endOnFailure: true });
  });

  test('may leave open what is not known, as null or as nothing', async () => {
    const line = v2Line({ allocation_amount: null, deposit_status: null, allocation_amount_inferred: null });
    const all = `${CSV_HEADER},deposit_status,allocation_amount,allocation_amount_inferred`;
    const empty = { ...line, allocation_amount: '', deposit_status: '', allocation_amount_inferred: '' };
    for (const [name, content] of [
      ['null.ndjson', toNdjson([line, { ...line, allocation_id: 'P101' }])],
      ['empty.csv', toCsv([empty, { ...empty, allocation_id: 'P101' }], all)],
    ] as const) {
      const organization = await files.createOrganization();
      expect(await files.import(organization, name, content)).toMatchObject({ status: 0, stderr: '' });
      expect(await files.export(organization, 'csv', 'allocation_id,deposit_status,allocation_amount,allocation_amount_inferred')).toBe(
        'allocation_id,deposit_status,allocation_amount,allocation_amount_inferred\r\n"P100","posted",,\r\n"P101","posted",,\r\n',
      );
    }
  });
});

describe('an operator who imports', () => {
  const gift = v2Line({ amount: '100.00', fee_amount: '2.00', net_amount: '98.00' });
  const lines = [gift, { ...gift, allocation_id: 'P101', designation_id: 4, designation: 'Missions' }];
  const UNCHANGED = { lines: 2, deposits: 0, transactions: 0, allocations: 0, designations: 0, donors: 0, version: null };
  const counts = { lines: 2, deposits: 1, transactions: 1, allocations: 2, designations: 2, donors: 1 };
  /** The rest of the result of an import that removes nothing. */
  const assumed = (posted: number, kept: number) => ({
    ...{ assumed: { posted, kept, settled: 0 }, removed: { allocations: 0, transactions: 0, deposits: 0 } },
    ...{
      correctedShares: { gifts: 0, count: 0, first: [] },
      mismatches: { count: 0, first: [] },
      preview: null,
      late: null,
      erasedAgain: { lines: 0, donors: 0, states: 0 },
      refusal: null,
    },
  });

  test('the same file twice changes nothing', async () => {
    const organization = await files.createOrganization();
    const versions = async () => (await files.query<object>(ROW_VERSIONS, [organization])).rows;
    const first = await files.import(organization, 'lines.ndjson', toNdjson(lines), '--json');
    expect({ ...first, stdout: JSON.parse(first.stdout) as unknown }).toEqual({
      status: 0,
      stdout: { ...counts, ...assumed(1, 0), version: { number: 1, lines: { added: 2, changed: 0, removed: 0 } } },
      stderr: '',
    });
    const before = await versions();
    expect(before).toHaveLength(7);

    const second = await files.import(organization, 'lines.ndjson', toNdjson(lines), '--json');
    expect(JSON.parse(second.stdout)).toEqual({ ...UNCHANGED, ...assumed(0, 1) });
    expect(await versions()).toEqual(before);
  });

  test('a file that does not say what is pending says it for the file, or is told what was assumed', async () => {
    const organization = await files.createOrganization();
    const other = v2Line({ deposit_id: '2', transaction_id: '2', allocation_id: '2' });
    const statuses = async () => {
      const { rows } = await files.query<{ id: string; status: string }>(STATUSES, [organization]);
      return rows.map(({ id, status }) => `${id} ${status}`);
    };
    const run = async (content: readonly object[], ...options: string[]) => {
      const { stdout } = await files.import(organization, 'lines.ndjson', toNdjson(content), ...options);
      return [stdout.split('\n').slice(2).join('\n'), ...(await statuses())];
    };
    expect(await run([gift], '--status', 'pending')).toEqual(['', '1 PENDING']);
    const unsaid = 'The file does not say whether its deposits are posted or pending: ';
    expect(await run([gift, other])).toEqual([
      `${unsaid}1 deposit taken for posted, 1 deposit left as the books have them; --status says it\n`,
      ...['1 PENDING', '2 POSTED'],
    ]);
    // The status in a line counts more than the option.
    expect(await run([gift, { ...other, deposit_status: 'pending' }], '--status', 'posted')).toEqual([
      '1 deposit pending in the books before, and posted by the file\n',
      ...['1 POSTED', '2 PENDING'],
    ]);
    const { status, stderr } = await files.import(organization, 'lines.ndjson', '', '--status', 'POSTED');
    expect([status, stderr]).toEqual([
      2,
      "error: option '--status <status>' argument 'POSTED' is invalid. Allowed choices are posted, pending.\n",
    ]);
  });

  test('a corrected file gets the corrections and leaves the rest alone', async () => {
    const organization = await files.createOrganization();
    const other = v2Line({
      deposit_id: '2',
      transaction_id: '2',
      allocation_id: '2',
      donor_id: 8,
      designation_id: 5,
      designation: 'Radio',
    });
    await files.import(organization, 'lines.ndjson', toNdjson([...lines, other]));
    const corrected = lines.map((line, position) => ({
      ...line,
      ...{ deposit_date: '2024-01-01', amount: '-100.00', fee_amount: '0.00', net_amount: '-100.00' },
      ...{ status: 'Returned', city: 'Paris', donor_first_name: '', designation: `Fund ${position}`, designation_memo: 'moved' },
    }));
    const result = await files.import(organization, 'lines.ndjson', toNdjson(corrected), '--json');
    const version = { number: 2, lines: { added: 0, changed: 2, removed: 0 } };
    expect(JSON.parse(result.stdout)).toEqual({ ...counts, ...assumed(0, 1), version });
    expect(await files.lines(organization)).toEqual([...corrected, other]);
  });

  test('a gift that turns out to be nobody’s and of another deposit sees it moved', async () => {
    const organization = await files.createOrganization();
    await files.import(organization, 'lines.ndjson', toNdjson(lines));
    const nobody = {
      donor_id: 0,
      donor_first_name: '',
      donor_last_name: '',
      address1: '',
      city: '',
      zip: '',
      phone: '',
      email_address: '',
    };
    const moved = lines.map((line) => ({ ...line, ...nobody, deposit_id: '2', designation_id: 3, designation: 'General Fund' }));
    await files.import(organization, 'lines.ndjson', toNdjson(moved));
    expect(await files.lines(organization)).toEqual(moved);
  });

  test('pending deposits and shares keeps both when a later file does not know them', async () => {
    const organization = await files.createOrganization();
    const shares = async () => {
      const { rows } = await files.query<{ id: string; amount: string | null; status: string }>(SHARES, [organization]);
      return rows.map(({ id, amount, status }) => [id, amount, status]);
    };
    const pending = lines.map((line, position) => ({
      ...line,
      deposit_status: 'pending',
      allocation_amount: position === 0 ? '60.00' : '40.00',
    }));
    await files.import(organization, 'lines.ndjson', toNdjson(pending));
    expect(await shares()).toEqual([
      ['P100', '60.00', 'PENDING'],
      ['P101', '40.00', 'PENDING'],
    ]);

    const later = await files.import(organization, 'lines.ndjson', toNdjson(lines), '--json');
    expect(JSON.parse(later.stdout)).toEqual({ ...UNCHANGED, ...assumed(0, 1) });
    expect(await shares()).toEqual([
      ['P100', '60.00', 'PENDING'],
      ['P101', '40.00', 'PENDING'],
    ]);

    const posted = lines.map((line) => ({ ...line, deposit_status: 'posted', allocation_amount: '50.00' }));
    await files.import(organization, 'lines.csv', toCsv(posted, `${CSV_HEADER},deposit_status,allocation_amount`));
    expect(await shares()).toEqual([
      ['P100', '50.00', 'POSTED'],
      ['P101', '50.00', 'POSTED'],
    ]);
  });

  test('a v2 answer that corrects gifts of known shares is shown the shares that follow', async () => {
    const organization = await files.createOrganization();
    const all = `${CSV_HEADER},allocation_amount`;
    const halves = lines.map((line) => ({ ...line, allocation_amount: '50.00' }));
    const other = v2Line({ transaction_id: 'P11', allocation_id: 'P110', allocation_amount: '10.50' });
    await files.import(organization, 'known.csv', toCsv([...halves, other], all));
    const corrected = [
      ...lines.map((line) => ({ ...line, amount: '0.00', fee_amount: '0.00', net_amount: '0.00', status: 'Refunded' })),
      v2Line({ transaction_id: 'P11', allocation_id: 'P110', amount: '5.25', net_amount: '4.75' }),
    ];
    const answer = JSON.stringify({ response: corrected });
    const told = [
      'The file changes 2 gifts and states no shares of them, so that 3 known shares change:',
      'LINE  TRANSACTION  AMOUNT BEFORE  AMOUNT  ALLOCATION  SHARE BEFORE  SHARE',
      '1     P10          100.00         0.00    P100        50.00         0.00',
      '1     P10          100.00         0.00    P101        50.00         0.00',
      '3     P11          10.50          5.25    P110        10.50         5.25\n',
    ].join('\n');
    const trial = await files.import(organization, 'answer.json', answer, '--dry-run', '--status', 'posted');
    expect(trial).toMatchObject({ status: 0, stderr: '' });
    expect(trial.stdout.slice(-told.length)).toBe(told);
    const { stdout } = await files.import(organization, 'answer.json', answer, '--json');
    const { correctedShares } = JSON.parse(stdout) as { readonly correctedShares: { readonly first: readonly object[] } };
    expect(correctedShares).toMatchObject({ gifts: 2, count: 3 });
    expect(correctedShares.first[2]).toEqual({
      ...{ line: 3, transactionId: 'P11', amountBefore: '10.50', amount: '5.25' },
      ...{ allocationId: 'P110', shareBefore: '10.50', share: '5.25' },
    });
    const { rows } = await files.query<{ amount: string }>(SHARES, [organization]);
    expect(rows.map(({ amount }) => amount)).toEqual(['0.00', '0.00', '5.25']);
  });

  test('a CSV file of any system gets the same lines', async () => {
    const values = lines.map((line) => ({ ...line, main_memo: 'a\r\nb "c"' }));
    const reordered = CSV_HEADER.split(',').reverse().join(',');
    const optional = `${reordered},allocation_amount,deposit_status`;
    const [header, ...records] = toCsv(values, CSV_HEADER, '\n').split('\n');
    const [first, ...contents] = [
      `\ufeff${toCsv(values, optional, '\r\n')}`,
      toCsv(values, reordered, '\n').trimEnd(),
      [header, records.join('\n')].join('\r\n'),
      `\r\n${toCsv(values)}\r\n\r\n`,
    ] as const;
    const organization = await files.createOrganization();
    await files.import(organization, 'lines.csv', first);
    expect(await files.lines(organization)).toEqual(values);
    for (const content of contents) {
      const { stdout } = await files.import(organization, 'lines.csv', content, '--json');
      expect(JSON.parse(stdout)).toEqual({ ...UNCHANGED, ...assumed(0, 1) });
    }
  });

  test('CSV without quotes whose lines end in different ways gets no line end into a value', async () => {
    const organization = await files.createOrganization();
    const [first, second] = lines.map((line) => Object.values({ ...line, main_memo: 'memo' }).join(','));
    expect(await files.import(organization, 'lines.csv', `${CSV_HEADER}\n${first}\r\n${second}\n`)).toMatchObject({ status: 0 });
    expect(await files.lines(organization)).toEqual(lines.map((line) => ({ ...line, main_memo: 'memo' })));
  });

  test('an export without lines imports nothing', async () => {
    const organization = await files.createOrganization();
    for (const [format, empty] of [
      ['json', '{"response":[]}'],
      ['csv', `${CSV_HEADER}\r\n`],
    ] as const) {
      expect(await files.export(organization, format)).toBe(empty);
      expect(await files.import(organization, `lines.${format}`, empty)).toEqual({
        status: 0,
        stdout:
          'Imported 0 lines; new or changed: 0 deposits, 0 transactions, 0 allocations, 0 designations, 0 donors\n' +
          'Nothing changed: there is no new data version\n',
        stderr: '',
      });
    }
  });
});

const ROW_VERSIONS = `SELECT kind, key, xmin::text FROM (
  SELECT 'deposit' AS kind, organization_id, id AS key, xmin FROM deposit
  UNION ALL SELECT 'transaction', organization_id, id, xmin FROM transaction
  UNION ALL SELECT 'allocation', organization_id, id, xmin FROM allocation
  UNION ALL SELECT 'designation', organization_id, id::text, xmin FROM designation
  UNION ALL SELECT 'donor', organization_id, id::text, xmin FROM donor
) AS rows WHERE organization_id = (SELECT id FROM organization WHERE name = $1) ORDER BY kind, key`;

const STATUSES = `SELECT id, status FROM deposit WHERE organization_id = (SELECT id FROM organization WHERE name = $1) ORDER BY id`;

const SHARES = `SELECT a.id, a.amount, d.status FROM deposit d
  JOIN transaction t ON (t.organization_id, t.deposit_id) = (d.organization_id, d.id)
  JOIN allocation a ON (a.organization_id, a.transaction_id) = (t.organization_id, t.id)
  WHERE d.organization_id = (SELECT id FROM organization WHERE name = $1) ORDER BY a.id`;
