import { createOrganization, withGateway } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { EVERYTHING, fillReport } from '../support/long-report';

test('a gateway that is told to stop lets a report finish that is being read', async () => {
  await withGateway({}, async (gateway) => {
    const { id, apiProvision } = await createOrganization(gateway.services);
    await fillReport(gateway.database.client, id, 2500, `repeat('m', 2500)`);
    const response = await ask(gateway.url + EVERYTHING, { headers: { Provision: apiProvision } });
    const stopped = gateway.stop();
    const { body, complete } = await readAll(response);
    expect([complete, body.subarray(-2).toString()]).toEqual([true, ']}']);
    expect(body.length).toBeGreaterThan(5_000_000);
    await stopped;
  });
});
