import {
  edgeOrigin,
  entityEdges,
  entityIds,
  type EdgeTarget,
  type EntityId,
  type EntityKind,
  type ManyEdgeName,
} from '../formats/entity-edges';
import { globalIdOf } from '../formats/entity-ids';
import type { EntityFilter, EntityOrder } from '../formats/entity-lists';
import { Prisma } from '../generated/prisma/client';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import type { RequestBooks } from './request-books';
import { readable, toKeyOrder, whereEntities, type EntityScope } from './entity-set';
import { IS_CURRENT } from './line-columns';
import { selectPage, type KeysetPage } from './postgres/keyset';
import { isAmong, rowsOf } from './postgres/value-list';

/** A record that no other record of any kind shares its id with. */
interface Identified {
  /** The global id. It is computed when it is asked for. */
  readonly id: () => string;
}

export interface DepositEntity extends Identified {
  readonly depositId: string;
  readonly depositDate: LocalDate;
  readonly status: 'POSTED' | 'PENDING';
}

export interface TransactionEntity extends Identified {
  readonly transactionId: string;
  readonly depositId: string;
  readonly transactionDate: LocalDate;
  readonly amount: Money;
  readonly feeAmount: Money;
  readonly netAmount: Money;
  readonly status: string;
  readonly accountType: string;
  readonly paymentType: string;
  /** Personal, as is `donorId`: both are null for callers who may not read donors. */
  readonly mainMemo: string | null;
  readonly donorId: number | null;
}

export interface AllocationEntity extends Identified {
  readonly allocationId: string;
  readonly transactionId: string;
  readonly designationId: number;
  /** The fund's name is read with the allocation, because nearly every caller shows both. */
  readonly designationName: string;
  /** The share that the books state, or else the one that the report infers; null when neither exists. */
  readonly amount: Money | null;
  readonly amountInferred: boolean | null;
  /** Personal: null for callers who may not read donors. */
  readonly memo: string | null;
}

export interface DesignationEntity extends Identified {
  readonly designationId: number;
  readonly name: string;
}

export interface DonorEntity extends Identified {
  readonly donorId: number;
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

interface Entities extends Readonly<Record<EntityKind, Identified>> {
  readonly deposit: DepositEntity;
  readonly transaction: TransactionEntity;
  readonly allocation: AllocationEntity;
  readonly designation: DesignationEntity;
  readonly donor: DonorEntity;
}
export type EntityOf<Kind extends EntityKind> = Entities[Kind];

/** The sum of a transaction's shares, null when none is known or inferred, and their numbers. */
interface Shares {
  readonly amount: Money | null;
  readonly known: number;
  readonly inferred: number;
  readonly unknown: number;
}

const { sql, raw } = Prisma;

/** The entities of a list, and their order. */
export interface EntityList {
  readonly filter: EntityFilter;
  readonly order: EntityOrder;
}

interface Table {
  readonly from: string;
  readonly values: (scope: EntityScope) => Prisma.Sql;
}

/** A column of the allocation's line. The rule of an inferred share is written in the view of the lines and nowhere else. */
const ofLine = (column: string, organizationId: number): Prisma.Sql =>
  sql`(SELECT ${raw(column)} FROM deposit_line WHERE ${raw(IS_CURRENT)} AND organization_id = ${organizationId}::int AND allocation_id = source.id)`;

/** The table of each kind of entity and the values that are read from it. Ids and dates have the report's form; amounts are text. */
const TABLES: Readonly<Record<EntityKind, Table>> = {
  deposit: {
    from: '"deposit"',
    values: () => sql`id AS "depositId", deposit_date::text AS "depositDate", status`,
  },
  transaction: {
    from: '"transaction"',
    values: ({
      mayReadDonors,
    }) => sql`id AS "transactionId", deposit_id AS "depositId", transaction_date::text AS "transactionDate", amount,
      fee_amount AS "feeAmount", (amount - fee_amount)::text AS "netAmount", status, account_type AS "accountType",
      payment_type AS "paymentType", CASE WHEN ${mayReadDonors}::boolean THEN main_memo END AS "mainMemo",
      CASE WHEN ${mayReadDonors}::boolean THEN donor_id::float8 END AS "donorId"`,
  },
  allocation: {
    from: '"allocation"',
    values: ({
      organizationId,
      mayReadDonors,
    }) => sql`id AS "allocationId", transaction_id AS "transactionId", designation_id::float8 AS "designationId",
      COALESCE(amount, ${ofLine('allocation_amount', organizationId)}) AS amount,
      CASE WHEN amount IS NULL THEN NULLIF(${ofLine('allocation_amount_inferred', organizationId)}, false) ELSE false END AS "amountInferred",
      (SELECT name FROM designation WHERE organization_id = ${organizationId}::int AND id = source.designation_id) AS "designationName",
      CASE WHEN ${mayReadDonors}::boolean THEN memo END AS memo`,
  },
  designation: {
    from: '"designation"',
    values: () => sql`id::float8 AS "designationId", name`,
  },
  donor: {
    from: '"donor"',
    values: () => sql`id::float8 AS "donorId", first_name AS "firstName", last_name AS "lastName", address1, address2, address3,
      city, state, zip, phone, email`,
  },
};

/** Reads entities for one request. Each call is one statement, however many entities it asks for. */
export class EntityStore {
  constructor(private readonly books: RequestBooks) {}

  /** Reads the entities that have one of the ids, in no particular order. Ids without an entity are left out. */
  find<Kind extends EntityKind>(kind: Kind, scope: EntityScope, ids: readonly EntityId[]): Promise<readonly EntityOf<Kind>[]> {
    const { from, values } = TABLES[kind];
    return this.read(
      kind,
      scope,
      sql`SELECT ${values(scope)} FROM ${raw(from)} AS source
        WHERE ${readable(kind, scope)} AND ${isAmong('id', ids, entityIds[kind].type)}`,
    );
  }

  async list<Kind extends EntityKind>(
    kind: Kind,
    scope: EntityScope,
    list: EntityList,
    page: KeysetPage,
  ): Promise<readonly EntityOf<Kind>[]> {
    const rows = await this.read(kind, scope, selectEntities(kind, scope, list, page));
    return page.fromEnd ? [...rows].reverse() : rows;
  }

  async count(kind: EntityKind, scope: EntityScope, { filter }: EntityList): Promise<number> {
    const [row] = await this.books.list<{ count: number }>(
      scope.organizationId,
      sql`SELECT count(*)::float8 AS count FROM ${raw(TABLES[kind].from)} AS source WHERE ${whereEntities(kind, scope, filter)}`,
    );
    return row!.count;
  }

  /** Reads the same page of several lists of one edge, by the origin's id. An origin without entities has an empty list. */
  async listTargets<Edge extends ManyEdgeName>(
    edge: Edge,
    scope: EntityScope,
    originIds: readonly EntityId[],
    list: EntityList,
    page: KeysetPage,
  ): Promise<Map<EntityId, EntityOf<EdgeTarget<Edge>>[]>> {
    const { many: kind, by } = entityEdges[edge];
    const pageOfOne = selectEntities(kind, scope, list, page, sql`source.${raw(toColumn(by))} = origin.id`);
    // The LIMIT in the lateral subquery forces a nested loop, which keeps the order of each list.
    const rows = await this.read<EdgeTarget<Edge>>(
      kind,
      scope,
      sql`SELECT target.* FROM ${rowsOf(originIds, idTypeOf(edge))} AS origin(id)
        CROSS JOIN LATERAL (${pageOfOne}) AS target`,
    );
    const lists = new Map(originIds.map((id) => [id, [] as EntityOf<EdgeTarget<Edge>>[]]));
    for (const row of rows) lists.get((row as unknown as Readonly<Record<string, EntityId>>)[by]!)!.push(row);
    if (page.fromEnd) for (const list of lists.values()) list.reverse();
    return lists;
  }

  /** Counts the entities of several lists of one edge, on all pages, by the origin's id. */
  async countTargets(
    edge: ManyEdgeName,
    scope: EntityScope,
    originIds: readonly EntityId[],
    { filter }: EntityList,
  ): Promise<Map<EntityId, number>> {
    const { many: kind, by } = entityEdges[edge];
    const column = `source.${toColumn(by)}`;
    const rows = await this.books.list<{ originId: string; count: number }>(
      scope.organizationId,
      sql`SELECT ${raw(column)}::text AS "originId", count(*)::float8 AS count FROM ${raw(TABLES[kind].from)} AS source
        WHERE ${whereEntities(kind, scope, filter)} AND ${isAmong(column, originIds, idTypeOf(edge))} GROUP BY ${raw(column)}`,
    );
    const counts = new Map(rows.map(({ originId, count }) => [originId, count]));
    return new Map(originIds.map((id) => [id, counts.get(String(id)) ?? 0]));
  }

  /** Adds up the shares of transactions, by the transaction's id. A transaction without allocations is left out. */
  async sumShares({ organizationId }: EntityScope, ids: readonly EntityId[]): Promise<Map<EntityId, Shares>> {
    const rows = await this.books.list<Shares & { transactionId: string }>(
      organizationId,
      sql`SELECT share.transaction_id AS "transactionId", sum(line.allocation_amount)::numeric(40, 2)::text AS amount,
          count(line.allocation_amount) FILTER (WHERE NOT line.allocation_amount_inferred)::float8 AS known,
          count(*) FILTER (WHERE line.allocation_amount_inferred)::float8 AS inferred,
          (count(*) - count(line.allocation_amount))::float8 AS unknown
        FROM allocation AS share
        JOIN deposit_line AS line ON line.${raw(IS_CURRENT)} AND line.organization_id = share.organization_id AND line.allocation_id = share.id
        WHERE share.organization_id = ${organizationId}::int AND ${isAmong('share.transaction_id', ids, 'text')}
        GROUP BY share.transaction_id`,
    );
    return new Map(
      rows.map(({ transactionId, amount, known, inferred, unknown }) => [transactionId, { amount, known, inferred, unknown }]),
    );
  }

  private async read<Kind extends EntityKind>(
    kind: Kind,
    { organizationId }: EntityScope,
    select: Prisma.Sql,
  ): Promise<readonly EntityOf<Kind>[]> {
    const rows = await this.books.list(organizationId, select);
    const id = globalIdOf[kind];
    // Requests that share the rows give them the same function. A copy of each row would cost more than reading it.
    for (const row of rows as readonly { id?: () => string }[]) row.id = id;
    return rows as unknown as readonly EntityOf<Kind>[];
  }
}

const idTypeOf = (edge: ManyEdgeName): string => entityIds[edgeOrigin(edge)].type;

/** The column of an entity's field: deposit_id for depositId. */
const toColumn = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The SELECT of a page of a kind's entities. */
function selectEntities(kind: EntityKind, scope: EntityScope, list: EntityList, page: KeysetPage, condition?: Prisma.Sql): Prisma.Sql {
  const { from, values } = TABLES[kind];
  const where = whereEntities(kind, scope, list.filter);
  return selectPage({
    values: values(scope),
    from: sql`${raw(from)} AS source`,
    where: condition ? sql`${where} AND ${condition}` : where,
    order: toKeyOrder(kind, list.order),
    isDescending: list.order.direction === 'DESC',
    page,
  });
}
