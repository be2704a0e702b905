import type { LocalDate } from '../dates';
import { Prisma } from '../generated/prisma/client';
import type { Money } from '../money';
import type { Database } from './database';
import { toArrayLiteral } from './array-literal';
import { selectPage, type KeyOrder, type KeysetPage } from './keyset';
import { nameBegins, wherePending, type PendingChoice } from './line-selection';

/** For whom records are read; what is personal leaves the database for those alone who may read it. */
export interface RecordScope {
  readonly organizationId: number;
  readonly mayReadDonors: boolean;
}

export interface DepositRecord {
  readonly id: string;
  readonly depositDate: LocalDate;
  readonly status: 'POSTED' | 'PENDING';
}

export interface TransactionRecord {
  readonly id: string;
  readonly depositId: string;
  readonly transactionDate: LocalDate;
  readonly amount: Money;
  readonly feeAmount: Money;
  readonly netAmount: Money;
  readonly status: string;
  readonly accountType: string;
  readonly paymentType: string;
  /** Personal: null for who may not read donors, as is the donor. */
  readonly mainMemo: string | null;
  readonly donorId: number | null;
}

export interface AllocationRecord {
  readonly id: string;
  readonly transactionId: string;
  readonly designationId: number;
  /** Read along: an allocation is hardly ever shown without the name of its fund. */
  readonly designationName: string;
  /** As the books state it, or inferred as the report does. */
  readonly amount: Money | null;
  readonly amountInferred: boolean;
  /** Personal, as a transaction's. */
  readonly memo: string | null;
}

export interface DesignationRecord {
  readonly id: number;
  readonly name: string;
}

export interface DonorRecord {
  readonly id: number;
  readonly firstName: string;
  readonly lastName: string;
  readonly address1: string;
  readonly address2: string;
  readonly address3: string;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
  readonly phone: string;
  readonly email: string;
}

interface Records {
  readonly deposit: DepositRecord;
  readonly transaction: TransactionRecord;
  readonly allocation: AllocationRecord;
  readonly designation: DesignationRecord;
  readonly donor: DonorRecord;
}
export type RecordKind = keyof Records;
export type RecordOf<Kind extends RecordKind> = Records[Kind];
export type RecordId = string | number;

/** Which deposits: the conditions that are given must hold, both dates included. */
export interface DepositFilter {
  readonly startDate?: LocalDate | undefined;
  readonly endDate?: LocalDate | undefined;
  readonly pending: PendingChoice;
}

const { sql, raw, join } = Prisma;

interface Table {
  readonly from: string;
  readonly idType: 'text' | 'bigint';
  readonly values: (scope: RecordScope) => Prisma.Sql;
}

/** What the report says of an allocation; the rule of an inferred share stands in its view alone. */
const ofLine = (column: string): Prisma.Sql =>
  sql`(SELECT ${raw(column)} FROM deposit_detail WHERE organization_id = source.organization_id AND allocation_id = source.id)`;

/** What is read of each model's table: ids and dates as the report gives them, amounts as text. */
const TABLES: Readonly<Record<RecordKind, Table>> = {
  deposit: {
    from: '"deposit"',
    idType: 'text',
    values: () => sql`id, deposit_date::text AS "depositDate", status`,
  },
  transaction: {
    from: '"transaction"',
    idType: 'text',
    values: ({ mayReadDonors }) => sql`id, deposit_id AS "depositId", transaction_date::text AS "transactionDate", amount,
      fee_amount AS "feeAmount", (amount - fee_amount)::text AS "netAmount", status, account_type AS "accountType",
      payment_type AS "paymentType", CASE WHEN ${mayReadDonors}::boolean THEN main_memo END AS "mainMemo",
      CASE WHEN ${mayReadDonors}::boolean THEN donor_id::float8 END AS "donorId"`,
  },
  allocation: {
    from: '"allocation"',
    idType: 'text',
    values: ({ mayReadDonors }) => sql`id, transaction_id AS "transactionId", designation_id::float8 AS "designationId",
      COALESCE(amount, ${ofLine('allocation_amount')}) AS amount, amount IS NULL AND ${ofLine('allocation_amount_inferred')} AS "amountInferred",
      (SELECT name FROM designation WHERE organization_id = source.organization_id AND id = source.designation_id) AS "designationName",
      CASE WHEN ${mayReadDonors}::boolean THEN memo END AS memo`,
  },
  designation: {
    from: '"designation"',
    idType: 'bigint',
    values: () => sql`id::float8 AS id, name`,
  },
  donor: {
    from: '"donor"',
    idType: 'bigint',
    values: () => sql`id::float8 AS id, first_name AS "firstName", last_name AS "lastName", address1, address2, address3,
      city, state, zip, phone, email`,
  },
};

/**
 * The lists of records under a record of another kind, each by the column that points to it, named `field` in a record, and in an order
 * that an index has. A donor's is read by those alone who see whose a transaction is.
 */
const CHILDREN = {
  depositTransactions: {
    kind: 'transaction',
    parent: 'deposit_id',
    field: 'depositId',
    idType: 'text',
    order: { columns: { id: 'text' } },
  },
  donorTransactions: {
    kind: 'transaction',
    parent: 'donor_id',
    field: 'donorId',
    idType: 'bigint',
    order: { columns: { transaction_date: 'date', id: 'text' } },
  },
  transactionAllocations: {
    kind: 'allocation',
    parent: 'transaction_id',
    field: 'transactionId',
    idType: 'text',
    order: { columns: { id: 'text' } },
  },
  designationAllocations: {
    kind: 'allocation',
    parent: 'designation_id',
    field: 'designationId',
    idType: 'bigint',
    order: { columns: { id: 'text' } },
  },
} as const satisfies Record<string, { kind: RecordKind; parent: string; field: string; idType: string; order: KeyOrder }>;
export type Children = keyof typeof CHILDREN;
export type ChildKind<Of extends Children> = (typeof CHILDREN)[Of]['kind'];

/** What each list is in order by. */
export const recordOrders = {
  deposits: { columns: { deposit_date: 'date', id: 'text' } },
  designations: { columns: { id: 'bigint' } },
  donors: { columns: { last_name: 'text', first_name: 'text', id: 'bigint' }, isPersonal: true },
} as const satisfies Record<string, KeyOrder>;
export const childOrder = (children: Children): KeyOrder => CHILDREN[children].order;

/** The deposit data as records, a statement for each call, however many are asked for. */
export class RecordStore {
  constructor(private readonly database: Database) {}

  /** Those of these ids that there are, in no order. */
  find<Kind extends RecordKind>(kind: Kind, scope: RecordScope, ids: readonly RecordId[]): Promise<RecordOf<Kind>[]> {
    const { from, idType, values } = TABLES[kind];
    return this.database.list<RecordOf<Kind>>(
      sql`SELECT ${values(scope)} FROM ${raw(from)} AS source WHERE ${readable(kind, scope)} AND id = ANY(${toArrayLiteral(ids)}::${raw(idType)}[])`,
    );
  }

  listDeposits(scope: RecordScope, filter: DepositFilter, page: KeysetPage): Promise<RecordOf<'deposit'>[]> {
    return this.list('deposit', scope, whereDeposits(scope, filter), recordOrders.deposits, page);
  }

  countDeposits(scope: RecordScope, filter: DepositFilter): Promise<number> {
    return this.count('deposit', whereDeposits(scope, filter));
  }

  listDesignations(scope: RecordScope, page: KeysetPage): Promise<RecordOf<'designation'>[]> {
    return this.list('designation', scope, readable('designation', scope), recordOrders.designations, page);
  }

  countDesignations(scope: RecordScope): Promise<number> {
    return this.count('designation', readable('designation', scope));
  }

  listDonors(scope: RecordScope, search: string | undefined, page: KeysetPage): Promise<RecordOf<'donor'>[]> {
    return this.list('donor', scope, whereDonors(scope, search), recordOrders.donors, page);
  }

  countDonors(scope: RecordScope, search: string | undefined): Promise<number> {
    return this.count('donor', whereDonors(scope, search));
  }

  /** The same page of each of several lists, by the id of the record that the list is under. */
  async listChildren<Of extends Children>(
    children: Of,
    scope: RecordScope,
    parentIds: readonly RecordId[],
    page: KeysetPage,
  ): Promise<Map<RecordId, RecordOf<ChildKind<Of>>[]>> {
    const { kind, parent, field, idType, order } = CHILDREN[children];
    const { from, values } = TABLES[kind];
    const where = sql`${raw(parent)} = parent.id`;
    const pageOfOne = selectPage({ values: values(scope), from, owned: readable(kind, scope), where, order, page });
    // LIMIT in a lateral subquery leaves nothing but a nested loop, which keeps the order of each list.
    const rows = await this.database.list<RecordOf<ChildKind<Of>>>(
      sql`SELECT child.* FROM unnest(${toArrayLiteral(parentIds)}::${raw(idType)}[]) AS parent(id)
        CROSS JOIN LATERAL (${pageOfOne}) AS child`,
    );
    const lists = new Map(parentIds.map((id) => [id, [] as RecordOf<ChildKind<Of>>[]]));
    for (const row of rows) lists.get((row as unknown as Readonly<Record<string, RecordId>>)[field]!)!.push(row);
    if (page.fromEnd) for (const list of lists.values()) list.reverse();
    return lists;
  }

  async countChildren(children: Children, scope: RecordScope, parentIds: readonly RecordId[]): Promise<Map<RecordId, number>> {
    const { kind, parent, idType } = CHILDREN[children];
    const rows = await this.database.list<{ parentId: string; count: number }>(
      sql`SELECT ${raw(parent)}::text AS "parentId", count(*)::float8 AS count FROM ${raw(TABLES[kind].from)}
        WHERE ${readable(kind, scope)} AND ${raw(parent)} = ANY(${toArrayLiteral(parentIds)}::${raw(idType)}[]) GROUP BY ${raw(parent)}`,
    );
    const counts = new Map(rows.map(({ parentId, count }) => [parentId, count]));
    return new Map(parentIds.map((id) => [id, counts.get(String(id)) ?? 0]));
  }

  private async list<Kind extends RecordKind>(
    kind: Kind,
    scope: RecordScope,
    where: Prisma.Sql,
    order: KeyOrder,
    page: KeysetPage,
  ): Promise<RecordOf<Kind>[]> {
    const { from, values } = TABLES[kind];
    const select = selectPage({ values: values(scope), from, owned: readable(kind, scope), where, order, page });
    const rows = await this.database.list<RecordOf<Kind>>(select);
    return page.fromEnd ? rows.reverse() : rows;
  }

  private async count(kind: RecordKind, where: Prisma.Sql): Promise<number> {
    const [row] = await this.database.list<{ count: number }>(
      sql`SELECT count(*)::float8 AS count FROM ${raw(TABLES[kind].from)} WHERE ${where}`,
    );
    return row!.count;
  }
}

/** The organization's own, and donors for those alone who may read them. */
const readable = (kind: RecordKind, { organizationId, mayReadDonors }: RecordScope): Prisma.Sql =>
  kind === 'donor'
    ? sql`organization_id = ${organizationId}::int AND ${mayReadDonors}::boolean`
    : sql`organization_id = ${organizationId}::int`;

function whereDeposits(scope: RecordScope, { startDate, endDate, pending }: DepositFilter): Prisma.Sql {
  const conditions = [
    readable('deposit', scope),
    ...(startDate === undefined ? [] : [sql`deposit_date >= ${startDate}::date`]),
    ...(endDate === undefined ? [] : [sql`deposit_date <= ${endDate}::date`]),
    ...wherePending('status', pending),
  ];
  return join(conditions, ' AND ');
}

function whereDonors(scope: RecordScope, search: string | undefined): Prisma.Sql {
  const all = readable('donor', scope);
  return search === undefined ? all : sql`${all} AND ${nameBegins(search)}`;
}
