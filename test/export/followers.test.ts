import { moveVersions } from '../support/books';
import { createExportReader } from '../support/export-reader';
import { Follower } from '../support/follower';
import { createOrganization, importLines, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway({ lines: [v2Line({ allocation_id: 'A1' })] });
const reader = createExportReader(gateway);
const { organization } = gateway;
const importLine = (id: string) =>
  importLines(gateway.services, organization, [v2Line({ allocation_id: id, transaction_id: `T${id}`, deposit_id: `D${id}` })]);

test('a follower who waits has a change soon after it was made, and an empty answer when there is none', async () => {
  const follower = new Follower(reader, organization);
  await follower.begin();
  const waiting = follower.follow('&wait=30');
  await importLine('A2');
  const made = performance.now();
  expect(await waiting).toBe(1);
  expect(performance.now() - made).toBeLessThan(15_000);
  const before = performance.now();
  expect(await follower.follow('&wait=1')).toBe(0);
  expect(performance.now() - before).toBeGreaterThan(900);
  expect(follower.text).toEqual(await follower.books());
});

test('a follower waits no longer when the clock is put back', async () => {
  const follower = new Follower(reader, organization);
  await follower.begin();
  const before = performance.now();
  const waiting = follower.follow('&wait=2');
  setTimeout(() => {
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
  }, 500);
  try {
    expect(await waiting).toBe(0);
    expect(performance.now() - before).toBeLessThan(30_000);
  } finally {
    jest.restoreAllMocks();
  }
});

test('a follower whose provision is revoked while they wait is told so, and one who leaves is no failure', async () => {
  await withGateway({ ACCESS_CHECK_SECONDS: '1' }, async ({ url, services, logLines }) => {
    const of = await createOrganization(services);
    await importLines(services, of, [v2Line()]);
    const follow = (provision: string, place: string, signal?: AbortSignal) =>
      fetch(`${url}/export/deposit-changes.ndjson?since=${place}&wait=30`, {
        headers: { Provision: provision },
        ...(signal && { signal }),
      });
    const lines = await fetch(`${url}/export/deposit-details.csv?period=all-time`, { headers: { Provision: of.apiProvision } });
    const place = lines.headers.get('X-Export-Place')!;
    await lines.text();
    const leaving = follow(of.apiProvision, place, AbortSignal.timeout(300));
    const grants = ['deposit_detail_designation_detail_with_contact_info'];
    const others = Array.from({ length: 12 }, () => services.provisions.create({ organization: of.name, kind: 'API', label: '', grants }));
    const provisions = await Promise.all(others);
    const answers = provisions.map((provision) => follow(provision, place));
    await expect(leaving).rejects.toThrow('aborted due to timeout');
    for (const provision of provisions) await services.provisions.revoke(provision);
    for (const answer of await Promise.all(answers))
      expect(await answer.text()).toBe('{"errors":[{"error":"Invalid provision","status":422}]}');
    expect(logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
  });
});

test('a gateway that stops answers followers at once', async () => {
  await withGateway({}, async (stopping) => {
    const of = await createOrganization(stopping.services);
    await importLines(stopping.services, of, [v2Line()]);
    const started = performance.now();
    const headers = { Provision: of.apiProvision };
    const lines = await fetch(`${stopping.url}/export/deposit-details.csv?period=all-time`, { headers });
    await lines.text();
    const place = lines.headers.get('X-Export-Place')!;
    const waiting = fetch(`${stopping.url}/export/deposit-changes.ndjson?since=${place}&wait=50`, { headers });
    await fetch(`${stopping.url}/live`);
    setTimeout(() => void stopping.stop(), 500);
    const answer = await waiting;
    expect([answer.status, await answer.text()]).toEqual([200, `{"next":"${place}"}\n`]);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

test('a copy that has begun before a backup was restored is told to begin again, whatever number the books have come to', async () => {
  const of = await createOrganization(gateway.services);
  await importLines(gateway.services, of, [v2Line()]);
  const follower = new Follower(reader, of);
  await follower.begin();
  await moveVersions(gateway.database.client, of.id, -1);
  await importLines(gateway.services, of, [v2Line({ amount: '9.00', net_amount: '8.50' })]);
  const { status, body } = await reader.get(`/export/deposit-changes.ndjson?since=${follower.place}&wait=50`, {
    Provision: of.apiProvision,
  });
  expect([status, body.toString()]).toEqual([422, expect.stringContaining(OTHER_BOOKS)]);
});

const OTHER_BOOKS = 'since: these are other books than those that were followed: begin with an export again';
test.each([
  ['ndjson?since=99.1', OTHER_BOOKS],
  ['ndjson?since=1.5&wait=50', OTHER_BOOKS],
  ['ndjson?since=1', 'since must be the X-Export-Place of an export, or the `next` of the last answer'],
  ['ndjson?since=0&wait=51', 'wait must be seconds from 0 to 50'],
  ['ndjson?since=0&designation_id=3', 'since is of all lines: give it without designation_id'],
  ['ndjson?since=0&period=all-time', 'since is of all lines: give it without period'],
  ['ndjson?since=0&wait=50&totals=all', 'totals must be headers or skip'],
  ['csv?since=0&wait=50', 'since is for deposit-changes.ndjson'],
])('a follower who asks for %j reads at once that %s', async (path, fault) => {
  const { status, body } = await reader.get(`/export/deposit-changes.${path}`);
  expect([status, body.toString()]).toEqual([422, expect.stringContaining(fault)]);
});

test('a file of changes counts in the receipt of a follower, and an answer without any has no receipt', async () => {
  const all = await reader.get('/export/deposit-changes.ndjson?since=0');
  const id = String(all.headers['x-export-id']);
  const rows = all.body.toString().split('\n').length - 2;
  expect(await reader.receiptOf(id)).toMatchObject({ lines: rows, outcome: 'whole' });
  const nothing = await reader.get(`/export/deposit-changes.ndjson?since=${String(all.headers['x-export-place'])}`);
  expect([nothing.status, nothing.headers['x-export-id']]).toEqual([200, undefined]);
});
