import { edgeOrigin, entityEdges, entityIds, type EdgeTarget, type EntityId, type ManyEdgeName } from '../../formats/entity-edges';
import { globalIdOf } from '../../formats/entity-ids';
import type { EntityFilter, EntityOrder } from '../../formats/entity-lists';
import { Prisma } from '../../generated/prisma/client';
import { lineFields, namesOf, type EntityKind, type EntityValues } from '../../line/line-fields';
import type { Money } from '../../values/money';
import type { RequestBooks } from '../books/request-books';
import { readable, toKeyOrder, whereEntities, type EntityScope } from './entity-set';
import { CASTS, IS_CURRENT, toSnakeCase } from '../books/line-columns';
import { selectPage, type KeysetPage } from '../postgres/keyset';
import { isAmong, rowsOf } from '../postgres/value-list';

/** A record that no other record of any kind shares its id with. */
interface Identified {
  /** The global id. It is computed when it is asked for. */
  readonly id: () => string;
}

export interface DepositEntity extends Identified, EntityValues<'deposit'> {}

export interface TransactionEntity extends Identified, EntityValues<'transaction'> {
  readonly depositId: string;
  /** Null for callers who may not read donors too. */
  readonly donorId: number | null;
}

/** The amount is the share that the books state, or else the one that the report infers. */
export interface AllocationEntity extends Identified, EntityValues<'allocation'> {
  readonly transactionId: string;
  readonly designationId: number;
  /** The fund's name is read with the allocation, because nearly every caller shows both. */
  readonly designationName: string;
}

export interface DesignationEntity extends Identified, EntityValues<'designation'> {}

export interface DonorEntity extends Identified, EntityValues<'donor'> {}

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

const { sql, raw, join } = Prisma;

/** The entities of a list, and their order. */
export interface EntityList {
  readonly filter: EntityFilter;
  readonly order: EntityOrder;
}

/** The table of a kind. Its name may be a word of SQL. */
const tableOf = (kind: EntityKind): Prisma.Sql => raw(`"${kind}"`);

/** A column of the allocation's line. The rule of an inferred share is written in the view of the lines and nowhere else. */
const ofLine = (column: string, organizationId: number): Prisma.Sql =>
  sql`(SELECT ${raw(column)} FROM deposit_line WHERE ${raw(IS_CURRENT)} AND organization_id = ${organizationId}::int AND allocation_id = source.id)`;

const ifReadable = (value: Prisma.Sql, mayReadDonors: boolean): Prisma.Sql => sql`CASE WHEN ${mayReadDonors}::boolean THEN ${value} END`;

/**
 * The values of an entity's own fields. Ids and dates have the report's form; amounts are text. `others` has the SQL of values that are not
 * read from a column of their name, and of those that come from elsewhere.
 */
function valuesOf(kind: EntityKind, { mayReadDonors }: EntityScope, others: Readonly<Record<string, Prisma.Sql>> = {}): Prisma.Sql {
  const own = namesOf(kind).map((name): [string, Prisma.Sql] => {
    const { as, type, isPersonal } = lineFields[name];
    const value = others[as] ?? raw(`${as === entityIds[kind].field ? 'id' : toSnakeCase(as)}${CASTS[type] ?? ''}`);
    return [as, isPersonal && kind !== 'donor' ? ifReadable(value, mayReadDonors) : value];
  });
  return join(Object.entries({ ...others, ...Object.fromEntries(own) }).map(([as, value]) => sql`${value} AS ${raw(`"${as}"`)}`));
}

/** The values that are read of each kind of entity. */
const VALUES: Readonly<Record<EntityKind, (scope: EntityScope) => Prisma.Sql>> = {
  deposit: (scope) => valuesOf('deposit', scope),
  transaction: (scope) =>
    valuesOf('transaction', scope, {
      depositId: raw('deposit_id'),
      netAmount: raw('(amount - fee_amount)::text'),
      donorId: ifReadable(raw('donor_id::float8'), scope.mayReadDonors),
    }),
  allocation: (scope) => {
    const { organizationId } = scope;
    return valuesOf('allocation', scope, {
      transactionId: raw('transaction_id'),
      designationId: raw('designation_id::float8'),
      designationName: sql`(SELECT name FROM designation WHERE organization_id = ${organizationId}::int AND id = source.designation_id)`,
      amount: sql`COALESCE(amount, ${ofLine('allocation_amount', organizationId)})`,
      amountInferred: sql`CASE WHEN amount IS NULL THEN NULLIF(${ofLine('allocation_amount_inferred', organizationId)}, false) ELSE false END`,
    });
  },
  designation: (scope) => valuesOf('designation', scope),
  donor: (scope) => valuesOf('donor', scope),
};

/** Reads entities for one request. Each call is one statement, however many entities it asks for. */
export class EntityStore {
  constructor(private readonly books: RequestBooks) {}

  /** Reads the entities that have one of the ids, in no particular order. Ids without an entity are left out. */
  find<Kind extends EntityKind>(kind: Kind, scope: EntityScope, ids: readonly EntityId[]): Promise<readonly EntityOf<Kind>[]> {
    return this.read(
      kind,
      scope,
      sql`SELECT ${VALUES[kind](scope)} FROM ${tableOf(kind)} AS source
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
      sql`SELECT count(*)::float8 AS count FROM ${tableOf(kind)} AS source WHERE ${whereEntities(kind, scope, filter)}`,
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
    const pageOfOne = selectEntities(kind, scope, list, page, sql`source.${raw(toSnakeCase(by))} = origin.id`);
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
    const column = `source.${toSnakeCase(by)}`;
    const rows = await this.books.list<{ originId: string; count: number }>(
      scope.organizationId,
      sql`SELECT ${raw(column)}::text AS "originId", count(*)::float8 AS count FROM ${tableOf(kind)} AS source
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

/** The SELECT of a page of a kind's entities. */
function selectEntities(kind: EntityKind, scope: EntityScope, list: EntityList, page: KeysetPage, condition?: Prisma.Sql): Prisma.Sql {
  const where = whereEntities(kind, scope, list.filter);
  return selectPage({
    values: VALUES[kind](scope),
    from: sql`${tableOf(kind)} AS source`,
    where: condition ? sql`${where} AND ${condition}` : where,
    order: toKeyOrder(kind, list.order),
    isDescending: list.order.direction === 'DESC',
    page,
  });
}
