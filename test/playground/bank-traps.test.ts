import { sumOf, writeCents } from '../../src/playground/web/bank/bank-statement';
import { readStatement } from '../../src/playground/web/bank/statement-reader';
import { hasSameLines, type TieInput } from '../../src/playground/web/bank/tie-lists';
import { bai2, camt, camtFile, camtStatement } from '../support/bank-files';

/** The statement of a text; a text is the reason of a refusal. */
function read(text: string, account = '') {
  const file = readStatement(new TextEncoder().encode(text), { account, currency: undefined, columns: undefined });
  if (file.kind === 'table') throw new Error('The text is a table');
  return file.kind === 'read' ? file.statement : file.reason;
}
function amountsOf(text: string): unknown {
  const statement = read(text);
  return typeof statement === 'string' ? statement : statement.lines.map(({ cents }) => writeCents(cents));
}

const chargesOf = (more: string): unknown => {
  const statement = read(camt({ opening: '0.00', closing: '9.00', entries: [{ amount: '9.00', more }] }));
  return typeof statement === 'string' ? statement : statement.notes;
};
const told = (charges: string): string[] => [
  `Charges of ${charges} are told with entries. They are not added: an entry counts by its own amount.`,
];
const charge = (amount: string, direction = '', currency = 'EUR'): string =>
  `<Chrgs><Rcrd><Amt Ccy="${currency}">${amount}</Amt>${direction && `<CdtDbtInd>${direction}</CdtDbtInd>`}</Rcrd></Chrgs>`;
const part = (charges: string): string => `<NtryDtls><TxDtls>${charges}</TxDtls></NtryDtls>`;

const given = ['Charges of 1.00 were given back with entries. They are not added: an entry counts by its own amount.'];

test('an analyst reads charges once, less those that are given back, in the currency of the account', () => {
  expect(chargesOf(charge('2.50') + part(charge('2.50')))).toEqual(told('2.50'));
  expect(chargesOf(part(charge('2.50')) + part(charge('1.00')))).toEqual(told('3.50'));
  expect(chargesOf(part(charge('2.50', 'DBIT') + charge('1.00', 'CRDT')))).toEqual(told('1.50'));
  expect(chargesOf(charge('2.50', 'DBIT', 'USD'))).toEqual([]);
  const total = '<TtlChrgsAndTaxAmt Ccy="EUR">3.50</TtlChrgsAndTaxAmt>';
  expect(chargesOf(`<Chrgs>${total}<Amt Ccy="EUR">2.50</Amt></Chrgs><Chrgs>${total}<Amt Ccy="EUR">1.00</Amt></Chrgs>`)).toEqual(
    told('3.50'),
  );
  const both = (one: string, other: string, more = ''): unknown =>
    chargesOf(
      [one, other].map((cents, n) => `<Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">${cents}</TtlChrgsAndTaxAmt>${n ? more : ''}</Chrgs>`).join(''),
    );
  expect(both('2.50', '2.50')).toEqual(told('5.00'));
  expect(both('2.50', '1.00', charge('1.00', 'CRDT').slice(7, -8))).toEqual(told('1.50'));
  expect(chargesOf('<Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">4.76</TtlChrgsAndTaxAmt>' + charge('4.00').slice(7))).toEqual(told('4.76'));
  expect(chargesOf('<Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">1.00</TtlChrgsAndTaxAmt>' + charge('1.00', 'CRDT').slice(7))).toEqual(given);
  expect(chargesOf('<Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">4.00</TtlChrgsAndTaxAmt></Chrgs>')).toEqual(told('4.00'));
});

test('an analyst reads the items of a deposit as the deposit, and items alone as lines', () => {
  const items = ['16,116,200,,,,a', '16,116,300,,,,b'];
  const file = (records: readonly string[], control: number, summary = '') => bai2([{ summary, records, control }]);
  expect(amountsOf(file(['16,115,500,,,,lockbox', ...items], 1000))).toEqual(['5.00']);
  expect(amountsOf(file(['16,115,500,,,,lockbox', ...items], 1500, '010,0,,,015,500,,'))).toEqual(['5.00']);
  expect(amountsOf(file(['16,115,500,,,,lockbox', ...items, '16,142,100,,,,x'], 1100))).toEqual(['5.00', '1.00']);
  // The second deposit tells its items after those of the first, or not at all.
  expect(amountsOf(file(['16,115,200,,,,lockbox', '16,115,300,,,,lockbox', ...items], 1000))).toEqual(['2.00', '3.00']);
  expect(amountsOf(file(['16,115,500,,,,lockbox', ...items, '16,115,100,,,,lockbox'], 1100))).toEqual(['5.00', '1.00']);
  // Checks of another lockbox, perhaps.
  const unknown = 'Line 3: Items of type 116 come to 5.00, and it cannot be said in which deposits of type 115 they are.';
  for (const cents of [400, 600]) expect(amountsOf(file([`16,115,${cents},,,,lockbox`, ...items], cents + 500))).toBe(unknown);
  expect(amountsOf(file(items, 500))).toEqual(['2.00', '3.00']);
});

test('an analyst reads a blank amount as one that the bank does not tell', () => {
  const records = ['16,142,100,,,,x'];
  expect(amountsOf(bai2([{ summary: '010,0,,,015,,,,100,,,', records, control: 100 }]))).toEqual(['1.00']);
});

test('an analyst is told of a page that is missing before the first, and of a statement that is there twice', () => {
  const whole = { opening: '0.00', closing: '1.00', entries: [{ amount: '1.00' }] };
  const page = '<StmtPgntn><PgNb>2</PgNb><LastPgInd>true</LastPgInd></StmtPgntn>';
  expect(read(camt({ ...whole, period: page }))).toBe('The statement from 2026-05-01 begins within: a page before it is missing.');
  const level = { opening: '3.00', closing: '3.00', entries: [{ amount: '1.00' }, { amount: '1.00', direction: 'DBIT' as const }] };
  const twice = 'The statement from 2026-05-01 to 2026-05-31 is in the file twice.';
  expect(read(camtFile([camtStatement(level), camtStatement(level)]))).toBe(twice);
  const account = { summary: '', records: ['16,142,100,,,,x'], control: 100 };
  expect(read(bai2([account, account]))).toBe(twice.replaceAll(/05-01|05-31/g, '05-04'));
});

test('an analyst keeps what was matched by hand when the same lines are read again for an account', () => {
  const text = camt({ opening: '0.00', closing: '2.00', entries: [{ amount: '1.00' }, { amount: '1.00' }] });
  const inputOf = (given: string, account?: string): TieInput => {
    const statement = read(given, account);
    if (typeof statement === 'string') throw new Error(statement);
    expect(sumOf(statement.lines)).toBe(200n);
    return { statement, deposits: [], known: {}, version: 1, amount: 'net', days: 3, lineDate: 'bookedOn' };
  };
  expect(hasSameLines(inputOf(text), inputOf(text, 'DE02120300000000202051'))).toBe(true);
  expect(hasSameLines(inputOf(text), inputOf(text.replace('2026-05-04', '2026-05-05')))).toBe(false);
});
