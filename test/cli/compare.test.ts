import fc from 'fast-check';
import type { DifferenceClass } from '../../src/domain/compare/verdict';
import { fill, openComparisons, type Pair } from '../support/comparisons';
import { forms, gift } from '../support/old-service';
import { tries } from '../support/tries';

const { compare, withPair, write } = openComparisons();

type Line = Record<string, unknown>;

/** Changes the lines of the new service's answers to the reports that have some. */
const onLines =
  (change: (lines: Line[]) => void) =>
  ({ now }: Pair): void => {
    now.edit = (body) => {
      const answer = JSON.parse(body) as { response?: Line[] };
      if (!answer.response || answer.response.length < 2) return body;
      change(answer.response);
      return JSON.stringify(answer);
    };
  };
const onFirst = (change: (line: Line) => void) => onLines(([first]) => change(first!));
const onText =
  (from: string | RegExp, to: string) =>
  ({ now }: Pair): void => {
    now.edit = (body) => body.replace(from, to);
  };
const move = (lines: Line[]): void => void lines.push(lines.shift()!);

/** Kinds of differences, each with the classes that it is found as. */
const kinds: readonly (readonly [name: string, plant: (pair: Pair) => void, classes: readonly DifferenceClass[]])[] = [
  ['a key that is missing', onFirst((line) => delete line.phone), ['key-missing']],
  ['a key more', onFirst((line) => (line.nickname = 'A')), ['key-extra']],
  ['a key that is written twice', onText('"city":"', '"city":"","city":"'), ['key-extra']],
  ['another order of keys', onFirst((line) => (delete line.city, (line.city = ''))), ['key-order']],
  ['a number as text', onFirst((line) => (line.designation_id = '1')), ['type']],
  ['an amount as number', onText(/"amount":"(\d+\.\d+)"/, '"amount":$1'), ['type']],
  ['a cent more', onFirst((line) => (line.amount = '10.01')), ['value']],
  ['another day', onFirst((line) => (line.transaction_date = '2026-01-09')), ['value']],
  ['letters in lower case', onLines((lines) => (lines[1]!.donor_first_name = 'ada')), ['value']],
  ['a letter that looks the same', onLines((lines) => (lines[1]!.donor_first_name = 'А' + 'da')), ['value']],
  ['a zero less', onFirst((line) => (line.fee_amount = '0.0')), ['zeros']],
  ['no zeros', onFirst((line) => (line.fee_amount = '0')), ['zeros']],
  ['null for an empty text', onFirst((line) => (line.phone = null)), ['null']],
  ['escapes of the same text', onText('für', String.raw`f\u00fcr`), ['escapes']],
  ['an escaped name', onText('"city"', String.raw`"c\u0069ty"`), ['escapes']],
  ['white space in a line', onText('"deposit_id":', '"deposit_id": '), ['whitespace']],
  ['white space between lines', onText('},{', '},\n{'), ['whitespace']],
  ['white space around the lines', onText('{"response":[', '{ "response": ['), ['whitespace']],
  ['a space at the end of a text', onLines((lines) => (lines[1]!.donor_first_name = 'Ada ')), ['text-whitespace']],
  ['another order of lines', onLines(move), ['line-order']],
  ['a line that is missing', onLines((lines) => lines.splice(1, 1)), ['line-missing']],
  ['a line more', ({ now }) => void now.gifts.push(gift({ depositDate: '2026-01-20' })), ['line-extra']],
  ['a doubled line', onLines((lines) => lines.splice(1, 0, lines[0]!)), ['line-doubled']],
  ['another id', onFirst((line) => (line.allocation_id = 'X')), ['line-missing', 'line-extra']],
  ['a name beside the lines', onText('{"response":', '{"count":1,"response":'), ['key-extra']],
  ['an answer that is no report', onText(/^\{"response".*/s, '{"lines":[]}'), ['body']],
  ['a line that is no JSON', onText('"phone":""', '"phone":undefined'), ['body']],
  ['another status', ({ now }) => (now.faultAt = (query) => (query.get('include_pending') === 'true' ? '404' : undefined)), ['status']],
  ['another header', ({ now }) => (now.contentType = 'text/json'), ['header']],
  [
    'other values behind a name that is written twice',
    ({ old, now }) => {
      old.edit = (body) => body.replace('"city":"', '"city":"A","city":"');
      now.edit = (body) => body.replace('"city":"', '"city":"B","city":"');
    },
    ['value'],
  ],
  ['a mark of the byte order', onText('{"response"', '\uFEFF{"response"'), ['body']],
  [
    'another separator that comes as often',
    ({ old, now }) => {
      old.edit = (body) => body.replace('},{', '}, {');
      now.edit = (body) => body.replace(/\},\{(?=[^}]*\}\])/, '}, {');
    },
    ['body'],
  ],
  [
    'a long text beside the lines',
    ({ old, now }) => {
      old.edit = (body) => body.replace('{"response"', `{"note":"${'a'.repeat(70_000)}","response"`);
      now.edit = (body) => body.replace('{"response"', `{"note":"${'b'.repeat(70_000)}","response"`);
    },
    ['body'],
  ],
  ['a line that is nested deeply', onText('"phone":""', `"phone":${'['.repeat(150)}${']'.repeat(150)}`), ['body']],
  [
    'another encoding',
    ({ old, now }) => {
      old.edit = (body) => body.replace('System request', 'Système');
      now.encoding = 'latin1';
      now.edit = old.edit;
    },
    ['body'],
  ],
  ['a number nested as deeply as may be', onText('"deposit_id":"', `"deposit_id":${'['.repeat(5000)}${']'.repeat(5000)},"x":"`), ['body']],
  ['a provision in other letters', onText('9b2f4a1e', '9B2F4A1E'), ['value']],
  ['other names of the ids', onText(/"(deposit|transaction|allocation)_id"/g, '"$1Id"'), ['line-missing', 'line-extra']],
  ['another text', onText('System request', 'Request'), ['value']],
];

describe('compare', () => {
  test.each(forms.filter((form) => form !== 'HTTP/1.0'))('says that equal answers are equal, in the form %s', (form) =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.form = form;
      const { status, stderr, verdict } = await compare(pair);
      expect({ status, stderr, classes: verdict.classes, verdict: verdict.verdict }).toEqual({
        ...{ status: 0, stderr: '', classes: [], verdict: 'equal' },
      });
      expect(verdict.counts).toMatchObject({ equal: verdict.questions.length, different: 0 });
      const reports = verdict.questions.filter(({ question }) => question.includes('end_date=2026-01-31&include_pending'));
      expect(reports.map(({ old }) => [old!.lines, old!.amount])).toEqual([
        [6, '60.11'],
        [7, '70.16'],
      ]);
      expect(reports.map(({ old }) => old)).toEqual(reports.map(({ new: now }) => now));
      // Equal answers cost one reading of each side.
      expect([pair.old.requests, pair.now.requests]).toEqual([verdict.questions.length, verdict.questions.length]);
    }),
  );

  test.each(kinds)('finds %s', (_name, plant, classes) =>
    withPair(async (pair) => {
      fill(pair);
      plant(pair);
      const { status, verdict } = await compare(pair);
      expect([status, verdict.verdict]).toEqual([1, 'different']);
      expect(verdict.classes.map(({ class: kind }) => kind).sort()).toEqual([...classes].sort());
      expect(verdict.classes.every(({ count, examples }) => count > 0 && examples.length > 0)).toBe(true);
    }),
  );

  test('finds another text and another status of an error', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.errorText = (text) => (text === 'Invalid provision' ? 'Wrong provision' : text);
      const { verdict } = await compare(pair);
      expect(verdict.classes).toEqual([
        expect.objectContaining({
          ...{ class: 'error-text', count: 6 },
          examples: expect.arrayContaining([
            expect.objectContaining({
              path: 'errors[0].error',
              old: '"Invalid provision"',
              new: expect.stringMatching(/^‹[0-9a-f]{10}›$/) as string,
            }),
          ]) as unknown,
        }),
      ]);
    }));

  test('names the line, the field and the day, and both values only when asked', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.gifts[1]!.donorName = 'Lovelace';
      pair.now.gifts[2]!.cents = 99_999;
      const masked = await compare(pair, '--pending', 'without');
      const report = masked.verdict.questions.find(({ outcome }) => outcome === 'different')!;
      expect(report.days).toEqual({ '2026-01-02': 2, '2026-01-03': 2 });
      expect([report.old!.amount, report.new!.amount]).toEqual(['60.11', '1050.08']);
      const examples = masked.verdict.classes.flatMap((found) => found.examples);
      expect(examples).toContainEqual(
        expect.objectContaining({
          ...{ path: 'amount', day: '2026-01-03', old: '"10.02"', new: '"999.99"' },
          line: { deposit: 'D00002', transaction: 'T00002', allocation: 'A00002' },
        }),
      );
      expect(JSON.stringify(masked.verdict)).not.toContain('Lovelace');
      const shown = await compare(pair, '--show-values');
      expect(JSON.stringify(shown.verdict)).toContain('Lovelace');
    }));

  test('counts what was accepted apart, and never as equal', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.edit = (body) => body.replace('für', String.raw`f\u00fcr`);
      const { status, verdict } = await compare(pair, '--accept', 'escapes');
      expect([status, verdict.verdict, verdict.counts.accepted, verdict.counts.different]).toEqual([0, 'equal', 2, 0]);
      expect(verdict.classes).toEqual([expect.objectContaining({ class: 'escapes', count: 2, isAccepted: true })]);
      pair.now.gifts[3]!.cents++;
      expect((await compare(pair, '--accept', 'escapes')).verdict.counts).toMatchObject({ accepted: 0, different: 2 });
    }));

  test.each([
    ['zeros', onText(/"city"(.*?)"fee_amount":"0.00"/s, String.raw`"c\u0069ty"$1"fee_amount":"0.0"`), 'escapes'],
    ['zeros', onText(/\{"response"(.*?)"0\.00"/s, '\uFEFF{"response"$1"0.0"'), 'body'],
    [
      'zeros',
      ({ old, now }: Pair) => {
        const noteOf = (letter: string) => `{"note":"${letter.repeat(70_000)}","response"`;
        old.edit = (body) => body.replace('{"response"', noteOf('a'));
        now.edit = (body) => body.replace('{"response"', noteOf('b')).replace('"0.00"', '"0.0"');
      },
      'body',
    ],
    ['key-order', onText('"phone":"","email_address":""', '"email_address": "","phone":""'), 'whitespace'],
  ] as const)('does not let %s hide another difference of the same line', (accepted, plant, hidden) =>
    withPair(async (pair) => {
      fill(pair);
      plant(pair);
      const { status, verdict } = await compare(pair, '--accept', accepted);
      expect([status, verdict.classes.map(({ class: kind }) => kind).sort()]).toEqual([1, [accepted, hidden].sort()]);
    }),
  );

  test('is undecided where neither answer is a report', () =>
    withPair(async (pair) => {
      pair.old.edit = (body) => body.replace(/^\{"response".*/s, '{"lines":["A"]}');
      pair.now.edit = (body) => body.replace(/^\{"response".*/s, '{"lines":["B"]}');
      expect((await compare(pair)).verdict.verdict).toBe('undecided');
    }));

  test('matches lines in any order, of whichever number', () =>
    withPair(async (pair) => {
      fill(pair, 400);
      pair.now.edit = (body) => {
        const answer = JSON.parse(body) as { response?: Line[] };
        return JSON.stringify({ ...answer, ...(answer.response && { response: answer.response.reverse() }) });
      };
      const { verdict } = await compare(pair, '--pending', 'with', '--accept', 'line-order');
      expect([verdict.verdict, verdict.classes.map(({ class: kind }) => kind)]).toEqual(['equal', ['line-order']]);
    }));

  test('finds nothing in equal books, whatever the requests are', () =>
    withPair(async (pair) => {
      const day = fc.integer({ min: 1, max: 28 }).map((number) => `2026-01-${String(number).padStart(2, '0')}`);
      const [gifts] = fc.sample(fc.array(fc.record({ depositDate: day, cents: fc.nat(), memo: fc.string({ unit: 'grapheme' }) })), {
        numRuns: 1,
      });
      for (const fields of gifts!) {
        const one = gift({ ...fields });
        for (const service of [pair.old, pair.now]) service.gifts.push(one);
      }
      const request = fc.record({ from: day, to: day, pending: fc.constantFrom('', '&include_pending=true', '&include_pending=false') });
      const requests = fc.sample(request, 500 * tries(1));
      const lines = requests.map(({ from, to, pending }) =>
        JSON.stringify({
          method: 'GET',
          path: `/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=${from}&end_date=${to}${pending}`,
        }),
      );
      pair.now.form = 'gzip';
      const { status, verdict } = await compare(pair, '--requests', await write('random.ndjson', lines.join('\n')));
      expect([status, verdict.counts.equal]).toEqual([0, new Set(lines).size]);
    }));
});
