import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { failed, runCommand, runProcess, startCommand } from '../support/command';
import { day, gift, OLD_COOKIE, OLD_PROVISION, sourceOf, type OldService } from '../support/old-service';
import { openSyncs } from '../support/syncs';
import { until } from '../support/until';

const syncs = openSyncs();
const { booksOf, statusOf, syncAny: sync, versionsOf, withService, words, writeSecret } = syncs;
const SINCE = day(-100);
const containing = (text: string): unknown => expect.stringContaining(text);
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** Notes the first dates that the service is asked for. */
function noteAsked(service: OldService): string[] {
  const asked: string[] = [];
  service.onRequest = (query) => void asked.push(query.get('start_date')!);
  return asked;
}

/** Lets the weekly reading of the whole history be due, and its last failure be old. */
const passWeek = (): Promise<unknown> =>
  syncs.files.query(`UPDATE sync_state SET last_full_at = now() - interval '8 days', full_tried_at = full_tried_at - interval '7 hours'`);

describe('an operator whose old service was away or broken', () => {
  test('is told that the whole history cannot be read, although the window can', () =>
    withService(async (service, organization) => {
      service.gifts.push(gift({ depositDate: day(-95) }), gift());
      expect(await sync(organization, service, '--since', SINCE)).toMatchObject({ status: 0 });
      await passWeek();
      service.edit = (body, query) => (query.get('end_date')! < day(-60) ? body.replace('"zip":"",', '') : body);
      expect(await sync(organization, service)).toMatchObject({ status: 1, stderr: containing('zip is missing') });
      service.gifts.push(gift());
      const asked = noteAsked(service);
      expect(await sync(organization, service)).toMatchObject({ status: 0 });
      expect(asked[0]! > SINCE).toBe(true);
      expect(await statusOf(organization)).toMatchObject({ failure: null, fullFailure: containing('zip is missing') });
      const { stdout } = await runCommand(syncs.files.environment, ['sync', 'status', '--organization', organization]);
      expect(stdout).toMatch(/Reading the whole history: .*zip is missing/);
      // Who wants all of it read is not given the window in its place.
      expect(await sync(organization, service, '--full', 'always')).toMatchObject({ status: 1 });
      // Who wants none of it read is told of it no more.
      expect(await sync(organization, service, '--full', 'never')).toMatchObject({ status: 0 });
      expect((await statusOf(organization)).fullFailure).toBeNull();
      service.edit = (body) => body;
      service.onRequest = (query) => void (query.get('end_date')! < day(-60) && service.gifts[0]!.cents++);
      expect(await sync(organization, service, '--full', 'always')).toMatchObject({ status: 1 });
      expect((await statusOf(organization)).fullFailure).toMatch(/^The source did not stop changing/);
      service.onRequest = () => undefined;
      await passWeek();
      expect(await sync(organization, service)).toMatchObject({ status: 0 });
      expect((await statusOf(organization)).fullFailure).toBeNull();
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));

  test('has no day unread after an outage that was longer than the window', () =>
    withService(async (service, organization) => {
      expect(await sync(organization, service, '--since', SINCE)).toMatchObject({ status: 0 });
      await syncs.files.query(`UPDATE sync_state SET last_success_at = now() - interval '60 days'`);
      const asked = noteAsked(service);
      expect(await sync(organization, service, '--full', 'never', '--window', '10d')).toMatchObject({ status: 0 });
      expect(asked[0]).toBe(day(-70));
    }));

  test.each([
    ['an error', '"errors":[{"error":"The data source is away"}]'],
    ['a mark of its end', '"truncated":true'],
  ])('is refused an answer that has %s beside its lines', (_what, member) =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      service.edit = (body) => `${body.slice(0, -1)},${member}}`;
      const { status, stderr } = await sync(organization, service, '--since', day(-20), '--timeout', '5s');
      expect([status, stderr]).toEqual([1, 'The answer is not a v2 answer in JSON: it has more than the array "response"\n']);
      expect(await versionsOf(organization)).toEqual([]);
    }),
  );

  test.each([`Unknown provision ${OLD_PROVISION}`, 'bad\0thing', 'Ada Lovelace owes 10.50'])(
    'is told the status of an error, and not its text %j',
    (text) =>
      withService(async (service, organization) => {
        service.needsCookie = true;
        service.errorText = () => text;
        expect(await sync(organization, service, '--since', day(-20))).toEqual(failed('The answer is 422'));
        expect(await statusOf(organization)).toMatchObject({ failure: 'The answer is 422', failures: 1 });
      }),
  );

  test('waits for the end of a maintenance that a packed answer tells of', () =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      service.packsErrors = true;
      service.plan.push('maintenance');
      expect(await sync(organization, service, '--since', day(-20))).toMatchObject({ status: 0 });
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));

  test.each([
    ['503', 'The answer is 503'],
    ['422', 'The answer is 422'],
  ])('is told the status %s of an answer whose body cannot be unpacked', (status, failure) =>
    withService(async (service, organization) => {
      service.breaksErrors = Number(status);
      expect(await sync(organization, service, '--since', day(-20))).toEqual(failed(failure));
    }),
  );

  test('may give the credentials through pipes', () =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      const pipe = await writeSecret('pipe', '');
      await rm(pipe);
      execFileSync('mkfifo', ['-m', '600', pipe]);
      const [, ...others] = words(organization, service);
      const run = runProcess(syncs.environment, [
        'sync',
        ...others.map((word) => (word.endsWith('provision') ? pipe : word)),
        '--since',
        day(-20),
      ]);
      await writeFile(pipe, OLD_PROVISION);
      expect(await run).toMatchObject({ status: 0 });
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));

  test('goes on with a login that was renewed meanwhile', () =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      service.needsCookie = true;
      const cookies = await writeSecret('renewed', 'session=ended');
      const options = ['--since', day(-20), '--every', '1s', '--cookie-file', cookies];
      const child = startCommand(syncs.environment, words(organization, service, ...options));
      const closed = once(child, 'close');
      await until(async () => (await statusOf(organization).catch(() => undefined))?.failure === 'The answer is 422: Not logged in');
      await writeFile(cookies, '# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t1\tsession\tended\n');
      await until(async () => (await statusOf(organization)).failure === `${cookies} has no cookie for http://127.0.0.1`);
      await writeFile(cookies, OLD_COOKIE);
      await until(async () => (await versionsOf(organization)).length > 0);
      child.kill('SIGTERM');
      await closed;
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));

  test('is told by a sync whose place another one has taken, which notes nothing more', () =>
    withService(async (service, organization) => {
      service.onRequest = () =>
        void syncs.files.query(`UPDATE sync_state SET holder = 'another', held_until = now() + interval '1 minute'`).catch(() => undefined);
      const { status, stderr } = await sync(organization, service, '--since', SINCE);
      expect([status, stderr]).toEqual([1, 'Another sync of the organization has run: this one changes nothing more\n']);
      expect(await statusOf(organization)).toMatchObject({ readThrough: null, lastFullAt: null, failures: 0, isHeld: true });
    }));

  test('may set how many lines a first run removes as a whole', () =>
    withService(async (service, organization) => {
      // More lines than are imported at a time.
      service.gifts.push(...Array.from({ length: 20_002 }, () => gift({ depositDate: day(-95) })), ...[1, 2, 3].map(() => gift()));
      expect(await sync(organization, service, '--since', SINCE)).toMatchObject({ status: 0 });
      service.gifts.splice(0, 2);
      service.gifts.splice(-2);
      expect(await sync(organization, service, '--since', day(-101), '--max-removed', '3')).toMatchObject({
        ...{ status: 1, stderr: matching(/the source lacks 2 lines .* at most 1 may be removed \(--max-removed\)\n$/) },
      });
    }));
});
