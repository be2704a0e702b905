import { createOrganization, withGateway, type TestOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { sha256 } from '../support/export-reader';
import { EVERYTHING, fillReport } from '../support/long-report';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
const FILE = '/export/deposit-details.csv?start_date=2020-01-01&end_date=2029-12-31';

/** An organization with 1,500 lines of this many bytes. */
async function organizationWith(bytes: number): Promise<TestOrganization> {
  const own = await createOrganization(gateway.services);
  await fillReport(gateway.database.client, own.id, 1500, `repeat('x', ${bytes})`);
  return own;
}

describe('a file with its totals before it', () => {
  test('keeps no other report waiting while its reader does not read, as often as readers leave', async () => {
    // Two such files fit into the memory for rows, and none of three readers takes all of its file.
    const own = await organizationWith(9000);
    // Every file reads its totals again.
    const settings = {
      DATABASE_URL: gateway.database.url,
      REPORT_CONCURRENCY: '1',
      REPORT_QUEUE_SECONDS: '1',
      BOOK_MEMORY_MEGABYTES: '0',
    };
    await withGateway(settings, async ({ url }) => {
      const headers = { Provision: own.apiProvision };
      for (let reader = 0; reader < 3; reader++) {
        const file = await ask(`${url}${FILE}&totals=headers`, { headers });
        expect(file.headers).toMatchObject({ 'x-export-lines': '1500' });
        const report = await ask(url + EVERYTHING, { headers });
        expect([report.statusCode, (await readAll(report)).complete]).toEqual([200, true]);
        file.destroy();
      }
    });
  });

  test('is the same when it is too long to be kept in memory', async () => {
    const own = await organizationWith(30_000);
    const headers = { Provision: own.apiProvision };
    const [before, after] = [await ask(`${gateway.url}${FILE}&totals=headers`, { headers }), await ask(gateway.url + FILE, { headers })];
    const [first, second] = await Promise.all([readAll(before), readAll(after)]);
    expect([first.complete, first.body.length, sha256(first.body)]).toEqual([true, second.body.length, sha256(second.body)]);
    expect(before.trailers).toEqual(after.trailers);
    expect(after.trailers).toMatchObject({ 'x-export-file-sha256': sha256(first.body) });
  });
});
