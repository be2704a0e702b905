import { edgeOrigin, entityEdges, type EdgeTarget, type EntityKind, type ManyEdgeName } from '../formats/entity-edges';
import type { PendingChoice } from '../formats/line-conditions';
import { Prisma } from '../generated/prisma/client';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import { nameBegins, wherePending } from './line-set';
import { toArrayLiteral } from './postgres/array-literal';
import type { Database } from './postgres/database';
import { selectPage, type KeyOrder, type KeysetPage } from './postgres/keyset';

/** For whom records are read; what is personal leaves the database for those alone who may read it. */
export interface EntityScope {
  readonly organizationId: number;
  readonly mayReadDonors: boolean;
}

export interface DepositEntity {
  readonly id: string;
  readonly depositDate: LocalDate;
  readonly status: 'POSTED' | 'PENDING';
}

export interface TransactionEntity {
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

export interface AllocationEntity {
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

export interface DesignationEntity {
  readonly id: number;
  readonly name: string;
}

export interface DonorEntity {
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

interface Entities extends Readonly<Record<EntityKind, object>> {
  readonly deposit: DepositEntity;
  readonly transaction: TransactionEntity;
  readonly allocation: AllocationEntity;
  readonly designation: DesignationEntity;
  readonly donor: DonorEntity;
}
export type EntityOf<Kind extends EntityKind> = Entities[Kind];
export type EntityId = string | number;

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
  readonly values: (scope: EntityScope) => Prisma.Sql;
}

/** What the report says of an allocation; the rule of an inferred share stands in its view alone. */
const ofLine = (column: string): Prisma.Sql =>
  sql`(SELECT ${raw(column)} FROM deposit_detail WHERE organization_id = source.organization_id AND allocation_id = source.id)`;

/** What is read of each model's table: ids and dates as the report gives them, amounts as text. */
const TABLES: Readonly<Record<EntityKind, Table>> = {
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

/** Orders that an index has, by the edges that lists are reached by. */
const EDGE_ORDERS: Readonly<Record<ManyEdgeName, KeyOrder>> = {
  'Deposit.transactions': { columns: { id: 'text' } },
  'Transaction.allocations': { columns: { id: 'text' } },
  'Designation.allocations': { columns: { id: 'text' } },
  'Donor.transactions': { columns: { transaction_date: 'date', id: 'text' } },
};

/** The orders of the lists at the root. */
export const entityOrders = {
  deposits: { columns: { deposit_date: 'date', id: 'text' } },
  designations: { columns: { id: 'bigint' } },
  donors: { columns: { last_name: 'text', first_name: 'text', id: 'bigint' }, isPersonal: true },
} as const satisfies Record<string, KeyOrder>;
export const edgeOrder = (edge: ManyEdgeName): KeyOrder => EDGE_ORDERS[edge];

/** The deposit data as records, a statement for each call, however many are asked for. */
export class EntityStore {
  constructor(private readonly database: Database) {}

  /** Those of these ids that there are, in no order. */
  find<Kind extends EntityKind>(kind: Kind, scope: EntityScope, ids: readonly EntityId[]): Promise<EntityOf<Kind>[]> {
    const { from, idType, values } = TABLES[kind];
    return this.database.list<EntityOf<Kind>>(
      sql`SELECT ${values(scope)} FROM ${raw(from)} AS source WHERE ${readable(kind, scope)} AND id = ANY(${toArrayLiteral(ids)}::${raw(idType)}[])`,
    );
  }

  listDeposits(scope: EntityScope, filter: DepositFilter, page: KeysetPage): Promise<EntityOf<'deposit'>[]> {
    return this.list('deposit', scope, whereDeposits(scope, filter), entityOrders.deposits, page);
  }

  countDeposits(scope: EntityScope, filter: DepositFilter): Promise<number> {
    return this.count('deposit', whereDeposits(scope, filter));
  }

  listDesignations(scope: EntityScope, page: KeysetPage): Promise<EntityOf<'designation'>[]> {
    return this.list('designation', scope, readable('designation', scope), entityOrders.designations, page);
  }

  countDesignations(scope: EntityScope): Promise<number> {
    return this.count('designation', readable('designation', scope));
  }

  listDonors(scope: EntityScope, search: string | undefined, page: KeysetPage): Promise<EntityOf<'donor'>[]> {
    return this.list('donor', scope, whereDonors(scope, search), entityOrders.donors, page);
  }

  countDonors(scope: EntityScope, search: string | undefined): Promise<number> {
    return this.count('donor', whereDonors(scope, search));
  }

  /** The same page of each of several lists, by the id of the entity that an edge leads from. */
  async listTargets<Edge extends ManyEdgeName>(
    edge: Edge,
    scope: EntityScope,
    originIds: readonly EntityId[],
    page: KeysetPage,
  ): Promise<Map<EntityId, EntityOf<EdgeTarget<Edge>>[]>> {
    const { many: kind, by } = entityEdges[edge];
    const { from, values } = TABLES[kind];
    const where = sql`${raw(toColumn(by))} = origin.id`;
    const pageOfOne = selectPage({ values: values(scope), from, owned: readable(kind, scope), where, order: EDGE_ORDERS[edge], page });
    // LIMIT in a lateral subquery leaves nothing but a nested loop, which keeps the order of each list.
    const rows = await this.database.list<EntityOf<EdgeTarget<Edge>>>(
      sql`SELECT target.* FROM unnest(${toArrayLiteral(originIds)}::${raw(idTypeOf(edge))}[]) AS origin(id)
        CROSS JOIN LATERAL (${pageOfOne}) AS target`,
    );
    const lists = new Map(originIds.map((id) => [id, [] as EntityOf<EdgeTarget<Edge>>[]]));
    for (const row of rows) lists.get((row as unknown as Readonly<Record<string, EntityId>>)[by]!)!.push(row);
    if (page.fromEnd) for (const list of lists.values()) list.reverse();
    return lists;
  }

  /** How many entities each of several lists has, on all pages. */
  async countTargets(edge: ManyEdgeName, scope: EntityScope, originIds: readonly EntityId[]): Promise<Map<EntityId, number>> {
    const { many: kind, by } = entityEdges[edge];
    const column = raw(toColumn(by));
    const rows = await this.database.list<{ originId: string; count: number }>(
      sql`SELECT ${column}::text AS "originId", count(*)::float8 AS count FROM ${raw(TABLES[kind].from)}
        WHERE ${readable(kind, scope)} AND ${column} = ANY(${toArrayLiteral(originIds)}::${raw(idTypeOf(edge))}[]) GROUP BY ${column}`,
    );
    const counts = new Map(rows.map(({ originId, count }) => [originId, count]));
    return new Map(originIds.map((id) => [id, counts.get(String(id)) ?? 0]));
  }

  private async list<Kind extends EntityKind>(
    kind: Kind,
    scope: EntityScope,
    where: Prisma.Sql,
    order: KeyOrder,
    page: KeysetPage,
  ): Promise<EntityOf<Kind>[]> {
    const { from, values } = TABLES[kind];
    const select = selectPage({ values: values(scope), from, owned: readable(kind, scope), where, order, page });
    const rows = await this.database.list<EntityOf<Kind>>(select);
    return page.fromEnd ? rows.reverse() : rows;
  }

  private async count(kind: EntityKind, where: Prisma.Sql): Promise<number> {
    const [row] = await this.database.list<{ count: number }>(
      sql`SELECT count(*)::float8 AS count FROM ${raw(TABLES[kind].from)} WHERE ${where}`,
    );
    return row!.count;
  }
}

const idTypeOf = (edge: ManyEdgeName): string => TABLES[edgeOrigin(edge)].idType;

/** The column of an entity's field: depositId is deposit_id. */
const toColumn = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The organization's own, and donors for those alone who may read them. */
const readable = (kind: EntityKind, { organizationId, mayReadDonors }: EntityScope): Prisma.Sql =>
  kind === 'donor'
    ? sql`organization_id = ${organizationId}::int AND ${mayReadDonors}::boolean`
    : sql`organization_id = ${organizationId}::int`;

function whereDeposits(scope: EntityScope, { startDate, endDate, pending }: DepositFilter): Prisma.Sql {
  const conditions = [
    readable('deposit', scope),
    ...(startDate === undefined ? [] : [sql`deposit_date >= ${startDate}::date`]),
    ...(endDate === undefined ? [] : [sql`deposit_date <= ${endDate}::date`]),
    ...wherePending('status', pending),
  ];
  return join(conditions, ' AND ');
}

function whereDonors(scope: EntityScope, search: string | undefined): Prisma.Sql {
  const all = readable('donor', scope);
  return search === undefined ? all : sql`${all} AND ${nameBegins(search)}`;
}
