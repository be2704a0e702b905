import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { done, failed, misused, runCommand, startCommand } from '../support/command';
import { toNdjson } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { change, day, edits, faults, forms, gift, OLD_COOKIE, OLD_PROVISION, OldService, sourceOf } from '../support/old-service';
import { openSyncs } from '../support/syncs';
import { tries } from '../support/tries';
import { until } from '../support/until';

const TLS = join(__dirname, '../support/tls');

const syncs = openSyncs();
const { booksOf, statusOf, syncAny: sync, versionsOf, withService, words, writeSecret } = syncs;
const SINCE = day(-100);

const containing = (text: string): unknown => expect.stringContaining(text);
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

describe('an operator who syncs with the old service', () => {
  test('gets its whole history, and then what has changed as one version', () =>
    withService(async (service, organization) => {
      service.gifts.push(
        gift({ depositDate: day(-95) }),
        gift({ depositDate: day(-95), donor: 0 }),
        gift({
          depositDate: day(-40),
          shares: [
            { allocation: 'S1', fund: 1, memo: 'half' },
            { allocation: 'S2', fund: 2, memo: 'half' },
          ],
        }),
        gift({ isPending: true }),
        gift({ depositDate: day(20), isPending: true }),
      );
      const first = await sync(organization, service, '--since', SINCE);
      expect(first).toEqual({
        status: 0,
        stderr: '',
        stdout: matching(/^Read 6 lines from .*\nThe books are at data version \d: 6 lines added, 0 changed, 0 removed\n$/),
      });
      expect(await booksOf(organization)).toEqual(sourceOf(service));
      const before = (await versionsOf(organization)).length;
      expect(before).toBe(1);

      const asked = service.requests;
      const quiet = await sync(organization, service);
      expect(quiet).toMatchObject({ status: 0, stdout: containing('Nothing has changed: there is no new data version') });
      expect(await versionsOf(organization)).toHaveLength(before);
      // Each month of the window is read three times, and none again for an import.
      const months = new Set([-45, -30, -15, 0, 15, 31].map((days) => day(days).slice(0, 7)));
      expect(service.requests - asked).toBe(3 * months.size);

      // A gift moves from one month to another, one is posted, one is voided, and one is new.
      const [, , moved, pending, ahead] = service.gifts;
      Object.assign(moved!, { depositDate: day(-2), deposit: 'D-moved' });
      pending!.isPending = false;
      service.gifts.splice(service.gifts.indexOf(ahead!), 1);
      service.gifts.push(gift());
      expect(await sync(organization, service)).toMatchObject({ status: 0 });
      expect(await booksOf(organization)).toEqual(sourceOf(service));
      const versions = await versionsOf(organization);
      expect(versions).toHaveLength(before + 1);
      expect(new Set(versions.map(({ cause }) => cause))).toEqual(new Set(['sync']));
      expect(service.most).toBe(1);
    }));

  test.each(forms)('reads an answer that comes in the form %s', (form) =>
    withService(async (service, organization) => {
      service.form = form;
      service.gifts.push(...Array.from({ length: 50 }, () => gift()));
      expect(await sync(organization, service, '--since', day(-20))).toMatchObject({ status: 0, stderr: '' });
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }),
  );

  test.each(faults)('has the books whole after a service has failed by: %s', (fault) =>
    withService(async (service, organization) => {
      service.gifts.push(gift(), gift({ isPending: true }));
      // It fails once when the month is looked at, and once while it is imported.
      const failing = ['false', 'true'];
      service.faultAt = (query) => {
        const isOfGift = query.get('start_date')! <= day(-3) && query.get('end_date')! >= day(-3);
        if (!isOfGift || query.get('include_pending') !== failing[0]) return undefined;
        failing.shift();
        return fault;
      };
      expect(await sync(organization, service, '--since', day(-20))).toMatchObject({ status: 0, stderr: '' });
      expect(await booksOf(organization)).toEqual(sourceOf(service));
      expect(failing).toEqual([]);
    }),
  );

  test('keeps lines from before the first date of a first run that was killed after its last month', () =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      await syncs.files.import(organization, 'old.ndjson', toNdjson([v2Line({ deposit_date: day(-30) })]));
      expect(await sync(organization, service, '--since', day(-20))).toMatchObject({ status: 0 });
      const before = await booksOf(organization);
      await syncs.files.database.client.query(
        'UPDATE sync_state SET last_full_at = NULL, last_success_at = NULL WHERE organization_id = (SELECT id FROM organization WHERE name = $1)',
        [organization],
      );
      expect(await sync(organization, service)).toMatchObject({ status: 0, stdout: containing('Nothing has changed') });
      expect(await booksOf(organization)).toEqual(before);
    }));

  test('has the books as they were when the service changes while it is read, and is told so', () =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      expect(await sync(organization, service, '--since', day(-20))).toMatchObject({ status: 0 });
      const before = await booksOf(organization);
      service.onRequest = () => void service.gifts.push(gift());
      expect(await sync(organization, service)).toEqual({
        status: 1,
        stdout: containing('Left for the next round, because the source did not stop changing'),
        stderr: 'The source did not stop changing: run the command again\n',
      });
      expect(await booksOf(organization)).toEqual(before);
      service.onRequest = () => undefined;
      expect(await sync(organization, service)).toMatchObject({ status: 0 });
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));

  test('has the books as they were when the service changes after it was read and before it is imported', () =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      expect(await sync(organization, service, '--since', day(-20))).toMatchObject({ status: 0 });
      service.gifts.push(gift());
      // The answer with pending deposits is imported as it comes, and checked by the one after it.
      let changes = 0;
      service.onRequest = (query) => {
        const isOfGift = query.get('start_date')! <= day(-3) && query.get('end_date')! >= day(-3);
        if (query.get('include_pending') === 'true' && isOfGift && changes < 2) service.gifts.push(gift({ memo: `change ${++changes}` }));
      };
      expect(await sync(organization, service)).toMatchObject({ status: 0 });
      expect(changes).toBe(2);
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));

  const broken: readonly [string, (line: Record<string, unknown>) => void, string][] = [
    ['an amount that is none', (line) => (line.amount = '10'), 'amount must be an amount as text with two decimals'],
    ['a field too few', (line) => delete line.zip, 'zip is missing'],
    ['a number as text', (line) => (line.donor_id = '7'), 'donor_id must be a whole number'],
    ['a date of another month', (line) => (line.deposit_date = '1999-01-01'), 'deposit_date is outside of the range'],
  ];
  test.each(broken)('is refused lines with %s, and nothing changes', (_what, spoil, reason) =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      const lines = service.lines.bind(service);
      service.lines = (...range) => {
        const all = lines(...range);
        all.forEach(spoil);
        return all;
      };
      expect(await sync(organization, service, '--since', day(-20))).toEqual({
        status: 1,
        stdout: '',
        stderr: containing(reason),
      });
      expect(await versionsOf(organization)).toEqual([]);
    }),
  );

  test('is refused facts that contradict each other, or takes the last of them', () =>
    withService(async (service, organization) => {
      service.gifts.push(
        gift({ transaction: 'T-same', deposit: 'D-same', donor: 3 }),
        gift({ transaction: 'T-same', deposit: 'D-same', donor: 3, cents: 5 }),
      );
      const result = await sync(organization, service, '--since', day(-20));
      expect(result).toEqual({
        status: 1,
        stdout: '',
        stderr: matching(
          /Nothing was imported: \d faults?\n.* to .*, line 2: amount differs from .* to .*, line 1, which has the same transaction_id/,
        ),
      });
      expect(await sync(organization, service, '--on-conflict', 'last')).toMatchObject({ status: 0 });
      const { with: lines } = await booksOf(organization);
      expect(lines.map((line) => (JSON.parse(line) as { amount: string }).amount)).toEqual(['0.05', '0.05']);
      const before = await versionsOf(organization);
      expect(await sync(organization, service, '--on-conflict', 'last')).toMatchObject({
        status: 0,
        stdout: containing('Nothing has changed'),
      });
      expect(await versionsOf(organization)).toEqual(before);
    }));

  test('is refused the removal of more lines than allowed', () =>
    withService(async (service, organization) => {
      service.gifts.push(...Array.from({ length: 30 }, () => gift()));
      expect(await sync(organization, service, '--since', day(-20))).toMatchObject({ status: 0 });
      const before = await booksOf(organization);
      service.gifts.length = 0;
      expect(await sync(organization, service, '--max-removed', '29')).toEqual({
        status: 1,
        stdout: '',
        stderr: matching(
          /^Nothing was imported: the source lacks 30 lines of the books, .*; at most 29 may be removed \(--max-removed\)\n$/,
        ),
      });
      expect(await booksOf(organization)).toEqual(before);
    }));

  test('logs in by a cookie, from a file of curl or of one line, and no other host gets it', () =>
    withService(async (service, organization) => {
      service.needsCookie = true;
      service.gifts.push(gift());
      const refused = await sync(organization, service, '--since', day(-20));
      expect(refused).toEqual({ status: 1, stdout: '', stderr: 'The answer is 422: Not logged in\n' });
      const [name, value] = OLD_COOKIE.split('=');
      const jar = await writeSecret(
        'jar',
        `# Netscape HTTP Cookie File\n\n#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\t${name}\t${value}\nother.example\tFALSE\t/\tFALSE\t0\tx\ty\n`,
      );
      expect(await sync(organization, service, '--cookie-file', jar)).toMatchObject({ status: 0 });
      const line = await writeSecret('cookie', `${OLD_COOKIE}\n`);
      expect(await sync(organization, service, '--cookie-file', line)).toMatchObject({ status: 0 });

      const other = await OldService.start();
      try {
        service.redirect = `${other.url}/`;
        const result = await sync(organization, service, '--cookie-file', line);
        expect(result).toEqual({ status: 1, stdout: '', stderr: `A redirect leads to ${other.url}, which does not get the credentials\n` });
        expect(other.requests).toBe(0);
      } finally {
        await other.stop();
      }
    }));

  test('is refused a file of credentials that others may read, and none at all', () =>
    withService(async (service, organization) => {
      const open = await writeSecret('open', OLD_PROVISION);
      await chmod(open, 0o644);
      const from = ['sync', '--organization', organization, '--from', service.url];
      expect(await runCommand(syncs.environment, [...from, '--provision-file', open])).toMatchObject({
        status: 1,
        stderr: containing('chmod o='),
      });
      expect(await runCommand(syncs.environment, from)).toMatchObject({ status: 2, stderr: containing('SOURCE_PROVISION') });
      expect(await runCommand({ ...syncs.environment, SOURCE_PROVISION: OLD_PROVISION }, [...from, '--since', day(-20)])).toMatchObject({
        status: 0,
      });
      const at = (address: string): string[] => ['sync', '--organization', organization, '--from', address, '--provision-file', open];
      expect(await runCommand(syncs.environment, at('http://user:secret@127.0.0.1'))).toEqual(
        misused('--from must not have credentials: --provision-file has them'),
      );
      expect(await runCommand(syncs.environment, at('old.example.org'))).toEqual(
        misused('--from: expected an address such as https://service.example.org'),
      );
    }));

  test('trusts a certificate of its own authority, and no unknown one', async () => {
    const service = await OldService.start({ key: readFileSync(join(TLS, 'server.key')), cert: readFileSync(join(TLS, 'server.pem')) });
    try {
      const organization = await syncs.files.createOrganization();
      service.gifts.push(gift());
      service.url = service.url.replace('127.0.0.1', 'localhost');
      expect(await sync(organization, service, '--since', day(-20))).toMatchObject({
        status: 1,
        stderr: containing('The certificate is not trusted'),
      });
      expect(await sync(organization, service, '--ca-file', join(TLS, 'authority.pem'))).toMatchObject({ status: 0 });
    } finally {
      await service.stop();
    }
  });

  test('is refused a second sync of the organization, and a killed one goes on at the month that is not in', () =>
    withService(async (service, organization) => {
      // So many lines are imported at a time.
      service.gifts.push(...Array.from({ length: 20_000 }, () => gift({ depositDate: day(-95) })), gift({ depositDate: day(-60) }), gift());
      service.hangsAt = (query) => query.get('start_date')! > day(-70);
      const child = startCommand(syncs.environment, words(organization, service, '--max-removed', '1000', '--since', SINCE));
      // The first lines are in, and noted as read.
      const noted =
        'SELECT FROM sync_state WHERE read_through IS NOT NULL AND organization_id = (SELECT id FROM organization WHERE name = $1)';
      await until(async () => (await syncs.files.query(noted, [organization])).rowCount === 1);
      expect(await sync(organization, service)).toEqual({
        status: 1,
        stdout: '',
        stderr: 'Another sync of the organization runs, or was killed within the last minute\n',
      });
      child.kill('SIGKILL');
      const asked: string[] = [];
      service.hangsAt = (query) => {
        asked.push(query.get('start_date')!);
        return false;
      };
      // A minute passes.
      await syncs.files.query('UPDATE sync_state SET held_until = now()');
      expect(await sync(organization, service)).toMatchObject({ status: 0 });
      expect(asked[0]! > SINCE).toBe(true);
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));

  test('follows the service until a signal, through its failures, and is told how it stands', () =>
    withService(async (service, organization) => {
      service.gifts.push(gift());
      const child = startCommand(
        syncs.environment,
        words(organization, service, '--max-removed', '1000', '--since', day(-20), '--every', '1s'),
      );
      const closed = once(child, 'close') as Promise<[number | null]>;
      const follows = async (): Promise<boolean> => JSON.stringify(await booksOf(organization)) === JSON.stringify(sourceOf(service));
      await until(follows);
      // The round that meets it fails, and a later one has the gift.
      service.redirect = 'http://elsewhere.example/';
      const failing = async (): Promise<unknown> => (await statusOf(organization)).failure;
      await until(async () => (await failing()) === 'A redirect leads to http://elsewhere.example, which does not get the credentials');
      service.redirect = undefined;
      service.gifts.push(gift({ isPending: true }));
      await until(follows);
      expect(await runCommand(syncs.files.environment, ['sync', 'end', '--organization', organization])).toEqual(
        failed('The organization follows no old service, or a sync of it runs'),
      );
      await until(async () => (await statusOf(organization)).linesChanged === 2);
      expect(await statusOf(organization)).toMatchObject({ since: day(-20), isHeld: true });
      child.kill('SIGTERM');
      expect((await closed)[0]).toBe(0);
      expect(await statusOf(organization)).toMatchObject({ isHeld: false, failure: null });
      const { stdout } = await runCommand(syncs.files.environment, ['sync', 'status']);
      expect(stdout).toMatch(new RegExp(`^${organization} +${day(-20)} +all .* 2 +no$`, 'm'));
      expect(await runCommand(syncs.files.environment, ['sync', 'end', '--organization', organization])).toEqual(
        done(`${organization} follows no old service any more`),
      );
      expect(await runCommand(syncs.files.environment, ['sync', 'status', '--organization', organization])).toEqual(
        failed(`${organization} follows no old service`),
      );
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));

  test('has books equal to the source after each round of days in which it edits, voids, moves, re-keys and fails', async () => {
    const anyDay = fc.record({
      edits: fc.array(fc.tuple(fc.nat(), fc.constantFrom(...edits)), {
        minLength: 1,
        maxLength: 8,
      }),
      plan: fc.array(fc.option(fc.constantFrom(...faults), { nil: undefined, freq: 3 }), { maxLength: 2 }),
      form: fc.constantFrom(...forms),
      seed: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyDay, { minLength: 3, maxLength: 6 }), (days) =>
        withService(async (service, organization) => {
          service.gifts.push(...Array.from({ length: 12 }, (_none, n) => gift({ depositDate: day(-2 * n) })));
          expect(await sync(organization, service, '--since', day(-60))).toMatchObject({ status: 0 });
          for (const { edits, plan, form } of days) {
            for (const [which, edit] of edits) change(service, which, edit);
            service.form = form;
            service.plan.splice(0, service.plan.length, ...plan);
            expect(await sync(organization, service)).toMatchObject({ status: 0, stderr: '' });
            expect(await booksOf(organization)).toEqual(sourceOf(service));
          }
          expect(await runCommand(syncs.files.environment, ['check', '--organization', organization])).toMatchObject({ status: 0 });
        }),
      ),
      { numRuns: tries(2) },
    );
  });
});
