import { createOrganization, IMPORTED_FILE, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();

async function linesOf({ id }: TestOrganization, version?: number): Promise<object[]> {
  const { rows } = await gateway.database.client.query<{ line: object }>(
    `SELECT to_jsonb(l) - '{organization_id,since,until,money_since,erased_version}'::text[] AS line FROM deposit_line l WHERE organization_id = $1
       AND since <= $2 AND until > $2 ORDER BY deposit_date, deposit_id, transaction_id, allocation_id`,
    [id, version ?? Number.MAX_SAFE_INTEGER - 1],
  );
  return rows.map(({ line }) => line);
}

/** The deposits and gifts of the books. Donors and designations stay when nothing is of them any more. */
async function entitiesOf({ id }: TestOrganization): Promise<object[]> {
  const { rows } = await gateway.database.client.query<object>(
    `SELECT 'deposit' AS kind, id FROM deposit WHERE organization_id = $1
     UNION ALL SELECT 'transaction', id FROM transaction WHERE organization_id = $1 ORDER BY kind, id`,
    [id],
  );
  return rows;
}

async function expectSound(organization: TestOrganization): Promise<void> {
  const check = await gateway.services.books.check(organization.id);
  expect(check).toMatchObject({ differences: 0, first: [], versionsAreWhole: true, totalsAgree: true, unsearchableDonors: 0 });
}

test('an import that changes nothing makes no version, and one that does says what it changed', async () => {
  const organization = await createOrganization(gateway.services);
  const lines = [v2Line(), v2Line({ allocation_id: 'P101', designation_id: 4, designation: 'Missions' })];
  await importLines(gateway.services, organization, lines);
  await importLines(gateway.services, organization, lines);
  await importLines(gateway.services, organization, [{ ...lines[0], donor_last_name: 'King' }]);
  const versions = await gateway.services.books.newestVersions(organization.id, 10);
  const totals = { transactions: 1, amount: '10.50', feeAmount: '0.50' };
  const origin = {
    recordedAt: expect.any(Date) as Date,
    cause: 'import',
    isKept: true,
    fileName: IMPORTED_FILE.name,
    fileSha256: IMPORTED_FILE.sha256,
  };
  expect(versions).toEqual([
    { number: 2, ...origin, linesAdded: 0, linesChanged: 2, linesRemoved: 0, lines: 2, ...totals },
    { number: 1, ...origin, linesAdded: 2, linesChanged: 0, linesRemoved: 0, lines: 2, ...totals },
  ]);
});

test('the instants of versions increase by whole milliseconds, also when the clock goes back', async () => {
  const organization = await createOrganization(gateway.services);
  const instants = async (): Promise<number[]> => {
    const { rows } = await gateway.database.client.query<{ us: string }>(
      'SELECT (extract(epoch FROM recorded_at) * 1000000)::bigint AS us FROM data_version WHERE organization_id = $1 ORDER BY number',
      [organization.id],
    );
    return rows.map(({ us }) => Number(us));
  };
  await importLines(gateway.services, organization, [v2Line()]);
  const ahead = Date.now() + 3_600_000;
  await gateway.database.client.query('UPDATE data_version SET recorded_at = $2 WHERE organization_id = $1', [
    organization.id,
    new Date(ahead),
  ]);
  await importLines(gateway.services, organization, [v2Line({ city: 'Bern' })]);
  expect(await instants()).toEqual([ahead * 1000, (ahead + 1) * 1000]);
});

test('a gift and its deposit leave when an import moves their last line to others', async () => {
  const organization = await createOrganization(gateway.services);
  const line = v2Line({ transaction_id: 'T1', deposit_id: 'D1' });
  await importLines(gateway.services, organization, [line]);
  const moved = await importLines(gateway.services, organization, [{ ...line, transaction_id: 'T2', deposit_id: 'D2' }]);
  expect(moved).toMatchObject({ removed: { allocations: 0, transactions: 1, deposits: 1 }, version: { number: 2 } });
  // The gift stays in the file's deposit, and the deposit before has no other.
  const regrouped = await importLines(gateway.services, organization, [{ ...line, transaction_id: 'T2', deposit_id: 'D3' }]);
  expect(regrouped.removed).toEqual({ allocations: 0, transactions: 0, deposits: 1 });
  expect(await entitiesOf(organization)).toEqual([
    { kind: 'deposit', id: 'D3' },
    { kind: 'transaction', id: 'T2' },
  ]);
});

test('a gift that loses an allocation to a removal gives all of its amount to the one that is left', async () => {
  const organization = await createOrganization(gateway.services);
  const lines = [v2Line(), v2Line({ allocation_id: 'P101' })];
  await importLines(gateway.services, organization, lines);
  await importLines(gateway.services, organization, lines.slice(1), {
    complete: { periods: [{ startDate: '2024-01-01', endDate: '2024-01-31' }], pending: 'WITHOUT' },
  });
  const [newest] = await gateway.services.books.newestVersions(organization.id, 1);
  expect(newest).toMatchObject({ number: 2, linesAdded: 0, linesChanged: 1, linesRemoved: 1, lines: 1 });
  expect(await linesOf(organization)).toMatchObject([{ allocation_amount: 10.5, allocation_amount_inferred: true }]);
  await expectSound(organization);
});

test('a correction by SQL is found, named without values, and repaired as a version', async () => {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [v2Line(), v2Line({ transaction_id: '2', allocation_id: '2', donor_id: 8 })]);
  const { client } = gateway.database;
  await client.query(`UPDATE donor SET last_name = 'Byron' WHERE organization_id = $1 AND id = 7`, [organization.id]);
  await client.query(`DELETE FROM allocation WHERE organization_id = $1 AND id = '2'`, [organization.id]);
  const { books } = gateway.services;
  expect(await books.check(organization.id)).toEqual({
    ...{ lines: 2, differences: 2, version: 1, versionsAreWhole: true, totalsAgree: true, unsearchableDonors: 1 },
    paddedIds: { count: 0, first: [] },
    first: [
      { allocationId: '2', kind: 'surplus', columns: expect.arrayContaining(['allocation_id']) as string[] },
      { allocationId: 'P100', kind: 'different', columns: ['donor_last_name'] },
    ],
  });
  expect(await books.repair(organization.id)).toEqual({ number: 2, lines: { added: 0, changed: 1, removed: 1 } });
  await expectSound(organization);
});

test('lines that were damaged themselves are repaired, and the totals are those of the books', async () => {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [v2Line(), v2Line({ transaction_id: '2', allocation_id: '2' })]);
  await gateway.database.client.query(`DELETE FROM deposit_line WHERE organization_id = $1 AND allocation_id = '2'`, [organization.id]);
  const { books } = gateway.services;
  expect(await books.check(organization.id)).toMatchObject({
    differences: 1,
    first: [{ allocationId: '2', kind: 'missing' }],
    totalsAgree: false,
  });
  expect(await books.repair(organization.id)).toEqual({ number: 2, lines: { added: 1, changed: 0, removed: 0 } });
  await expectSound(organization);
  await importLines(gateway.services, organization, [v2Line({ transaction_id: '3', allocation_id: '3' })]);
  await expectSound(organization);
});

test('imports and repairs of the same books at the same time follow each other', async () => {
  const organization = await createOrganization(gateway.services);
  const lines = (amount: string) =>
    ['1', '2', '3'].map((id) => v2Line({ transaction_id: id, allocation_id: id, amount, fee_amount: '0.00', net_amount: amount }));
  await importLines(gateway.services, organization, lines('1.00'));
  await Promise.all([
    ...['2.00', '3.00', '4.00', '5.00'].map((amount) => importLines(gateway.services, organization, lines(amount))),
    ...[1, 2].map(() => gateway.services.books.repair(organization.id)),
  ]);
  await expectSound(organization);
  const versions = await gateway.services.books.newestVersions(organization.id, 10);
  expect(versions.map(({ number }) => number)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect(versions.map(({ recordedAt }) => recordedAt.getTime())).toEqual(
    versions.map(({ recordedAt }) => recordedAt.getTime()).sort((a, b) => b - a),
  );
});
