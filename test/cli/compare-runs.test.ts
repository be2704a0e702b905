import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { importLines, login } from '../support/gateway';
import { misused, runCommand, startCommand } from '../support/command';
import { ENVIRONMENT, fill, openComparisons } from '../support/comparisons';
import { OLD_PROVISION, OldService } from '../support/old-service';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const { compare, path, readVerdict, withPair, words, write } = openComparisons();
const TLS = join(__dirname, '../support/tls');
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const JANUARY_REPORT = `${REPORT}?start_date=2026-01-01&end_date=2026-01-31&include_pending=true`;
const isJanuary = (query: URLSearchParams): boolean => query.get('end_date') === '2026-01-31' && query.get('include_pending') === 'true';

describe('a comparison', () => {
  test('calls nothing a difference that the old service has changed meanwhile', () =>
    withPair(async (pair) => {
      fill(pair);
      // The old service changes after each of its answers.
      pair.old.onRequest = (query) => void (isJanuary(query) && pair.old.gifts[0]!.cents++);
      const { status, stderr, verdict } = await compare(pair);
      expect([status, verdict.verdict, verdict.counts.moving, verdict.classes]).toEqual([3, 'undecided', 1, []]);
      expect(stderr).toContain('could not be decided');
      // It stops changing after its second answer, and differs from then on.
      let answers = 0;
      pair.old.onRequest = (query) => void (isJanuary(query) && ++answers === 2 && pair.old.gifts[0]!.cents++);
      const still = await compare(pair);
      expect([still.status, still.verdict.counts.moving, still.verdict.counts.different > 0]).toEqual([1, 0, true]);
    }));

  test('is undecided where a service gives no whole answer, and goes on from its verdict', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.redirect = 'https://elsewhere.example.org/';
      const verdictFile = path('unreachable.json');
      const first = await compare(pair, '--verdict', verdictFile);
      expect([first.status, first.verdict.verdict]).toEqual([3, 'undecided']);
      expect(first.verdict.questions[0]).toMatchObject({
        outcome: 'unreachable',
        reason: 'A redirect leads to https://elsewhere.example.org, which does not get the credentials',
      });
      // After three questions in turn without an answer, no other one is asked.
      expect(first.verdict.counts).toMatchObject({ unreachable: 3, 'not-asked': first.verdict.questions.length - 3 });
      pair.now.redirect = undefined;
      pair.now.faultAt = (query) => (isJanuary(query) ? 'login' : undefined);
      const second = await compare(pair, '--verdict', verdictFile, '--since-verdict', verdictFile);
      expect(second.verdict.counts).toMatchObject({ equal: second.verdict.questions.length - 1, unreachable: 1 });
      pair.now.faultAt = () => undefined;
      const before = pair.now.requests;
      const third = await compare(pair, '--verdict', verdictFile, '--since-verdict', verdictFile);
      expect([third.status, pair.now.requests - before]).toEqual([0, 1]);
      expect(await readVerdict('unreachable.json')).toEqual(third.verdict);
    }));

  test('is told that a service is under maintenance, and nothing else of its answer', () =>
    withPair(async (pair) => {
      pair.now.faultAt = () => 'maintenance';
      const requests = await write('one.ndjson', JSON.stringify({ method: 'GET', path: JANUARY_REPORT, headers: {} }));
      const { verdict } = await compare(pair, '--requests', requests, '--timeout', '20s');
      expect(verdict.questions[0]).toMatchObject({ outcome: 'unreachable', reason: 'The answer is 422: Under maintenance' });
    }));

  test('asks again after a failure that passes', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.old.plan.push('503', undefined);
      pair.now.plan.push(undefined, 'cut', undefined, '429');
      expect((await compare(pair)).status).toBe(0);
    }));

  test('holds no connection of a short answer that nobody has read', () =>
    withPair(async (pair) => {
      fill(pair, 2);
      pair.now.plan.push('503', '503', undefined);
      pair.old.keepsConnections();
      const requests = await write('short.ndjson', JSON.stringify({ method: 'GET', path: JANUARY_REPORT }));
      expect((await compare(pair, '--requests', requests, '--timeout', '60s')).verdict.counts).toMatchObject({ equal: 1 });
    }));

  test('trusts a certificate by the authority that is named for its service', () =>
    withPair(async (pair) => {
      fill(pair);
      const [key, cert] = ['server.key', 'server.pem'].map((name) => readFileSync(join(TLS, name)));
      const old = await OldService.start({ key: key!, cert: cert! });
      old.isSorted = true;
      old.url = old.url.replace('127.0.0.1', 'localhost');
      old.gifts.push(...pair.now.gifts);
      try {
        expect((await compare({ ...pair, old }, '--old-ca-file', join(TLS, 'authority.pem'))).status).toBe(0);
        const { status, verdict } = await compare({ ...pair, old });
        expect([status, verdict.questions[0]!.reason]).toEqual([3, expect.stringMatching(/^The certificate is not trusted: /)]);
      } finally {
        await old.stop();
      }
    }));

  test('goes on after it was killed', () =>
    withPair(async (pair) => {
      fill(pair);
      const file = path('killed.json');
      const [, ...run] = words(pair, '--rate', '4', '--from', '2000-01-01', '--to', '2026-12-31', '--verdict', file);
      const child = startCommand(ENVIRONMENT, run, 'ignore');
      await until(
        async () =>
          (await readVerdict('killed.json').catch(() => undefined))?.questions.some(({ outcome }) => outcome === 'equal') ?? false,
      );
      child.kill('SIGKILL');
      await once(child, 'exit');
      const left = (await readVerdict('killed.json')).counts['not-asked'];
      const before = pair.now.requests;
      const { status, verdict } = await compare(
        ...[pair, '--from', '2000-01-01', '--to', '2026-12-31', '--verdict', file, '--since-verdict', file],
      );
      expect([status, pair.now.requests - before]).toEqual([0, left]);
      expect(left).toBeLessThan(verdict.questions.length);
    }));

  test('keeps the verdict at a signal', () =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.hangsAt = isJanuary;
      const child = startCommand(ENVIRONMENT, words(pair, '--verdict', path('ended.json')), 'ignore');
      await until(async () => pair.old.requests > 0 && pair.now.requests >= pair.old.requests && (await isWaiting(pair.now)));
      child.kill('SIGTERM');
      expect((await once(child, 'exit'))[0]).toBe(3);
      const { counts } = await readVerdict('ended.json');
      expect(counts).toMatchObject({ 'not-asked': 1, unreachable: 0 });
      expect(counts.equal).toBeGreaterThan(10);
    }));

  test('matches many lines that differ, in constant memory', () =>
    withPair(async (pair) => {
      fill(pair, 60_000);
      pair.now.edit = (body) => JSON.stringify({ response: (JSON.parse(body) as { response: object[] }).response.reverse() });
      pair.now.gifts.splice(100, 1);
      const requests = await write('many.ndjson', JSON.stringify({ method: 'GET', path: JANUARY_REPORT }));
      const { verdict } = await compare(pair, '--requests', requests);
      const counts = new Map(verdict.classes.map(({ class: kind, count }) => [kind, count]));
      expect([...counts.keys()].sort()).toEqual(['line-missing', 'line-order']);
      expect(counts.get('line-missing')).toBe(1);
      // The old service is asked twice for each of four parts, and once before it was known that there are parts.
      expect(pair.old.requests).toBe(9);
    }));
});

/** True when the number of requests stays for a while. */
async function isWaiting(service: { readonly requests: number }): Promise<boolean> {
  const { requests } = service;
  await delay(500);
  return requests === service.requests;
}

describe('real traffic', () => {
  const log = [
    `127.0.0.1 - - [01/Nov/2026:00:00:00 +0000] "GET ${JANUARY_REPORT} HTTP/1.1" 200 100 "-" "curl"`,
    `127.0.0.1 - ada [01/Nov/2026:00:00:01 +0000] "GET ${JANUARY_REPORT} HTTP/1.1" 200 100 "-" "curl"`,
    `127.0.0.1 - - [01/Nov/2026:00:00:01 +0000] "POST /api/v2/authenticated_test_system HTTP/1.1" 405 10 "-" "curl"`,
    '127.0.0.1 - - [01/Nov/2026:00:00:02 +0000] "GET /favicon.ico HTTP/1.1" 404 10 "-" "curl"',
    '127.0.0.1 - - [01/Nov/2026:00:00:03 +0000] "GET /api/v2/authenticated_test_system?token=aSecret HTTP/2.0" 200 10',
    'no line of a log',
    // None of these is a request of the three paths, and none is sent anywhere with a provision.
    ...['/api/v2/../../admin/delete', '/api/v2/%2e%2e/admin', '/shop?back=/api/v2/zzz', '/api/v2/donors/ada@example.org'].map(
      (target) => `127.0.0.1 - - [01/Nov/2026:00:00:04 +0000] "GET ${target} HTTP/1.1" 404 10 "-" "scanner"`,
    ),
  ].join('\n');
  const headers = { Provision: 'aSecretProvision', Cookie: 'session=aSecret' };
  const asNdjson: readonly { method: string; path: string; headers: Readonly<Record<string, string>> }[] = [
    { method: 'GET', path: JANUARY_REPORT, headers },
    { method: 'get', path: '/api/v2/authenticated_test_session', headers: { provision: 'aSecretProvision' } },
    { method: 'GET', path: '/api/v2/authenticated_test_system', headers: {} },
    { method: 'DELETE', path: '/api/v2/authenticated_test_system', headers },
  ];
  const ndjson = asNdjson.map((request) => JSON.stringify(request)).join('\n');
  const har = JSON.stringify(
    {
      log: {
        entries: asNdjson.map(({ method, path: target, headers: sent }) => ({
          request: {
            ...{ method: method.toUpperCase(), url: `https://user:aSecret@old.example.org${target}` },
            headers: Object.entries(sent).map(([name, value]) => ({ name, value })),
          },
        })),
      },
    },
    null,
    2,
  );
  const report = JANUARY_REPORT.replace(/^.*\?/, 'report?');

  test.each([
    ['an access log', log, [report, 'authenticated_test_system?…']],
    ['NDJSON', ndjson, [report, 'authenticated_test_session', 'authenticated_test_system with no provision']],
    ['a HAR file', har, [report, 'authenticated_test_session', 'authenticated_test_system with no provision']],
  ])('is asked from %s, each request once and without its credentials', (name, content, asked) =>
    withPair(async (pair) => {
      fill(pair);
      pair.now.gifts.pop();
      const file = path(`${name}.json`);
      const { status, stdout, stderr, verdict } = await compare(pair, '--requests', await write(name, content), '--verdict', file);
      expect(verdict.questions.map(({ question }) => question)).toEqual(asked);
      expect([status, verdict.counts.different, pair.now.requests]).toEqual([1, 1, asked.length]);
      for (const text of [stdout, stderr, JSON.stringify(await readVerdict(`${name}.json`))]) {
        expect(text).not.toContain('aSecret');
        expect(text).not.toContain(OLD_PROVISION);
      }
    }),
  );

  test('is compared request by request where their names leave a secret out', () =>
    withPair(async (pair) => {
      pair.now.edit = (body, query) => (query.get('key') === '1' ? body.replace('System', 'Any') : body);
      const lines = [1, 2].map((key) => JSON.stringify({ method: 'GET', path: `/api/v2/authenticated_test_system?key=${key}` }));
      const { verdict } = await compare(pair, '--requests', await write('keys', `\uFEFF${lines.join('\n')}`));
      expect(verdict.counts).toMatchObject({ equal: 1, different: 1 });
      expect(verdict.questions.map(({ question }) => question)).toEqual(Array(2).fill('authenticated_test_system?…'));
    }));

  test('without a request of v2 is refused', () =>
    withPair(async (pair) => {
      const refuse = async (content: string): Promise<unknown> =>
        runCommand(ENVIRONMENT, words(pair, '--requests', await write('none', content)).slice(1));
      expect(await refuse('nothing\nat all')).toEqual(misused(`${path('none')} has no GET request of v2, and 2 others`));
      expect(await refuse('{\n"log": {}}')).toMatchObject({ status: 2 });
      expect(await refuse('{"log":{"entries":[null]}}')).toMatchObject({ status: 2 });
    }));
});

describe('the wrong use of compare', () => {
  const run = (...options: string[]): Promise<unknown> =>
    runCommand(ENVIRONMENT, ['compare', '--old-provision-file', path('provision'), '--new-provision-file', path('provision'), ...options]);
  const urls = ['--old', 'http://127.0.0.1:9', '--new', 'http://127.0.0.1:9'];

  test('is told in a sentence, with status 2 or 3', async () => {
    expect(await run(...urls)).toEqual(misused('--from and --to, or --requests, must say what to ask'));
    expect(await run(...urls, '--from', '2026-02-01', '--to', '2026-01-01')).toEqual(misused('--from is after --to'));
    expect(await run(...urls, '--from', '0001-01-01', '--to', '2026-01-01')).toMatchObject({ status: 2 });
    expect(await run(...urls, '--requests', path('none'), '--from', '2026-01-01')).toMatchObject({ status: 2 });
    expect(await run('--old', 'http://a:b@x', '--new', 'http://x', '--from', '2026-01-01', '--to', '2026-01-01')).toEqual(
      misused('--old must not have credentials: --old-provision-file has them'),
    );
    expect(await run(...urls, '--from', '2026-01-01', '--to', '2026-01-01', '--accept', 'value')).toMatchObject({ status: 2 });
    expect(await run(...urls, '--requests', path('missing'))).toMatchObject({ status: 3, stderr: `Cannot read ${path('missing')}\n` });
    const file = await write('precious', 'text');
    expect(await run(...urls, '--from', '2026-01-01', '--to', '2026-01-01', '--verdict', file)).toMatchObject({
      ...{ status: 3, stderr: `${file} is there already: --force replaces it\n` },
    });
    expect(await run(...urls, '--from', '2026-01-01', '--to', '2026-01-01', '--since-verdict', file)).toMatchObject({
      ...{ status: 3, stderr: `${file} is no verdict\n` },
    });
  });
});

describe('the gateway', () => {
  const gateway = openGateway();

  test('answers as an old service of the contract does', () =>
    withPair(async (pair) => {
      fill(pair);
      for (const each of pair.old.gifts) each.isPending = false;
      const { services, organization, url } = gateway;
      pair.old.needsCookie = true;
      await importLines(services, organization, pair.old.lines('2026-01-01', '2026-01-31', true));
      const cookie = await write('new-cookie', await login(url, organization.webProvision));
      const provision = await write('new-provision', organization.webProvision);
      const { verdict } = await compare(...[pair, '--new', url, '--new-provision-file', provision, '--new-cookie-file', cookie]);
      expect(verdict.classes).toEqual([]);
      expect(verdict.verdict).toBe('equal');
    }));
});
