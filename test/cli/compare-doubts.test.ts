import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { V2Source } from '../../src/source/v2-source';
import { misused, runCommand } from '../support/command';
import { ENVIRONMENT, fill, openComparisons } from '../support/comparisons';
import { OLD_PROVISION, OldService } from '../support/old-service';

const { compare, path, withPair, words, write } = openComparisons();
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const JANUARY_REPORT = `${REPORT}?start_date=2026-01-01&end_date=2026-01-31&include_pending=true`;
const ask = (...targets: string[]): Promise<string> =>
  write('asked.ndjson', targets.map((target) => JSON.stringify({ method: 'GET', path: target })).join('\n'));

type Line = Record<string, unknown>;
const onLines =
  (change: (lines: Line[]) => void) =>
  (body: string): string => {
    const answer = JSON.parse(body) as { response?: Line[] };
    if (answer.response) change(answer.response);
    return JSON.stringify(answer);
  };

describe('a comparison that could be misled', () => {
  test('calls reports that both services refuse not equal', () =>
    withPair(async (pair) => {
      fill(pair);
      for (const service of [pair.old, pair.now]) service.faultAt = () => '500';
      const { status, verdict } = await compare(pair, '--requests', await ask(JANUARY_REPORT));
      expect([status, verdict.questions[0]]).toMatchObject([
        3,
        { outcome: 'unreachable', reason: 'Both services refuse the report: 500 No connection to data source' },
      ]);
      // The services are there all the same, and are asked the other questions.
      const all = await compare(pair);
      expect([all.status, all.verdict.counts['not-asked'], all.verdict.counts.different]).toEqual([3, 0, 0]);
      // Parameters that are wrong are refused by right, and another text of the refusal is a difference.
      for (const service of [pair.old, pair.now]) service.faultAt = () => undefined;
      expect((await compare(pair, '--requests', await ask(`${REPORT}?start_date=x`))).status).toBe(0);
      pair.old.errorText = () => 'Invalid parameters';
      const other = await compare(pair, '--requests', await ask(`${REPORT}?start_date=x`));
      expect([other.status, other.verdict.classes.map(({ class: kind }) => kind)]).toEqual([1, ['error-text']]);
    }));

  test.each(['5', 'null', '"A"', '[]'])('finds %s in the place of a line', (element) =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.edit = (body) => body.replace(/\}\]\}$/, `},${element}]}`);
      const requests = await ask(JANUARY_REPORT, '/api/v2/authenticated_test_system');
      const { status, verdict } = await compare(pair, '--requests', requests);
      expect([status, verdict.classes.map(({ class: kind }) => kind), verdict.counts.equal]).toEqual([1, ['body'], 1]);
    }),
  );

  test('sees a new service that stops answering between its parts', () =>
    withPair(async (pair) => {
      fill(pair, 60_000);
      pair.now.edit = onLines((lines) => lines.reverse());
      let reports = 0;
      pair.now.onRequest = () => {
        if (++reports >= 2) pair.now.faultAt = () => '500';
      };
      const { status, verdict } = await compare(pair, '--requests', await ask(JANUARY_REPORT), '--accept', 'line-order');
      // It is asked from the start again, and refuses.
      expect([status, verdict.questions[0]]).toMatchObject([1, { outcome: 'different', classes: { status: 1 } }]);
    }));

  test.each([
    ['the old service', '"main_memo":"a\tb"', '"main_memo":"a"', [1, 'different', ['body']]],
    ['the new service', '"main_memo":"a"', '"main_memo":NaN', [1, 'different', ['body']]],
    ['both', '"main_memo":NaN', '"main_memo":NaN', [3, 'undecided', []]],
  ] as const)('finds a line of %s that is no JSON, however long the answers are', (_who, ofOld, ofNow, expected) =>
    withPair(async (pair) => {
      fill(pair, 5000);
      pair.old.edit = (body) => body.replace(/"main_memo":"[^,]*"/, ofOld);
      pair.now.edit = (body) => body.replace(/"main_memo":"[^,]*"/, ofNow);
      const begun = performance.now();
      const { status, verdict } = await compare(pair, '--requests', await ask(JANUARY_REPORT));
      expect([status, verdict.verdict, verdict.classes.map(({ class: kind }) => kind)]).toEqual(expected);
      // An answer that stands unread would hold the connection for two minutes.
      expect(performance.now() - begun).toBeLessThan(60_000);
    }),
  );

  test('finds very many differences in one line', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.old.edit = onLines((lines) => (lines[0]!.tags = Array<number>(200_000).fill(1)));
      pair.now.edit = onLines((lines) => (lines[0]!.tags = Array<number>(200_000).fill(2)));
      const { status, verdict } = await compare(pair, '--requests', await ask(JANUARY_REPORT));
      expect([status, verdict.classes[0]]).toMatchObject([1, { class: 'value', count: 200_000 }]);
    }));

  test('takes digits of a text for what they are', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.old.edit = onLines((lines) => (lines[0]!.phone = '555.1230'));
      pair.now.edit = onLines((lines) => (lines[0]!.phone = '555.123'));
      const { status, verdict } = await compare(pair, '--accept', 'zeros');
      expect([status, verdict.classes.map(({ class: kind }) => kind)]).toEqual([1, ['value']]);
    }));

  test('writes nothing of a donor or a login into the verdict', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.old.edit = onLines((lines) => (lines[0]!.amount = { donor: 'Lovelace' }));
      const asObject = await compare(pair, '--requests', await ask(JANUARY_REPORT));
      pair.old.edit = (body) => body;
      pair.old.errorText = () => 'Gift of Ada Lovelace, session=aVeryOldSession, is locked';
      pair.old.needsCookie = true;
      const cookie = await write('ended', 'session=aVeryNewSession');
      const asText = await compare(pair, '--requests', await ask(JANUARY_REPORT), '--old-cookie-file', cookie);
      expect([asObject.verdict.classes[0]!.class, asText.verdict.classes[0]!.class]).toEqual(['type', 'status']);
      for (const { stdout, stderr } of [asObject, asText]) expect(stdout + stderr).not.toMatch(/Lovelace|session=/);
    }));

  test('knows the page of a login by whichever mark it begins with', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.edit = () => '\uFEFF<!doctype html><title>Log in</title>';
      const { status, verdict } = await compare(pair, '--requests', await ask(JANUARY_REPORT), '--timeout', '5s');
      expect([status, verdict.questions[0]]).toMatchObject([3, { outcome: 'unreachable' }]);
    }));

  test('counts the requests of a log that it does not ask, and asks those behind any prefix', () =>
    withPair(async (pair) => {
      fill(pair);
      const requests = await ask('/app-1.0/~hope/api/v2/authenticated_test_system/?a=%2F#b', '/index.html', '/api/v2/other');
      const { status, verdict } = await compare(pair, '--requests', requests);
      expect([status, verdict.questions.length, verdict.leftOut]).toEqual([0, 1, 2]);
      const [, ...shown] = words(pair, '--requests', requests);
      expect((await runCommand(ENVIRONMENT, shown)).stdout).toContain('no GET requests of v2: 2 requests of the log\n');
    }));

  test('asks with the provision where a log has left all of them out', () =>
    withPair(async (pair) => {
      fill(pair);
      const line = (headers: object): string => JSON.stringify({ method: 'GET', path: JANUARY_REPORT, headers });
      const without = await compare(pair, '--requests', await write('stripped', line({ host: 'x' })));
      expect([without.status, without.verdict.questions.map(({ old }) => old?.lines)]).toEqual([0, [7]]);
      const some = await compare(pair, '--requests', await write('some', `${line({ host: 'x' })}\n${line({ provision: OLD_PROVISION })}`));
      expect(some.verdict.questions.map(({ old }) => old?.lines)).toEqual([undefined, 7]);
    }));

  test('keeps the results of questions that it is not asked', () =>
    withPair(async (pair) => {
      fill(pair);
      const file = path('years.json');
      const since = ['--verdict', file, '--since-verdict', file];
      await compare(pair, '--from', '2025-11-01', '--to', '2026-01-31', '--verdict', file);
      expect(await runCommand(ENVIRONMENT, words(pair, ...since).slice(1))).toEqual(
        misused(`${file} has results of other questions: name another file, or replace it with --force`),
      );
    }));
});

test('a request is given up in time, whatever memory is freed meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const free = runInNewContext('gc') as () => void;
  const service = await OldService.start();
  service.hangsAt = () => true;
  const source = new V2Source({
    ...{ url: new URL(service.url), provision: OLD_PROVISION, cookie: undefined },
    ...{ timeoutMs: 1000, signal: new AbortController().signal },
  });
  const timer = setInterval(free, 100);
  try {
    const lines = source.lines({ startDate: '2026-01-01', endDate: '2026-01-31', includePending: true });
    await expect(lines.next()).rejects.toThrow('The answer takes longer than 1 seconds');
  } finally {
    clearInterval(timer);
    source.close();
    await service.stop();
  }
}, 20_000);
