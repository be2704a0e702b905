import { succeed } from '../support/command';
import { day, gift, type OldService } from '../support/old-service';
import { openSyncs } from '../support/syncs';

const syncs = openSyncs();
const { booksOf, syncAny: sync, versionsOf, withService } = syncs;
const NOTHING = 'Nothing has changed: there is no new data version';

const erase = (organization: string, donor: number) =>
  succeed(syncs.files.environment, ['donor', 'erase', '--organization', organization, '--donor', String(donor), '--reason', 'Request 12']);

/** Fills the books from a service that has gifts of two donors. */
async function begin(service: OldService, organization: string): Promise<void> {
  service.donors.set(1, 'Lovelace').set(2, 'King');
  service.gifts.push(
    gift({ donor: 1, memo: 'from mother' }),
    gift({ donor: 1, isPending: true, memo: 'from mother' }),
    gift({ donor: 2, memo: 'from father', depositDate: day(-40) }),
  );
  expect(await sync(organization, service, '--since', day(-60))).toMatchObject({ status: 0, stderr: '' });
  expect((await booksOf(organization)).with.join()).toMatch(/Lovelace.*mother/);
}

describe('an operator who syncs after a donor was erased', () => {
  test('gets no version of a source that has not changed, and is told how many lines have texts of the donor', () =>
    withService(async (service, organization) => {
      await begin(service, organization);
      await erase(organization, 1);
      const before = await versionsOf(organization);
      const asked = service.requests;
      for (const options of [[], ['--full', 'always']]) {
        const { stdout } = await sync(organization, service, ...options);
        expect(stdout).toContain(`${NOTHING}\nErased again: 2 lines of 1 donor\n`);
      }
      expect(await versionsOf(organization)).toEqual(before);
      expect((await booksOf(organization)).with.join()).not.toMatch(/Lovelace|mother/);
      expect((await booksOf(organization)).with.join()).toMatch(/King.*father|father.*King/);
      // Each month of a round is read three times, and none again for an import.
      expect((service.requests - asked) % 3).toBe(0);
    }));

  test('gets what has changed in the source, without the texts of the donor', () =>
    withService(async (service, organization) => {
      await begin(service, organization);
      await erase(organization, 1);
      service.donors.set(1, 'Byron').set(2, 'Noel');
      service.gifts.push(gift({ donor: 1, memo: 'from mother' }));
      service.gifts[0]!.isPending = true;
      const { stdout } = await sync(organization, service, '--full', 'always');
      expect(stdout).toContain('1 lines added, 2 changed, 0 removed\nErased again: 3 lines of 1 donor\n');
      const { with: books } = await booksOf(organization);
      expect(books.join()).not.toMatch(/Lovelace|Byron|mother/);
      expect(books.join()).toContain('Noel');
      const rest = await sync(organization, service, '--full', 'always');
      expect(rest.stdout).toContain(`${NOTHING}\nErased again: 3 lines of 1 donor\n`);
    }));

  test('gets none of the texts of a donor who is erased while the source is read', () =>
    withService(async (service, organization) => {
      await begin(service, organization);
      service.gifts.push(gift({ donor: 1, memo: 'from mother' }));
      let erasure: Promise<unknown> | undefined;
      // The answer with pending deposits is the one that is imported.
      service.onRequest = (query) => {
        if (query.get('include_pending') === 'true') erasure ??= erase(organization, 1);
      };
      await sync(organization, service);
      await erasure;
      service.onRequest = () => undefined;
      expect((await sync(organization, service)).status).toBe(0);
      expect((await booksOf(organization)).with.join()).not.toMatch(/Lovelace|mother/);
      const before = await versionsOf(organization);
      expect((await sync(organization, service)).stdout).toContain(NOTHING);
      expect(await versionsOf(organization)).toEqual(before);
    }));
});
