import { day, gift, sourceOf } from '../support/old-service';
import { openSyncs } from '../support/syncs';

const { booksOf, statusOf, sync, syncAny, versionsOf, withService } = openSyncs();

/** Gifts of one donor in two months, whose name is another one in the lines of each. */
const earlier = () => gift({ depositDate: day(-70), donor: 7, donorName: 'Old' });
const later = () => gift({ depositDate: day(-3), donor: 7, donorName: 'New' });

describe('an operator whose old service contradicts itself from one month to another', () => {
  test('is refused both months, whichever of them has changed', () =>
    withService(async (service, organization) => {
      service.gifts.push(earlier());
      expect(await sync(organization, service, '--since', day(-90), '--window', '80d')).toMatchObject({ status: 0 });
      const before = await booksOf(organization);
      service.gifts.push(later());
      for (let round = 0; round < 2; round++) {
        expect(await sync(organization, service, '--window', '80d')).toEqual({
          status: 1,
          stdout: '',
          stderr: expect.stringContaining('donor_last_name differs from') as unknown,
        });
        expect(await booksOf(organization)).toEqual(before);
      }
      expect(await statusOf(organization)).toMatchObject({ failures: 2, linesChanged: 1 });
    }));

  test('may have the last line right, and has books that no longer change', () =>
    withService(async (service, organization) => {
      service.gifts.push(earlier());
      expect(await sync(organization, service, '--since', day(-90), '--window', '80d')).toMatchObject({ status: 0 });
      service.gifts.push(later());
      const last = ['--window', '80d', '--on-conflict', 'last'];
      expect(await sync(organization, service, ...last)).toMatchObject({ status: 0 });
      const { with: lines } = await booksOf(organization);
      expect(lines.map((line) => (JSON.parse(line) as { donor_last_name: string }).donor_last_name)).toEqual(['New', 'New']);
      const versions = await versionsOf(organization);
      for (let round = 0; round < 2; round++) expect(await sync(organization, service, ...last)).toMatchObject({ status: 0 });
      expect(await versionsOf(organization)).toEqual(versions);
    }));
});

describe('an operator whose old service loses lines', () => {
  test('is refused a month without lines, though another month has some', () =>
    withService(async (service, organization) => {
      const old = [gift({ depositDate: day(-40) }), gift({ depositDate: day(-40) })];
      service.gifts.push(...old, gift());
      expect(await sync(organization, service, '--since', day(-60))).toMatchObject({ status: 0 });
      const before = await booksOf(organization);
      service.gifts.splice(0, old.length, gift());
      expect(await sync(organization, service)).toEqual({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^Nothing was imported: the source lacks 2 lines of the books, .*; at most 0 may be removed/,
        ) as unknown,
      });
      expect(await booksOf(organization)).toEqual(before);
      expect(await syncAny(organization, service)).toMatchObject({ status: 0 });
      expect(await booksOf(organization)).toEqual(sourceOf(service));
    }));
});

test.each([
  ['a history that begins tomorrow', ['--since', day(1)], 1, '--since must be a date from 1900-01-01 to today'],
  ['a history of the first century', ['--since', '0050-01-01'], 1, '--since must be a date from 1900-01-01 to today'],
  ['no history', [], 1, 'The first run needs --since'],
  ['a time that no timer has', ['--since', day(-9), '--every', '25d'], 2, 'It must be at most 20d.'],
])('an operator who syncs with %s is told so, and leaves nothing behind', (_what, options, status, reason) =>
  withService(async (service, organization) => {
    expect(await sync(organization, service, ...options)).toMatchObject({ status, stderr: expect.stringContaining(reason) as unknown });
    expect(service.requests).toBe(0);
    expect(await statusOf(organization).catch(() => 'none')).toBe('none');
  }),
);
