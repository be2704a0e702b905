import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { startCommand } from '../support/command';
import { day, gift, sourceOf } from '../support/old-service';
import { openSyncs } from '../support/syncs';
import { until } from '../support/until';

const KILLS = 20;
const MONTHS = 12;
const GIFTS_A_MONTH = 4000;
/** A first run reads its 14 months by about as many requests. A busy machine has made as few of them by any time. */
const REQUESTS = 45;
/** A quiet machine imports the lines of some months within this time. */
const IMPORT_MS = 1000;
const SINCE = day(-400);

const syncs = openSyncs();

/** A first run imports 20,000 lines at a time, so that this history takes three imports. */
test('a first run that is killed at 20 moments goes on, and no day is ever half in', () =>
  syncs.withService(async (service, first) => {
    for (let month = 0; month < MONTHS; month++)
      service.gifts.push(...Array.from({ length: GIFTS_A_MONTH }, () => gift({ depositDate: day(-30 * month - 3) })));
    let organization = first;
    let kills = 0;
    let days = 0;
    const found: number[] = [];
    while (kills < KILLS) {
      const child = startCommand(syncs.environment, syncs.words(organization, service, '--since', SINCE), 'ignore');
      const closed = once(child, 'close') as Promise<[number | null]>;
      const requests = service.requests + Math.random() * REQUESTS;
      await until(() => Promise.resolve(service.requests >= requests || child.exitCode !== null));
      await Promise.race([closed, setTimeout(Math.random() * IMPORT_MS)]);
      child.kill('SIGKILL');
      const [status] = await closed;
      // A minute passes.
      await syncs.files.query('UPDATE sync_state SET held_until = now()');
      const { rows } = await syncs.files.query<{ lines: number }>(
        `SELECT count(*)::int AS lines FROM deposit_line
           JOIN organization ON id = organization_id WHERE name = $1 GROUP BY deposit_date`,
        [organization],
      );
      expect(rows.filter(({ lines }) => lines !== GIFTS_A_MONTH)).toEqual([]);
      // What is in stays in.
      expect(rows.length).toBeGreaterThanOrEqual(days);
      days = rows.length;
      if (status === null) {
        kills++;
        found.push(days);
        continue;
      }
      expect(status).toBe(0);
      expect(await syncs.booksOf(organization)).toEqual(sourceOf(service));
      organization = await syncs.files.createOrganization();
      days = 0;
    }
    expect(new Set(found).size).toBeGreaterThan(1);
    expect(await syncs.sync(organization, service, '--since', SINCE)).toMatchObject({ status: 0 });
    expect(await syncs.booksOf(organization)).toEqual(sourceOf(service));
  }));
