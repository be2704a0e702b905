import { entityIds } from '../../formats/entity-edges';
import type { EntityKind } from '../../line/line-fields';
import type { EntityFilter, EntityOrder } from '../../formats/entity-lists';
import { Prisma } from '../../generated/prisma/client';
import { hasName, wherePending } from '../books/line-set';
import type { KeyOrder } from '../postgres/keyset';
import { isAmong } from '../postgres/value-list';

const { sql, raw, join, empty } = Prisma;

/** The caller for whom entities are read. Personal data leaves the database only for callers who may read donors. */
export interface EntityScope {
  readonly organizationId: number;
  readonly mayReadDonors: boolean;
}

type Condition<Name extends keyof EntityFilter> = (value: NonNullable<EntityFilter[Name]>, scope: EntityScope) => Prisma.Sql;
type Conditions = { readonly [Name in keyof EntityFilter]?: Condition<Name> };

const hasText = (column: string) => (ids: readonly string[]) => isAmong(column, ids, 'text');
const hasNumber = (column: string) => (ids: readonly number[]) => isAmong(column, ids, 'bigint');
const isFrom = (column: string, type: string) => (value: string) => sql`${raw(column)} >= ${value}::${raw(type)}`;
const isTo = (column: string, type: string) => (value: string) => sql`${raw(column)} <= ${value}::${raw(type)}`;

/** Conditions on rows that belong to an entity. They are put into one EXISTS, so that PostgreSQL looks the rows up once. */
interface Belonging {
  readonly rows: string;
  readonly conditions: Conditions;
}

const exists = (rows: string, conditions: Conditions): Belonging => ({ rows, conditions });

interface KindConditions {
  readonly own: Conditions;
  readonly belonging: readonly Belonging[];
}

/** The amount of a deposit: the sum of its transactions, each counted once. */
const DEPOSIT_AMOUNT = `(SELECT COALESCE(sum(gift.amount), 0) FROM "transaction" AS gift
  WHERE gift.organization_id = source.organization_id AND gift.deposit_id = source.id)`;

const ofDeposit = (deposit: string): Conditions => ({
  startDate: isFrom(`${deposit}.deposit_date`, 'date'),
  endDate: isTo(`${deposit}.deposit_date`, 'date'),
  pending: (pending) => wherePending(`${deposit}.status`, pending)[0] ?? empty,
});

/** The SQL of the conditions on each kind of entity, whose table is called `source`. */
const CONDITIONS: Readonly<Record<EntityKind, KindConditions>> = {
  deposit: {
    own: {
      depositIds: hasText('source.id'),
      minAmount: isFrom(DEPOSIT_AMOUNT, 'numeric'),
      maxAmount: isTo(DEPOSIT_AMOUNT, 'numeric'),
      ...ofDeposit('source'),
    },
    belonging: [
      exists(
        `"transaction" AS gift JOIN allocation AS share ON share.organization_id = gift.organization_id AND share.transaction_id = gift.id
          WHERE gift.organization_id = source.organization_id AND gift.deposit_id = source.id`,
        { designationIds: hasNumber('share.designation_id') },
      ),
    ],
  },
  transaction: {
    own: {
      transactionIds: hasText('source.id'),
      depositIds: hasText('source.deposit_id'),
      donorIds: (ids, { mayReadDonors }) => {
        const nobodys = ids.includes(0) ? sql` OR source.donor_id IS NULL` : empty;
        return sql`${mayReadDonors}::boolean AND (${hasNumber('source.donor_id')(ids)}${nobodys})`;
      },
      fromTransactionDate: isFrom('source.transaction_date', 'date'),
      toTransactionDate: isTo('source.transaction_date', 'date'),
      minAmount: isFrom('source.amount', 'numeric'),
      maxAmount: isTo('source.amount', 'numeric'),
    },
    belonging: [
      exists('allocation AS share WHERE share.organization_id = source.organization_id AND share.transaction_id = source.id', {
        designationIds: hasNumber('share.designation_id'),
      }),
      exists('deposit AS whole WHERE whole.organization_id = source.organization_id AND whole.id = source.deposit_id', ofDeposit('whole')),
    ],
  },
  allocation: {
    own: {
      allocationIds: hasText('source.id'),
      transactionIds: hasText('source.transaction_id'),
      designationIds: hasNumber('source.designation_id'),
    },
    belonging: [
      exists(
        `"transaction" AS gift JOIN deposit AS whole ON whole.organization_id = gift.organization_id AND whole.id = gift.deposit_id
          WHERE gift.organization_id = source.organization_id AND gift.id = source.transaction_id`,
        { depositIds: hasText('gift.deposit_id'), ...ofDeposit('whole') },
      ),
    ],
  },
  designation: {
    own: { designationIds: hasNumber('source.id'), search: (text) => hasName('search_forms(source.name)', text) },
    belonging: [],
  },
  donor: { own: { donorIds: hasNumber('source.id'), search: (text) => hasName('source.search_text', text) }, belonging: [] },
};

/** The entities that the caller may read: those of its organization, and donors only when it may read donors. */
export const readable = (kind: EntityKind, { organizationId, mayReadDonors }: EntityScope): Prisma.Sql =>
  kind === 'donor'
    ? sql`source.organization_id = ${organizationId}::int AND ${mayReadDonors}::boolean`
    : sql`source.organization_id = ${organizationId}::int`;

/** The WHERE clause that selects the readable entities of a kind that meet a filter. */
export function whereEntities(kind: EntityKind, scope: EntityScope, filter: EntityFilter): Prisma.Sql {
  const { own, belonging } = CONDITIONS[kind];
  const taken = [own, ...belonging.map(({ conditions }) => conditions)];
  const unknown = Object.keys(filter).find((name) => !taken.some((conditions) => Object.hasOwn(conditions, name)));
  if (unknown !== undefined) throw new Error(`A list of ${kind}s has no condition ${unknown}`);
  const rows = belonging.flatMap(({ rows: from, conditions }) => {
    const met = toSql(conditions, scope, filter);
    return met.length === 0 ? [] : [sql`EXISTS (SELECT FROM ${raw(from)} AND ${join(met, ' AND ')})`];
  });
  return join([readable(kind, scope), ...toSql(own, scope, filter), ...rows], ' AND ');
}

/** The SQL of those conditions that a filter has a value for. */
const toSql = (conditions: Conditions, scope: EntityScope, filter: EntityFilter): Prisma.Sql[] =>
  Object.entries(filter).flatMap(([name, value]) => {
    const condition = (conditions as Readonly<Record<string, Condition<never> | undefined>>)[name]?.(value as never, scope) ?? empty;
    return condition === empty ? [] : [condition];
  });

/** Names are ordered without regard to case and accents, by an index over these expressions. */
export const folded = (column: string): string => `left(fold_for_search(${column}), 100)`;

/** The orders of each kind. Each has an index, but for the sum that is the amount of a deposit. */
const ORDERS: { readonly [Kind in EntityKind]: Readonly<Record<EntityOrder<Kind>['field'], Omit<KeyOrder, 'fields'>>> } = {
  deposit: {
    DATE: { columns: { deposit_date: 'date', id: 'text' } },
    ID: { columns: { id: 'text' } },
    AMOUNT: { columns: { [DEPOSIT_AMOUNT]: 'numeric', id: 'text' } },
    STATUS: { columns: { status: 'deposit_status', deposit_date: 'date', id: 'text' } },
  },
  transaction: {
    DATE: { columns: { transaction_date: 'date', id: 'text' } },
    ID: { columns: { id: 'text' } },
    AMOUNT: { columns: { amount: 'numeric', id: 'text' } },
  },
  allocation: {
    ID: { columns: { id: 'text' } },
    TRANSACTION: { columns: { transaction_id: 'text', id: 'text' } },
    DESIGNATION: { columns: { designation_id: 'bigint', id: 'text' } },
  },
  designation: {
    ID: { columns: { id: 'bigint' } },
    NAME: { columns: { [folded('name')]: 'text', id: 'bigint' } },
  },
  donor: {
    NAME: { columns: { [folded('last_name')]: 'text', [folded('first_name')]: 'text', id: 'bigint' }, isPersonal: true },
    ID: { columns: { id: 'bigint' } },
  },
};

/** The keys of an order of a kind's entities. Throws for a value that the kind has no order by. */
export function toKeyOrder(kind: EntityKind, { field }: Pick<EntityOrder, 'field'>): KeyOrder {
  const order = (ORDERS[kind] as Readonly<Record<string, Omit<KeyOrder, 'fields'> | undefined>>)[field];
  if (!order) throw new Error(`A list of ${kind}s has no order by ${field}`);
  return { ...order, fields: { id: entityIds[kind].field } };
}
