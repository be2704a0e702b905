import { matchStatement } from '../../src/playground/web/bank/bank-match';
import { writeCents } from '../../src/playground/web/bank/bank-statement';
import { writeDemoStatement } from '../../src/playground/web/bank/demo-statement';
import { readStatement, type ReadFile } from '../../src/playground/web/bank/statement-reader';
import { centsOf, toParts } from '../../src/playground/web/bank/tie-lists';
import type { TableColumns } from '../../src/playground/web/bank/table-columns';
import { bai2, camt, camtFile, camtStatement } from '../support/bank-files';

const NO_CHOICE = { account: '', currency: undefined, columns: undefined };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const columns = (more: Partial<TableColumns> = {}): TableColumns => ({
  ...{ date: 0, amount: 1, credit: undefined, debit: undefined, text: 2, direction: undefined },
  ...{ dateOrder: undefined, decimalSign: undefined },
  ...more,
});

/** The statement in short: its balances, and each line as its day, its amount and its text. */
function told(file: ReadFile): unknown {
  if (file.kind === 'refused') return file.reason;
  if (file.kind === 'table') return file.head.names;
  const { opening, closing, lines } = file.statement;
  const balance = (cents: bigint | undefined): string => (cents === undefined ? '?' : writeCents(cents));
  return [
    `${balance(opening)} to ${balance(closing)}`,
    ...lines.map(({ bookedOn, cents, text }) => [bookedOn.slice(5), writeCents(cents), text].join(' ').trim()),
  ];
}

/** The trap of each file, the file, and what is read of it. */
const read: readonly (readonly [trap: string, file: string | Uint8Array, expected: readonly string[], table?: TableColumns])[] = [
  [
    'a version 02 with the status as text',
    camt({ version: '02', opening: '10.00', closing: '22.50', entries: [{ amount: '12.5' }] }),
    ['10.00 to 22.50', '05-04 12.50'],
  ],
  ['a version 13', camt({ version: '13', opening: '0', closing: '1', entries: [{ amount: '1' }] }), ['0.00 to 1.00', '05-04 1.00']],
  [
    'a batch whose total is repeated on each of its transactions',
    camt({
      opening: '0.00',
      closing: '300.00',
      entries: [
        {
          amount: '300.00',
          more: `<NtryDtls><Btch><NbOfTxs>2</NbOfTxs></Btch>${'<TxDtls><Amt Ccy="EUR">300.00</Amt><RmtInf><Ustrd>Gift</Ustrd></RmtInf></TxDtls>'.repeat(2)}</NtryDtls>`,
        },
      ],
    }),
    ['0.00 to 300.00', '05-04 300.00 2 transactions · Gift'],
  ],
  [
    'two blocks of details in one entry',
    camt({
      opening: '0.00',
      closing: '5.00',
      entries: [{ amount: '5.00', more: '<NtryDtls><TxDtls/></NtryDtls><NtryDtls><TxDtls/></NtryDtls>' }],
    }),
    ['0.00 to 5.00', '05-04 5.00 2 transactions'],
  ],
  [
    'a credit that was taken back, whose sign is its own',
    camt({
      opening: '100.00',
      closing: '100.00',
      entries: [{ amount: '40.00' }, { amount: '40.00', direction: 'DBIT', reversal: 'true' }],
    }),
    ['100.00 to 100.00', '05-04 40.00', '05-04 -40.00'],
  ],
  [
    'a payment that was taken back',
    camt({ opening: '0.00', closing: '7.00', entries: [{ amount: '7.00', reversal: '1' }] }),
    ['0.00 to 7.00', '05-04 7.00'],
  ],
  [
    'charges, which the amount has had taken off already',
    camt({
      opening: '0.00',
      closing: '98.50',
      entries: [{ amount: '98.50', more: '<Chrgs><Rcrd><Amt Ccy="EUR">1.50</Amt></Rcrd></Chrgs>' }],
    }),
    ['0.00 to 98.50', '05-04 98.50 charges 1.50'],
  ],
  [
    'two equal lines of one day',
    camt({ opening: '0.00', closing: '20.00', entries: [{ amount: '10.00' }, { amount: '10.00' }] }),
    ['0.00 to 20.00', '05-04 10.00', '05-04 10.00'],
  ],
  [
    'an entry that is not booked yet',
    camt({ opening: '0.00', closing: '1.00', entries: [{ amount: '1.00' }, { amount: '9.00', status: 'PDNG' }] }),
    ['0.00 to 1.00', '05-04 1.00'],
  ],
  [
    'an overdrawn account and a booking late in the evening of the bank',
    camt({ opening: '-5.00', closing: '-3.00', entries: [{ amount: '2.00', bookedOn: '2026-05-04+02:00' }] }),
    ['-5.00 to -3.00', '05-04 2.00'],
  ],
  [
    'two pages in one file, the second first',
    camtFile([
      camtStatement({
        ...{ opening: '3.00', closing: '7.00', entries: [{ amount: '4.00', bookedOn: '2026-05-05' }] },
        period: '<FrToDt><FrDtTm>2026-05-05T00:00:00</FrDtTm><ToDtTm>2026-05-05T23:59:59</ToDtTm></FrToDt>',
      }),
      camtStatement({
        ...{ opening: '1.00', closing: '3.00', entries: [{ amount: '2.00' }] },
        period: '<FrToDt><FrDtTm>2026-05-04T00:00:00</FrDtTm><ToDtTm>2026-05-04T23:59:59</ToDtTm></FrToDt>',
      }),
    ]),
    ['1.00 to 7.00', '05-04 2.00', '05-05 4.00'],
  ],
  [
    'a summary, entities, CDATA and the encoding that it names',
    Buffer.from(
      camt({
        ...{ opening: '0.00', closing: '3.00' },
        summary:
          '<TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries><Sum>5</Sum><TtlNetNtry><Amt>3</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry></TtlNtries></TxsSummry>',
        entries: [
          { amount: '4.00', more: '<AddtlNtryInf>Müller &amp; <![CDATA[<Söhne>]]></AddtlNtryInf>' },
          { amount: '1.00', direction: 'DBIT' },
        ],
      }).replace('UTF-8', 'ISO-8859-1'),
      'latin1',
    ),
    ['0.00 to 3.00', '05-04 4.00 Müller & <Söhne>', '05-04 -1.00'],
  ],
  [
    'continuations, and a text with commas and a slash',
    bai2([
      {
        summary: '010,10000,,,015,12500,,',
        records: ['16,165,3000,S,1000,2000/', '88,0/', '88,BANK1,CUST1,LOCKBOX, SMITH/JONES', '88,MORE TEXT/', '16,475,500,,,,CHECK 12'],
        control: 26000,
      },
    ]),
    ['100.00 to 125.00', '05-04 30.00 LOCKBOX, SMITH/JONES MORE TEXT', '05-04 -5.00 CHECK 12'],
  ],
  [
    'all types of funds',
    bai2([
      {
        summary: '010,0,,,015,1500,,,100,1500,5,V,260504,0900',
        records: [
          '16,142,100,0,a,b,x',
          '16,142,200,1,a,b,x',
          '16,142,300,2,a,b,x',
          '16,142,400,V,260506,,a,b,x',
          '16,142,500,D,2,0,300,1,200,a,b,x',
        ],
        control: 4500,
      },
    ]),
    ['0.00 to 15.00', '05-04 1.00 x', '05-04 2.00 x', '05-04 3.00 x', '05-04 4.00 x', '05-04 5.00 x'],
  ],
  [
    'a currency without decimals, and a balance below zero',
    bai2([{ currency: 'JPY', summary: '010,-100,,,015,400,,', records: ['16,195,500,,,,X'], control: 800 }]),
    ['-100.00 to 400.00', '05-04 500.00 X'],
  ],
  [
    'a closing balance alone, and a message of the bank',
    bai2([{ summary: '015,400,,', records: ['16,195,400,,,,X', '16,890,,,,,HELLO'], control: 800 }]),
    ['? to 4.00', '05-04 4.00 X'],
  ],
  [
    'a table with debits of their own, semicolons, decimal commas, a preamble and the old code of Windows',
    Buffer.from('Konto 12\nTag;Soll;Haben;Text\n13.05.2026;;1.234,50;Käthe\n14.05.2026;10,00;;"a;b"\n', 'latin1'),
    ['? to ?', '05-13 1234.50 Käthe', '05-14 -10.00 a;b'],
    columns({ amount: undefined, debit: 1, credit: 2, text: 3 }),
  ],
  [
    'a table with brackets, currencies and a text over two lines',
    '\uFEFFDate,Amount,Text\r\n5/13/2026,"$1,234.50","two\nlines"\r\n5/14/26,(10.00),\r\n5/14/26,10.00-,\r\n',
    ['? to ?', '05-13 1234.50 two\nlines', '05-14 -10.00', '05-14 -10.00'],
    columns(),
  ],
  [
    'a table whose order of day and month was chosen',
    'Date\tAmount\tText\n04/05/2026\t1.234\tx\n',
    ['? to ?', '04-05 1234.00 x'],
    columns({ dateOrder: 'month-first', decimalSign: 'comma' }),
  ],
  ['a table with equal rows', 'Date,Amount,Text\n2026-05-04,5,x\n2026-05-04,5,x\n', ['? to ?', '05-04 5.00 x', '05-04 5.00 x'], columns()],
];

const readFiles = read.map(([trap, file, expected, table]) => ({ trap, file, expected, table }));
test.each(readFiles)('an analyst reads to the cent: $trap', ({ file, expected, table }) => {
  const bytes = typeof file === 'string' ? bytesOf(file) : file;
  expect(told(readStatement(bytes, { ...NO_CHOICE, columns: table }))).toEqual(expected);
});

test('an analyst sees the columns of a table before anything of it is read', () => {
  expect(readStatement(bytesOf('Date,,Text\n1/2/2026,5,x\n'), NO_CHOICE)).toEqual({
    kind: 'table',
    head: { names: ['Date', 'Column 2', 'Text'], isNamed: true, samples: [['1/2/2026', '5', 'x']] },
  });
});

test('an analyst finds the value date, the reference and the reversal of a line beside its booking date', () => {
  const entry = { amount: '1.00', reversal: 'true', more: '<ValDt><Dt>2026-05-06</Dt></ValDt><AcctSvcrRef>R1</AcctSvcrRef>' };
  const file = readStatement(bytesOf(camt({ opening: '0.00', closing: '1.00', entries: [entry] })), NO_CHOICE);
  expect(file.kind === 'read' && file.statement.lines).toEqual([
    { bookedOn: '2026-05-04', valuedOn: '2026-05-06', cents: 100n, text: '', reference: 'R1', isReversal: true },
  ]);
  const later = readStatement(bytesOf(bai2([{ summary: '', records: ['16,142,400,V,260506,,B1,C1,x'], control: 400 }])), NO_CHOICE);
  expect(later.kind === 'read' && later.statement.lines[0]).toMatchObject({
    bookedOn: '2026-05-04',
    valuedOn: '2026-05-06',
    reference: 'B1',
  });
});

const whole = { opening: '0.00', closing: '1.00', entries: [{ amount: '1.00' }] };
const oneAccount = [{ summary: '010,0,,,015,100,,', records: ['16,142,100,,,,x'], control: 200 }];

/** The fault of each file, the file, and the reason that people read. */
const refused: readonly (readonly [fault: string, file: string, reason: string, choice?: Partial<Parameters<typeof readStatement>[1]>])[] =
  [
    [
      'lines that do not lead to the closing balance',
      camt({ ...whole, closing: '1.01' }),
      'The balances do not fit the lines: 0.00 before and movements of 1.00 are 1.00, and the closing balance is 1.01.',
    ],
    ['no closing balance', camt({ ...whole, closing: undefined }), 'The statement has no closing balance (CLBD).'],
    [
      'a page that is missing',
      camtFile([camtStatement(whole), camtStatement({ ...whole, opening: '5.00', closing: '6.00' })]),
      'The statement to 2026-05-31 ends with 1.00, and the next one begins with 5.00: one between them is missing.',
    ],
    [
      'another account than the chosen one',
      camt(whole),
      'The file is of account DE02120300000000202051, and not of account DE99.',
      { account: 'DE99' },
    ],
    [
      'two accounts and no choice',
      camtFile([camtStatement(whole), camtStatement({ ...whole, account: 'X1' })]),
      'The file is of accounts DE02120300000000202051, X1: choose one of them.',
    ],
    [
      'another currency than that of the deposits',
      camt(whole),
      'The statement is in EUR, and the deposits are in USD.',
      { currency: 'USD' },
    ],
    [
      'an entry in another currency than its account',
      camt({ ...whole, entries: [{ amount: '1.00', currency: 'USD' }] }),
      'The statement, entry 1 is in USD, and the account in EUR.',
    ],
    [
      'a notification in place of a statement',
      camt(whole).replace('camt.053.001.08', 'camt.054.001.08'),
      'The file is no statement that can be read, but a notification of single bookings, which has no balances. Choose camt.053, version 02 to 13.',
    ],
    [
      'a page of the web',
      '<html><body/></html>',
      'The file is no statement that can be read, but an XML file with the root “html”. Choose camt.053, version 02 to 13.',
    ],
    [
      'a document type, with which a file can fill the memory',
      camt(whole).replace('?>', '?><!DOCTYPE d [<!ENTITY a "aaaa">]>'),
      'The file is no XML that can be read: it has a document type, which no statement has (line 1).',
    ],
    ['a file that was cut off', camt(whole).slice(0, -30), 'The file is no XML that can be read: Unclosed root tag (line 2).'],
    [
      'a summary that its entries do not add up to',
      camt({ ...whole, summary: '<TxsSummry><TtlCdtNtries><NbOfNtries>2</NbOfNtries><Sum>1.00</Sum></TtlCdtNtries></TxsSummry>' }),
      'The statement says TtlCdtNtries 2 of 1.00, and its entries do not add up to that.',
    ],
    [
      'a control total that is not that of the amounts',
      bai2([{ ...oneAccount[0]!, control: 201 }]),
      'Line 5: Account 0975312468 has the control total “201”, and it comes to 200.',
    ],
    [
      'a record that is missing',
      bai2(oneAccount).replace('49,200,3/', '49,200,4/'),
      'Line 5: Account 0975312468 has the number of records “4”, and it comes to 3.',
    ],
    [
      'a file of BAI2 that was cut off',
      bai2(oneAccount).replace(/98,.*/s, ''),
      'The file ends where the next account or the end of the group (98) should be: it was cut off.',
    ],
    ['an unknown type of funds', bai2([{ ...oneAccount[0]!, records: ['16,142,100,Q,,,x'] }]), 'Line 4: The type of funds “Q” is unknown.'],
    [
      'a group that corrects another one',
      bai2(oneAccount, { status: '3' }),
      'Line 2: The group corrects what another file tells. Only a group that adds (status 1) can be read.',
    ],
    [
      'dates that may be of two months',
      'Date,Amount,Text\n04/05/2026,5,x\n',
      'The dates of “Date” do not tell whether the day or the month comes first: choose it.',
      { columns: columns() },
    ],
    [
      'amounts that may be thousands',
      'Date,Amount,Text\n2026-05-04,1.234,x\n',
      '“1.234” may have a decimal sign or one between thousands: choose it.',
      { columns: columns() },
    ],
    ['a day that no calendar has', 'Date,Amount,Text\n2026-02-30,5,x\n', 'Line 2: “2026-02-30” is no date.', { columns: columns() }],
  ];

const refusedFiles = refused.map(([fault, file, reason, choice]) => ({ fault, file, reason, choice }));
test.each(refusedFiles)('an analyst is told the reason why a file is refused: $fault', ({ file, reason, choice }) => {
  expect(told(readStatement(bytesOf(file), { ...NO_CHOICE, ...choice }))).toBe(reason);
});

test('an analyst has twenty files of each kind here', () => {
  expect([read.length, refused.length]).toEqual([20, 20]);
});

test('an analyst is told which balances a file of BAI2 does not have', () => {
  const notesOf = (summary: string): unknown => {
    const file = readStatement(bytesOf(bai2([{ summary, records: ['16,142,100,,,,x'], control: summary === '' ? 100 : 200 }])), NO_CHOICE);
    return file.kind === 'read' && file.statement.notes;
  };
  expect(notesOf('010,100,,')).toEqual(['The file tells no closing balance.']);
  expect(notesOf('015,100,,')).toEqual(['The file tells no opening balance.']);
  expect(notesOf('')).toEqual(['The file tells no opening balance.', 'The file tells no closing balance.']);
});

test.each(['1', '2', '3', '4'])('an analyst reads a group of BAI2 with the as-of-date modifier %s only where it is final', (modifier) => {
  const file = bai2(oneAccount).replace('260504,,USD,2/', `260504,,USD,${modifier}/`);
  const interim = `Line 2: The group is interim (as-of-date modifier ${modifier}), which is not final.`;
  expect(told(readStatement(bytesOf(file), NO_CHOICE))).toEqual(
    modifier === '1' || modifier === '3' ? interim : ['0.00 to 1.00', '05-04 1.00 x'],
  );
});

test('an analyst reads the pages of a statement together, and is told where the first or the last is missing', () => {
  const page = (isLast: boolean): string => `<StmtPgntn><PgNb>1</PgNb><LastPgInd>${String(isLast)}</LastPgInd></StmtPgntn>`;
  const first = camtStatement({ ...whole, period: page(false) }).replace('CLBD', 'ITBD');
  const last = camtStatement({ ...whole, opening: '1.00', closing: '2.00', period: page(true) }).replace('OPBD', 'ITBD');
  const readPages = (...pages: readonly string[]): unknown => told(readStatement(bytesOf(camtFile(pages)), NO_CHOICE));
  expect(readPages(first, last)).toEqual(['0.00 to 2.00', '05-04 1.00', '05-04 1.00']);
  const isCut = 'The statement to 2026-05-31 is not at its end: a page after it is missing.';
  expect(readPages(first)).toBe(isCut);
  expect(readPages(first.replace(page(false), ''))).toBe(isCut);
  expect(readPages(camtStatement({ ...whole, period: page(false) }))).toBe(isCut);
  expect(readPages(last)).toBe('The statement from 2026-05-01 begins within: a page before it is missing.');
});

test('an analyst chooses one account of several by its number, with or without blanks', () => {
  const file = camtFile([camtStatement(whole), camtStatement({ ...whole, account: 'X1', closing: '9.00', entries: [{ amount: '9.00' }] })]);
  expect(told(readStatement(bytesOf(file), { ...NO_CHOICE, account: ' x 1' }))).toEqual(['0.00 to 9.00', '05-04 9.00']);
});

test('a newcomer tries the invented statement of the demo, which does not quite tie', () => {
  const deposits = Array.from({ length: 12 }, (_, n) => ({
    ...{ id: `D${n}`, date: `2026-05-${String(2 * n + 1).padStart(2, '0')}`, status: 'Posted' },
    ...{ net: `${100 + 7 * n}.50`, gross: `${103 + 7 * n}.00`, isOutside: false },
  }));
  const file = readStatement(bytesOf(writeDemoStatement(deposits, 'USD')), { ...NO_CHOICE, currency: 'USD' });
  if (file.kind !== 'read') throw new Error(JSON.stringify(file));
  const { statement } = file;
  const own = deposits.map((deposit) => ({ date: deposit.date, cents: centsOf(deposit, 'net') }));
  const tie = matchStatement(statement.lines, own, { days: 3, lineDate: 'bookedOn', byHand: [] });
  expect(toParts(tie, statement).map(({ name, lines }) => `${name} ${lines}`)).toEqual(['matched 9', 'no deposit 2', 'paid out 1']);
  expect(tie.deposits.flatMap((reason, at) => (reason === undefined ? [] : [at]))).toEqual([5, 7]);
});
