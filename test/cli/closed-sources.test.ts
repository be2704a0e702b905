import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inDirectory } from '../support/backed-up-gateway';
import { runCommand, startCommand, succeed } from '../support/command';
import { day, gift } from '../support/old-service';
import { openSyncs } from '../support/syncs';
import { until } from '../support/until';

const syncs = openSyncs();
const { booksOf, statusOf, sync, versionsOf, withService, words } = syncs;

const close = (organization: string, through = day(-5)) =>
  succeed(syncs.files.environment, ['period', 'close', '--organization', organization, '--through', through]);

describe('an operator whose old service changes closed months', () => {
  test('is told by the round, its state and its count of failures, and nothing of the round is imported', () =>
    withService(async (service, organization) => {
      const old = gift({ depositDate: day(-10) });
      service.gifts.push(old);
      expect(await sync(organization, service, '--since', day(-60))).toMatchObject({ status: 0 });
      await close(organization);
      const before = await booksOf(organization);
      // New names come in.
      service.donors.set(old.donor, 'King');
      expect(await sync(organization, service)).toMatchObject({ status: 0 });
      const renamed = await booksOf(organization);
      expect(renamed).not.toEqual(before);
      old.cents += 10_000;
      service.gifts.push(gift());
      const fault = expect.stringMatching(
        /^The months are closed: the books are closed through [-0-9]{10}, and 1 line of closed dates would change by \+100\.00 \([-0-9]{7}: 1 line, \+100\.00\); --late accept lets them in as late\n?$/,
      ) as string;
      expect(await sync(organization, service)).toEqual({ status: 1, stdout: '', stderr: fault });
      expect([await booksOf(organization), await statusOf(organization)]).toEqual([
        renamed,
        expect.objectContaining({ failure: fault, failures: 1 }),
      ]);
      const accepted = await sync(organization, service, '--late', 'accept');
      expect(accepted).toMatchObject({ status: 0, stdout: expect.stringContaining('and 1 line of closed dates changed:') as string });
      expect(await statusOf(organization)).toMatchObject({ failure: null, failures: 1 });
      expect((await versionsOf(organization)).map(({ cause }) => cause)).toEqual(['sync', 'close', 'sync', 'sync']);
    }));

  test('is told by the log, once for each round that comes at its time', () =>
    withService(async (service, organization) => {
      const old = gift({ depositDate: day(-10) });
      service.gifts.push(old);
      expect(await sync(organization, service, '--since', day(-60))).toMatchObject({ status: 0 });
      await close(organization);
      old.cents += 10_000;
      const child = startCommand({ ...syncs.environment, LOG_LEVEL: 'error' }, words(organization, service, '--every', '1h'));
      let log = '';
      for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (text: Buffer) => (log += text.toString()));
      await until(() => Promise.resolve(log.includes('round failed')));
      expect(log).toMatch(/"reason":"The months are closed: the books are closed through .*, \+100\.00\)/);
      const { requests } = service;
      child.kill('SIGTERM');
      await until(() => Promise.resolve(child.exitCode !== null));
      expect([service.requests, log.match(/round failed/g)]).toEqual([requests, ['round failed']]);
    }));
});

test('an operator restores a backup with its closes, which go on keeping their months', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-closes-'));
  try {
    await withService(async (service, organization) => {
      const { environment } = syncs.files;
      const period = ['--organization', organization, '--through', day(-5)];
      service.gifts.push(gift({ depositDate: day(-10) }));
      await sync(organization, service, '--since', day(-60));
      await close(organization, day(-9));
      await close(organization);
      await succeed(environment, ['period', 'reopen', ...period, '--reason', 'A deposit was missing']);
      await close(organization);
      const backup = join(directory, 'backup.tar.gz');
      await succeed(environment, ['backup', backup]);
      const copy = inDirectory(join(directory, 'copy'));
      await succeed(copy, ['restore', backup]);
      const list = ['--json', 'period', 'list', '--organization', organization];
      const closes = await succeed(environment, list);
      expect((JSON.parse(closes) as { through: string; months: object[] }[]).map((each) => [each.through, each.months.length > 0])).toEqual(
        [
          [day(-5), true],
          [day(-5), true],
          [day(-9), true],
        ],
      );
      expect(await succeed(copy, list)).toBe(closes);
      expect(await runCommand(copy, ['period', 'close', ...period])).toMatchObject({
        stderr: `The months are closed: the books are closed through ${day(-5)} already\n`,
      });
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
