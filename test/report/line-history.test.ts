import fc from 'fast-check';
import type { CompleteRange } from '../../src/data/import-removal';
import { createOrganization, IMPORTED_FILE, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

/** Sequences of imports that the suite tries. `LINE_HISTORIES=1000` tries more. */
const RUNS = Number(process.env.LINE_HISTORIES ?? 20);

const gateway = openGateway();

type Fields = Readonly<Record<string, unknown>>;

/** The books as a sequence of imports leaves them: the newest state of each entity, by its id. */
class Books {
  private readonly allocations = new Map<string, Fields>();
  private readonly transactions = new Map<string, Fields>();
  private readonly deposits = new Map<string, Fields>();
  private readonly designations = new Map<number, Fields>();
  private readonly donors = new Map<number, Fields>();

  import(lines: readonly Line[]): void {
    for (const { allocation, transaction, deposit, designation, donor } of lines) {
      const known = this.allocations.get(allocation.allocation_id)?.allocation_amount;
      this.allocations.set(allocation.allocation_id, {
        ...allocation,
        transaction_id: transaction.transaction_id,
        designation_id: designation.designation_id,
        // A line without a share leaves the share that the books have.
        allocation_amount: allocation.allocation_amount ?? known,
      });
      this.transactions.set(transaction.transaction_id, { ...transaction, deposit_id: deposit.deposit_id, donor_id: donor.donor_id });
      this.deposits.set(deposit.deposit_id, deposit);
      this.designations.set(designation.designation_id, designation);
      this.donors.set(donor.donor_id, donor);
    }
  }

  /** Imports a file that is complete for a range. */
  replace(lines: readonly Line[], range: CompleteRange): void {
    this.import(lines);
    const isInRange = (deposit: Fields): boolean => {
      const date = deposit.deposit_date as string;
      return date >= range.from && date <= range.to && (range.pending === 'WITH' || deposit.deposit_status === 'posted');
    };
    const kept = new Set(lines.map(({ allocation }) => allocation.allocation_id));
    for (const [id, allocation] of this.allocations) {
      const { deposit_id } = this.transactions.get(allocation.transaction_id as string)!;
      if (!kept.has(id) && isInRange(this.deposits.get(deposit_id as string)!)) this.allocations.delete(id);
    }
  }

  /** The lines of the books in the form of an import. */
  lines(): object[] {
    return [...this.allocations.values()].map((allocation) => {
      const transaction = this.transactions.get(allocation.transaction_id as string)!;
      return v2Line({
        ...this.deposits.get(transaction.deposit_id as string),
        ...this.donors.get(transaction.donor_id as number),
        ...transaction,
        ...this.designations.get(allocation.designation_id as number),
        ...allocation,
      });
    });
  }
}

interface Line {
  readonly allocation: {
    readonly allocation_id: string;
    readonly allocation_amount: string | undefined;
    readonly designation_memo: string;
  };
  readonly transaction: { readonly transaction_id: string };
  readonly deposit: { readonly deposit_id: string; readonly deposit_date: string; readonly deposit_status: string };
  readonly designation: { readonly designation_id: number };
  readonly donor: { readonly donor_id: number };
}

const pick = <Value>(...values: Value[]) => fc.constantFrom(...values);
const by = <Value>(ids: readonly (string | number)[], value: fc.Arbitrary<Value>) =>
  fc.tuple(...ids.map(() => value)).map((values) => new Map(ids.map((id, index) => [id, values[index]!])));
const NOBODY = { address1: '', city: '', zip: '', phone: '', email_address: '' };

/** A file: few lines of few entities, so that files overlap, allocations and gifts move, and entities change that lines of other files share. */
const anyFile: fc.Arbitrary<Line[]> = fc
  .record({
    deposits: by(
      ['D1', 'D2', 'D3'],
      fc.record({ deposit_date: pick('2024-01-01', '2024-01-20', '2024-02-01', '2024-02-20'), deposit_status: pick('posted', 'pending') }),
    ),
    transactions: by(
      ['T1', 'T2', 'T3', 'T4'],
      fc.record({
        deposit_id: pick('D1', 'D2', 'D3'),
        donor_id: pick(0, 1, 2),
        cents: fc.integer({ min: -3, max: 3 }),
        main_memo: pick('', 'Émile'),
      }),
    ),
    designations: by([1, 2], pick('General', 'Missions')),
    donors: by([1, 2], fc.record({ donor_last_name: pick('Müller', "O'Neil"), city: pick('Bern', '') })),
    lines: fc.uniqueArray(
      fc.record({
        allocation_id: pick('A1', 'A2', 'A3', 'A4', 'A5', 'A6'),
        transaction_id: pick('T1', 'T2', 'T3', 'T4'),
        designation_id: pick(1, 2),
        allocation_amount: pick(undefined, '1.00'),
        designation_memo: pick('', 'memo'),
      }),
      { selector: ({ allocation_id }) => allocation_id, minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ deposits, transactions, designations, donors, lines }) =>
    lines.map(({ transaction_id, designation_id, ...allocation }) => {
      const { deposit_id, donor_id, cents, main_memo } = transactions.get(transaction_id)!;
      const amount = `${cents < 0 ? '-' : ''}0.0${Math.abs(cents)}`;
      const donor =
        donor_id === 0 ? { donor_id, donor_first_name: '', donor_last_name: '', ...NOBODY } : { donor_id, ...donors.get(donor_id)! };
      return {
        allocation,
        transaction: { transaction_id, amount, fee_amount: '0.00', net_amount: amount, main_memo },
        deposit: { deposit_id, ...deposits.get(deposit_id)! },
        designation: { designation_id, designation: designations.get(designation_id)! },
        donor,
      };
    }),
  );

const anyRange: fc.Arbitrary<CompleteRange> = fc.record({
  from: pick('2024-01-01', '2024-01-20'),
  to: pick('2024-01-20', '2024-02-01'),
  pending: pick('WITH', 'WITHOUT'),
});

/** A file of an organization. One in four is complete for a range, and has no lines of other ranges. */
const anyImport = fc
  .record({
    which: pick(0, 1),
    file: anyFile,
    range: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anyRange }),
  })
  .map(({ which, file, range }) => ({ which, range, file: range ? file.map((line) => moveInto(line, range)) : file }));

function moveInto(line: Line, { from, to, pending }: CompleteRange): Line {
  const { deposit_date, deposit_status } = line.deposit;
  const isInside = deposit_date >= from && deposit_date <= to;
  const status = pending === 'WITH' ? deposit_status : 'posted';
  return { ...line, deposit: { ...line.deposit, deposit_date: isInside ? deposit_date : from, deposit_status: status } };
}

const toV2 = ({ allocation, transaction, deposit, designation, donor }: Line): object =>
  v2Line({ ...deposit, ...donor, ...transaction, ...designation, ...allocation });

async function linesOf({ id }: TestOrganization, version?: number): Promise<object[]> {
  const { rows } = await gateway.database.client.query<{ line: object }>(
    `SELECT to_jsonb(l) - '{organization_id,since,until}'::text[] AS line FROM deposit_line l WHERE organization_id = $1
       AND since <= $2 AND until > $2 ORDER BY deposit_date, deposit_id, transaction_id, allocation_id`,
    [id, version ?? Number.MAX_SAFE_INTEGER - 1],
  );
  return rows.map(({ line }) => line);
}

async function expectSound(organization: TestOrganization): Promise<void> {
  const check = await gateway.services.books.check(organization.id);
  expect(check).toMatchObject({ differences: 0, first: [], versionsAreWhole: true, totalsAgree: true, unsearchableDonors: 0 });
}

test('the lines after any sequence of imports are those of one import of the final books, and each version can still be read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyImport, { minLength: 3, maxLength: 8 }), async (imports) => {
      // Both organizations have the same ids.
      const organizations = [await createOrganization(gateway.services), await createOrganization(gateway.services)] as const;
      const books = [new Books(), new Books()] as const;
      const states: { organization: TestOrganization; version: number; lines: object[] }[] = [];
      for (const { which, file, range } of imports) {
        const organization = organizations[which]!;
        await importLines(gateway.services, organization, file.map(toV2), { complete: range, maxRemoved: Infinity });
        if (range) books[which]!.replace(file, range);
        else books[which]!.import(file);
        await expectSound(organization);
        const [newest] = await gateway.services.books.newestVersions(organization.id, 1);
        states.push({ organization, version: newest?.number ?? 0, lines: await linesOf(organization) });
      }
      for (const [which, organization] of organizations.entries()) {
        const fresh = await createOrganization(gateway.services);
        const final = books[which]!.lines();
        await importLines(gateway.services, fresh, final);
        expect(await linesOf(organization)).toEqual(await linesOf(fresh));
      }
      for (const { organization, version, lines } of states) expect(await linesOf(organization, version)).toEqual(lines);
    }),
    // A bias towards small values would try short sequences of one line each, and shrinking would import for minutes.
    { numRuns: RUNS, unbiased: true, endOnFailure: true },
  );
});

test('an import that changes nothing makes no version, and one that does says what it changed', async () => {
  const organization = await createOrganization(gateway.services);
  const lines = [v2Line(), v2Line({ allocation_id: 'P101', designation_id: 4, designation: 'Missions' })];
  await importLines(gateway.services, organization, lines);
  await importLines(gateway.services, organization, lines);
  await importLines(gateway.services, organization, [{ ...lines[0], donor_last_name: 'King' }]);
  const versions = await gateway.services.books.newestVersions(organization.id, 10);
  const totals = { transactions: 1, amount: '10.50', feeAmount: '0.50' };
  const origin = { recordedAt: expect.any(Date) as Date, cause: 'import', fileName: IMPORTED_FILE.name, fileSha256: IMPORTED_FILE.sha256 };
  expect(versions).toEqual([
    { number: 2, ...origin, linesAdded: 0, linesChanged: 2, linesRemoved: 0, lines: 2, ...totals },
    { number: 1, ...origin, linesAdded: 2, linesChanged: 0, linesRemoved: 0, lines: 2, ...totals },
  ]);
});

test('a gift that loses an allocation to a removal gives all of its amount to the one that is left', async () => {
  const organization = await createOrganization(gateway.services);
  const lines = [v2Line(), v2Line({ allocation_id: 'P101' })];
  await importLines(gateway.services, organization, lines);
  await importLines(gateway.services, organization, lines.slice(1), {
    complete: { from: '2024-01-01', to: '2024-01-31', pending: 'WITHOUT' },
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
