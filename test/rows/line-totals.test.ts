import fc from 'fast-check';
import { LineTotals } from '../../src/rows/line-totals';
import { createCsvTemplate, type RowColumn } from '../../src/rows/row-template';
import { toCopyText, type Row } from '../support/row-reference';
import { tries } from '../support/tries';

/** Columns as a file may have them: the four that count, and others before, between and after them. */
const anyLayout = fc.array(fc.nat({ max: 20 }), { minLength: 5, maxLength: 5 }).map((gaps) => {
  let position = 0;
  const positions = ['deposit', 'transaction', 'amount', 'share'].map(
    (name, n) => [name, (position += gaps[n]! + (n > 0 ? 1 : 0))] as const,
  );
  const columns = Object.fromEntries(positions) as Record<'deposit' | 'transaction' | 'amount' | 'share', number>;
  return { columns, count: position + 1 + gaps[4]! };
});
type Layout = typeof anyLayout extends fc.Arbitrary<infer Value> ? Value : never;

interface Line {
  readonly deposit: string;
  readonly transaction: string;
  readonly cents: bigint;
  readonly share: bigint | null;
}

const MAX_CENTS = 99_999_999_999_999n;
/** Ids of which one may be the beginning of another, and of which two together may read as two others. */
const anyId = fc.string({ unit: fc.constantFrom('a', 'b', '\\', '\t', '\n', '"', ',', 'é'), maxLength: 4 });
const anyCents = fc.oneof(fc.bigInt(-99n, 99n), fc.bigInt(-MAX_CENTS, MAX_CENTS));
/** Lines in which those of a deposit, and of a transaction, follow each other. */
const anyLines = fc
  .uniqueArray(
    fc.tuple(
      anyId,
      fc.uniqueArray(fc.tuple(anyId, anyCents, fc.array(fc.option(anyCents), { minLength: 1, maxLength: 3 })), {
        selector: ([id]) => id,
        maxLength: 3,
      }),
    ),
    {
      selector: ([id]) => id,
      maxLength: 4,
    },
  )
  .map((deposits) =>
    deposits.flatMap(([deposit, transactions]) =>
      transactions.flatMap(([transaction, cents, shares]) => shares.map((share): Line => ({ deposit, transaction, cents, share }))),
    ),
  );

function decimals(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function toCopy(lines: readonly Line[], { columns, count }: Layout): Buffer {
  const rows = lines.map(({ deposit, transaction, cents, share }): Row => {
    const values: (string | null)[] = Array.from({ length: count }, (_none, n) => (n % 3 === 0 ? null : `${'x'.repeat(n)}\t`));
    values[columns.deposit] = deposit;
    values[columns.transaction] = transaction;
    values[columns.amount] = decimals(cents);
    values[columns.share] = share === null ? null : decimals(share);
    return values;
  });
  return Buffer.from(toCopyText(rows));
}

function sumsOf(lines: readonly Line[]): object {
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
  const transactions = new Map(lines.map(({ deposit, transaction, cents }) => [JSON.stringify([deposit, transaction]), cents]));
  const shares = lines.flatMap(({ share }) => (share === null ? [] : [share]));
  return {
    lines: lines.length,
    deposits: new Set(lines.map(({ deposit }) => deposit)).size,
    transactions: transactions.size,
    knownShares: shares.length,
    lineCents: sum(lines.map(({ cents }) => cents)),
    transactionCents: sum([...transactions.values()]),
    shareCents: sum(shares),
  };
}

function addUp({ columns, count }: Layout, pieces: readonly Buffer[]): object {
  const all = Array.from({ length: count }, (_none, n): RowColumn => ({
    field: `column${n}`,
    kind: n === columns.share ? 'nullable' : 'text',
  }));
  const [deposit, transaction, amount, share] = ['deposit', 'transaction', 'amount', 'share'].map(
    (name) => all[columns[name as keyof typeof columns]]!,
  ) as [RowColumn, RowColumn, RowColumn, RowColumn];
  const between = all.slice(columns.transaction + 1, columns.amount);
  const template = createCsvTemplate([deposit, transaction, ...between, amount, share]);
  const rows: Buffer[] = [];
  const totals = new LineTotals(all, { template, dates: [], transaction, amount, share }, (block) => rows.push(Buffer.from(block)));
  for (const piece of pieces) totals.add(piece);
  const sums = totals.end();
  expect(Buffer.concat(rows).toString().endsWith('\r\n')).toBe(pieces.length > 0);
  return sums;
}

const cut = (bytes: Buffer, length: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_none, n) => bytes.subarray(n * length, (n + 1) * length));

describe('the totals of lines', () => {
  test('are exact, wherever the columns stand and the input is cut', () => {
    fc.assert(
      fc.property(anyLines, anyLayout, fc.integer({ min: 2, max: 40 }), (lines, layout, length) => {
        const copy = toCopy(lines, layout);
        const results = [1, length, copy.length + 1].map((each) => addUp(layout, cut(copy, each)));
        expect(results).toEqual(Array(3).fill(sumsOf(lines)));
      }),
      { numRuns: tries(200) },
    );
  });

  const layout: Layout = { columns: { deposit: 0, transaction: 1, amount: 3, share: 4 }, count: 5 };

  test.each([1n, -1n])('are exact where they are greater than 64 bits hold: %s', (sign) => {
    const cents = sign * MAX_CENTS;
    const lines = Array.from({ length: 100_000 }, (_none, n): Line => ({ deposit: 'd', transaction: `${n}`, cents, share: cents }));
    const sum = cents * 100_000n;
    expect(sum * sign).toBeGreaterThan(2n ** 63n);
    const expected = { lines: 100_000, deposits: 1, transactions: 100_000, knownShares: 100_000 };
    expect(addUp(layout, [toCopy(lines, layout)])).toEqual({ ...expected, lineCents: sum, transactionCents: sum, shareCents: sum });
  });

  test('tell ids apart that are longer than all that is read at once', () => {
    const long = 'x'.repeat(300_000);
    const ids = [
      ['a', 'b'],
      [long, `${long}1`],
      [long, `${long}1`],
      [long, `${long}2`],
      [`${long}y`, long],
      [`${long}y`, 'b'],
      ['a', 'b'],
    ] as const;
    const lines = ids.map(([deposit, transaction]): Line => ({ deposit, transaction, cents: 5n, share: null }));
    const sums = { lines: 7, deposits: 4, transactions: 6, knownShares: 0, lineCents: 35n, transactionCents: 30n, shareCents: 0n };
    for (const length of [65_536, 100_003, 10_000_000]) expect(addUp(layout, cut(toCopy(lines, layout), length))).toEqual(sums);
  });

  const OTHER_COLUMNS = 'A row of COPY has more or fewer values than its template has columns';
  const NO_AMOUNT = 'COPY gave an amount that is not a number with two decimals';
  test.each([
    ['a value too few', 'd\tt\tx\t1.00\n', OTHER_COLUMNS],
    ['a value too many', 'd\tt\tx\t1.00\t1.00\t2\n', OTHER_COLUMNS],
    ['an amount that is not a number', 'd\tt\tx\tNaN\t1.00\n', NO_AMOUNT],
    ['an amount of whole numbers', 'd\tt\tx\t100\t1.00\n', NO_AMOUNT],
    ['a share that is none', 'd\tt\tx\t1.00\t1e3\n', NO_AMOUNT],
    ['no end', 'd\tt\tx\t1.00\t1.0', 'The output of COPY ended within a row'],
  ])('are refused to rows with %s', (_what, copy, error) => {
    expect(() => addUp(layout, [Buffer.from(copy)])).toThrow(error);
  });
});
