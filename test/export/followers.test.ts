import fc from 'fast-check';
import { createExportReader } from '../support/export-reader';
import { createOrganization, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { anyHistory, Books, importInto } from '../support/line-histories';
import { openGateway } from '../support/open-gateway';
import { tries } from '../support/tries';

const gateway = openGateway({ lines: [v2Line({ allocation_id: 'A1' })] });
const reader = createExportReader(gateway);
const { organization } = gateway;
const BASELINE = 'deposit-details.ndjson?start_date=0001-01-01&end_date=9999-12-31&pending=WITH&columns=all';

interface Change {
  readonly before: { readonly allocation_id: string } | null;
  readonly after: { readonly allocation_id: string } | null;
}

/** A copy of the lines that follows the books by the files alone. */
class Follower {
  private readonly lines = new Map<string, string>();
  place = '';

  constructor(private readonly of: TestOrganization) {}

  async begin(): Promise<void> {
    const { headers, body } = await this.get(BASELINE);
    this.lines.clear();
    for (const line of body.toString().split('\n').slice(0, -1)) this.put(JSON.parse(line) as Change['after']);
    this.place = String(headers['x-data-version']);
  }

  async follow(query = ''): Promise<number> {
    const { body, headers } = await this.get(`deposit-changes.ndjson?since=${this.place}${query}`);
    const rows = body
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((row) => JSON.parse(row) as Change & { readonly next?: string });
    const { next } = rows.pop()!;
    expect(next).toMatch(new RegExp(`^${String(headers['x-data-version'])}\\.[0-9]+$`));
    for (const { before } of rows) if (before) this.lines.delete(before.allocation_id);
    for (const { after } of rows) if (after) this.put(after);
    this.place = next!;
    return rows.length;
  }

  get text(): string[] {
    return [...this.lines.values()].sort();
  }

  /** The lines of the books now. */
  async books(): Promise<string[]> {
    const { body } = await this.get(BASELINE);
    return body.toString().split('\n').slice(0, -1).sort();
  }

  private get(path: string) {
    return reader.get(`/export/${path}`, { Provision: this.of.apiProvision });
  }

  private put(line: Change['after']): void {
    this.lines.set(line!.allocation_id, JSON.stringify(line));
  }
}

test('a follower has the lines of the books, byte for byte, however many versions it has missed', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), async (imports, asks) => {
      const of = await createOrganization(gateway.services);
      const books = new Books();
      const follower = new Follower(of);
      for (const [at, next] of imports.entries()) {
        await importInto(gateway.services, of, books, next);
        const [newest] = await gateway.services.books.newestVersions(of.id, 1);
        if (!newest) continue;
        if (follower.place === '') await follower.begin();
        else if (asks[at]) await follower.follow();
      }
      if (follower.place === '') return;
      await follower.follow();
      expect(follower.text).toEqual(await follower.books());
      // A follower that has crashed before it noted its place asks for the same again.
      expect(await follower.follow()).toBe(0);
    }),
    { numRuns: tries(12), unbiased: true, endOnFailure: true },
  );
});

const importLine = (id: string) =>
  importLines(gateway.services, organization, [v2Line({ allocation_id: id, transaction_id: `T${id}`, deposit_id: `D${id}` })]);

test('a follower who waits has a change soon after it was made, and an empty answer when there is none', async () => {
  const follower = new Follower(organization);
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

test('a follower whose provision is revoked gets no changes', async () => {
  const apiProvision = await gateway.services.provisions.create({
    ...{ organization: organization.name, kind: 'API', label: 'follower', grants: ['deposit_detail_designation_detail_with_contact_info'] },
  });
  const of = { ...organization, apiProvision };
  const follower = new Follower(of);
  await follower.begin();
  const waiting = reader.get(`/export/deposit-changes.ndjson?since=${follower.place}&wait=20`, { Provision: of.apiProvision });
  await gateway.services.provisions.revoke(apiProvision);
  await importLine('A3');
  expect((await waiting).body.toString()).toBe('{"errors":[{"error":"Invalid provision","status":422}]}');
});

test('a gateway that stops answers followers at once', async () => {
  await withGateway({}, async (stopping) => {
    const of = await createOrganization(stopping.services);
    await importLines(stopping.services, of, [v2Line()]);
    const started = performance.now();
    const waiting = fetch(`${stopping.url}/export/deposit-changes.ndjson?since=1&wait=60`, { headers: { Provision: of.apiProvision } });
    await fetch(`${stopping.url}/live`);
    setTimeout(() => void stopping.stop(), 500);
    const answer = await waiting;
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/^\{"next":"1\.[0-9]+"\}\n$/)]);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

test.each([
  ['ndjson?since=99', 'there is no version 99: the earliest is 1 of '],
  ['ndjson?since=1.5', 'since: version 1 is of other books than those that were followed: begin with an export again'],
  ['ndjson?since=soon', 'since must be the number of a version, or the `next` of the last answer'],
  ['ndjson?since=1&wait=61', 'wait must be seconds from 0 to 60'],
  ['ndjson?since=1&designation_id=3', 'there is no parameter designation_id'],
  ['ndjson?since=1&start_date=2024-01-01', 'there is no parameter start_date'],
  ['csv?since=1', 'since is for deposit-changes.ndjson'],
])('a follower who asks for %j reads that %s', async (path, fault) => {
  const { status, body } = await reader.get(`/export/deposit-changes.${path}`);
  expect([status, body.toString()]).toEqual([422, expect.stringContaining(fault)]);
});
