import { asServing } from '../support/database';
import { viaRest } from '../support/doors';
import { startGateway, type TestGateway } from '../support/gateway';
import { REPLICATED } from '../support/replicated-database';
import { donorAt, read, READINGS, startReplicatedGateway, type ReplicatedGateway } from '../support/replicated-gateway';
import { startServerSwitch, type ServerSwitch } from '../support/server-switch';
import { until } from '../support/until';

const REPORT = READINGS['a v2 report'];
const TOTALS = READINGS['totals and a digest'];

describe('an address that leads to another server', () => {
  let first: ReplicatedGateway;
  let address: ServerSwitch;
  beforeAll(async () => {
    first = await startReplicatedGateway(
      {},
      {
        front: async (url) => {
          address = await startServerSwitch(url);
          return address.url;
        },
      },
    );
  });
  afterAll(async () => {
    await first.stop();
    await address.close();
  });
  const askFirst = () => read(first.gateway.url, first.organization.apiProvision, REPORT);

  test('of a replica that is behind the one before gives no older answer', async () => {
    const behind = await first.database.follow();
    await behind.pause();
    const version = await first.turn();
    await first.replica.catchUp();
    expect((await askFirst()).version).toBe(version);
    // The gateway knows that the replica has the version. The server that answers now does not.
    address.moveTo(asServing(behind.url), true);
    // Totals begin a snapshot. No failure is logged that operators would look into.
    const totals = await read(first.gateway.url, first.organization.apiProvision, TOTALS);
    expect([totals.status, totals.version, totals.body.includes('errors')]).toEqual([200, version, false]);
    expect(first.gateway.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
    for (let n = 0; n < 10; n++) {
      const { status, version: seen, body } = await askFirst();
      expect([status, seen, body.includes(donorAt(version))]).toEqual([200, version, true]);
    }
    await behind.resume();
  });

  test('of the primary is let in by no standby, which may not know yet who was locked out, and again once it leads to the primary', async () => {
    const primary = await startServerSwitch(first.replica.url);
    const moved = await startGateway({ ...REPLICATED, DATABASE_URL: primary.url });
    try {
      await first.replica.catchUp();
      // The check reads nothing but who the caller is.
      const check = () => viaRest(moved.url, 'system', { provision: first.organization.apiProvision });
      for (let n = 0; n < 5; n++) expect(await check()).toBe('No connection to data source');
      expect(await readAs(moved)).toMatchObject({ status: 500, body: expect.stringContaining('No connection to data source') as string });
      const ready = await fetch(`${moved.url}/ready`);
      expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('leads to a standby')]);
      // The connections to the standby are not cut.
      primary.moveTo(first.database.url, false);
      await until(async () => (await readAs(moved)).status === 200);
    } finally {
      await moved.stop();
      await primary.close();
    }
  });

  const readAs = ({ url }: TestGateway) => read(url, first.organization.apiProvision, REPORT);
});
