import { parse } from 'csv-parse/sync';
import { succeed } from '../support/command';
import { v2Line } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { REPORT } from '../support/long-report';
import { openGateway } from '../support/open-gateway';

const LINES = 3000;
const LONG_LINES = 6;
const LONG_LENGTH = 300_000;
/** Texts that JSON, CSV or COPY escapes, and texts that they leave alone. */
const ALPHABET = [
  '"',
  '\\',
  'a',
  '\n',
  '\r\n',
  '\t',
  '\b\f\v',
  '\u0001\u001f\u007f',
  '🌻',
  'é李',
  '\\N',
  '\\.',
  ',',
  "'",
  '=',
  '\u2028',
  'plain text ',
];

interface Line extends Record<string, unknown> {
  readonly deposit_date: string;
}

/** Text of this length, which differs for every start. */
function longText(start: number, length: number): string {
  let text = '';
  for (let n = start; text.length < length; n++) text += ALPHABET[(n * n + start) % ALPHABET.length]! + (n % 7 === 0 ? `${n}` : '');
  return text.slice(0, length).toWellFormed();
}

function line(n: number): Line {
  const isLong = n % (LINES / LONG_LINES) === 300;
  const id = `${n}`.padStart(6, '0');
  const values = {
    ...{ deposit_id: isLong || n < 200 ? 'A' : 'B', deposit_date: isLong || n < 200 ? '2024-01-02' : '2024-02-01' },
    ...{ transaction_id: id, allocation_id: id },
    main_memo: longText(n, isLong ? LONG_LENGTH : n % 50),
    designation_memo: n % 3 === 0 ? longText(n, n % 20) : '',
    ...(n % 500 === 301 && { designation_memo: '"'.repeat(LONG_LENGTH) }),
    // This text has no character at which the renderer's loop stops.
    ...(n % 500 === 302 && { designation_memo: 'x'.repeat(LONG_LENGTH) }),
  };
  return v2Line(values) as Line;
}

const shareOf = (n: number): string | null => (n % 2 === 0 ? `-${n}.05` : null);

const all = Array.from({ length: LINES }, (_, n) => line(n));
/** The lines in report order. Those of 2024-01-02 are few, and all long ones are among them. */
const lines = all.toSorted((a, b) => (a.deposit_date < b.deposit_date ? -1 : a.deposit_date > b.deposit_date ? 1 : 0));
const gateway = openGateway({
  lines: all.map((values, n) => (shareOf(n) === null ? values : { ...values, allocation_amount: shareOf(n) })),
});
const { organization } = gateway;

/** Compares texts without printing megabytes: a failure shows the first place where they differ. */
function expectSame(actual: string, expected: string): void {
  let at = 0;
  while (at < expected.length && actual[at] === expected[at]) at++;
  const around = (text: string) => ({ length: text.length, at, text: text.slice(Math.max(0, at - 20), at + 20) });
  if (at < expected.length || actual.length !== expected.length) expect(around(actual)).toEqual(around(expected));
}

const exportAs = (format: string): Promise<string> =>
  succeed({ DATABASE_URL: gateway.database.url }, [
    ...['export', '--organization', organization.name, '--format', format],
    ...['--start', '2024-01-01', '--end', '2024-12-31'],
  ]);
const headers = (): Record<string, string> => ({ Provision: organization.apiProvision, 'Content-Type': 'application/json' });

describe('lines with very long values and many short ones', () => {
  test('reach a REST reader as they were imported', async () => {
    const response = await ask(`${gateway.url}${REPORT}?start_date=2024-01-01&end_date=2024-12-31`, { headers: headers() });
    const { body, complete } = await readAll(response);
    expect(complete).toBe(true);
    expectSame(body.toString(), JSON.stringify({ response: lines }));
  });

  test.each([400, 3000])('reach a GraphQL reader under names of %i characters as they were imported', async (length) => {
    const day = lines.filter(({ deposit_date }) => deposit_date === '2024-01-02');
    expect(day.length).toBe(200 + LONG_LINES);
    const members = [...Object.keys(line(0)), 'allocation_amount', '__typename'].map((key) => {
      const field = key.replace(/(?<=[a-z])_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
      return { key, field, alias: `${field}_`.padEnd(length, 'x') };
    });
    const valueOf = (values: Line, key: string): unknown => {
      if (key === '__typename') return 'DepositDetail';
      return key === 'allocation_amount' ? (shareOf(Number(values.allocation_id)) ?? values.amount) : values[key];
    };
    const query = `{ depositDetails(startDate: "2024-01-02", endDate: "2024-01-02") { ${members.map(({ alias, field }) => `${alias}: ${field}`).join(' ')} } }`;
    const response = await ask(`${gateway.url}/graphql`, { method: 'POST', headers: headers(), body: JSON.stringify({ query }) });
    const { body, complete } = await readAll(response);
    expect(complete).toBe(true);
    const depositDetails = day.map((values) => Object.fromEntries(members.map(({ key, alias }) => [alias, valueOf(values, key)])));
    expectSame(body.toString(), `${JSON.stringify({ data: { depositDetails } })}\n`);
  });

  test('reach an operator who exports NDJSON as they were imported', async () => {
    expectSame(await exportAs('ndjson'), lines.map((values) => `${JSON.stringify(values)}\n`).join(''));
  });

  test('reach an operator who exports CSV as they were imported, but for the guard against formulas', async () => {
    const records: Record<string, string>[] = parse(await exportAs('csv'), { columns: true, record_delimiter: '\r\n' });
    const unguarded = (value: string) => value.replace(/^'(?='*[=+\-@\t\r\n＝＋－＠])/, '');
    const read = records.map((record) => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, unguarded(value)])));
    const asText = lines.map((values) => Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)])));
    expectSame(JSON.stringify(read), JSON.stringify(asText));
    expect(records.filter(({ main_memo }) => /^[=+\-@\t\r\n＝＋－＠]/.test(main_memo!))).toEqual([]);
  });
});
