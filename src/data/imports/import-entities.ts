import { isStored, lineFields, lineNames, type EntityKind, type StoredName } from '../../line/line-fields';
import type { Column } from './import-columns';
import { toSnakeCase } from '../books/line-columns';

/** A kind of entity of the books, and its form in the staged lines. */
export interface Entity {
  readonly table: string;
  /** The column of a line that has the id. */
  readonly key: Column;
  /**
   * The other columns of a line that the entity is written from. All lines with the same id must agree in them, because it is stored once.
   */
  readonly stated: readonly Column[];
  /** True when no two lines may have the same id. */
  readonly isStatedOnce?: boolean;
  /** The values of a line `l`, by the entity's columns. */
  readonly values: Readonly<Record<string, string>>;
  /** The values that depend on the row `old` that the books have; its columns are NULL for a new entity. */
  readonly kept?: Readonly<Record<string, string>>;
  /** Values that are computed from the others. */
  readonly derived?: Readonly<Record<string, string>>;
  /** More columns of the rows `differing`, for the statements of `effects`. */
  readonly effectColumns?: string;
  /** Statements that record the effects of the rows `differing`, by the name of each. */
  readonly effects: Readonly<Record<string, string>>;
}

/**
 * The part of an entity that follows from the table of fields: the columns of its own fields, and of the ids of the entities that it
 * belongs to, which have the same name in the lines.
 */
function partOf(
  kind: EntityKind,
  key: StoredName,
  belongsTo: readonly StoredName[] = [],
): Pick<Entity, 'table' | 'key' | 'stated' | 'values'> {
  const stated = lineNames.filter(isStored).filter((name) => name !== key && (lineFields[name].of === kind || belongsTo.includes(name)));
  const columnOf = (name: StoredName): string => (belongsTo.includes(name) ? name : toSnakeCase(lineFields[name].as));
  return { table: kind, key, stated, values: Object.fromEntries(stated.map((name) => [columnOf(name), `l.${name}`])) };
}

export const DESIGNATION: Entity = {
  ...partOf('designation', 'designation_id'),
  effects: {
    changed_gifts: `INSERT INTO changed_transaction
  SELECT a.transaction_id FROM allocation a JOIN differing w ON w.is_old AND a.designation_id = w.id WHERE a.organization_id = $1`,
  },
};

export const DONOR: Entity = {
  ...partOf('donor', 'donor_id'),
  derived: { search_text: 'donor_search_forms(first_name, last_name)' },
  effects: {
    changed_gifts: `INSERT INTO changed_transaction
  SELECT t.id FROM transaction t JOIN differing w ON w.is_old AND t.donor_id = w.id WHERE t.organization_id = $1`,
  },
};

const deposit = partOf('deposit', 'deposit_id');
export const DEPOSIT: Entity = {
  ...deposit,
  values: { ...deposit.values, status: `COALESCE(upper(l.deposit_status)::deposit_status, 'POSTED')` },
  // A v2 line does not say whether its deposit is pending: a deposit in the books keeps its status, a new one is posted.
  kept: { status: `COALESCE(upper(l.deposit_status)::deposit_status, old.status, 'POSTED')` },
  effects: {
    changed_gifts: `INSERT INTO changed_transaction
  SELECT t.id FROM transaction t JOIN differing w ON w.is_old AND t.deposit_id = w.id WHERE t.organization_id = $1`,
  },
};

const transaction = partOf('transaction', 'transaction_id', ['deposit_id', 'donor_id']);
export const TRANSACTION: Entity = {
  ...transaction,
  values: { ...transaction.values, donor_id: 'NULLIF(l.donor_id, 0)' },
  effectColumns: 'old.deposit_id AS left_id, old.amount AS amount_before',
  effects: {
    changed_gifts: 'INSERT INTO changed_transaction SELECT id FROM differing',
    corrected: 'INSERT INTO touched_gift SELECT id, amount_before FROM differing WHERE is_old AND amount_before <> amount',
    // The deposits that lose a transaction.
    left_behind: 'INSERT INTO left_deposit SELECT DISTINCT left_id FROM differing WHERE is_old AND left_id <> deposit_id',
  },
};

const allocation = partOf('allocation', 'allocation_id', ['transaction_id', 'designation_id']);
export const ALLOCATION: Entity = {
  ...allocation,
  stated: ['line', ...allocation.stated, 'allocation_amount_unknown'],
  isStatedOnce: true,
  values: { ...allocation.values, amount_unknown: 'false' },
  // A line may also lack the share: a share in the books then stays. `markUnknownShares` says later which shares are unknown.
  kept: {
    amount: 'COALESCE(l.allocation_amount, old.amount)',
    amount_unknown: 'COALESCE(old.amount_unknown, false) AND COALESCE(l.allocation_amount_unknown, true)',
  },
  effectColumns: 'old.transaction_id AS left_id, l.line',
  effects: {
    // A transaction that loses an allocation may infer another share from then on.
    changed_gifts: `INSERT INTO changed_transaction
  SELECT transaction_id FROM differing UNION ALL SELECT left_id FROM differing WHERE is_old AND left_id <> transaction_id`,
    // The transactions that lose an allocation to another, each with the line that says so.
    left_behind: 'INSERT INTO left_transaction SELECT left_id, line FROM differing WHERE is_old AND left_id <> transaction_id',
    moved: `INSERT INTO touched_gift (id)
  SELECT unnest(ARRAY[transaction_id, left_id]) FROM differing WHERE is_old AND left_id <> transaction_id`,
    // A statement sees the allocations from before its own changes, so a new gift has none here.
    added_to: `INSERT INTO touched_gift (id)
  SELECT transaction_id FROM differing
  WHERE NOT is_old AND transaction_id IN (SELECT transaction_id FROM allocation WHERE organization_id = $1)`,
  },
};

/** All kinds, in the order in which their contradictions are looked for. */
export const ENTITIES: readonly Entity[] = [DEPOSIT, TRANSACTION, ALLOCATION, DONOR, DESIGNATION];

/** The lines `l` that name an entity, with a join and to be followed by more conditions. Donor 0 is nobody, so its lines need not agree. */
export const linesOf = ({ key }: Entity, join = ''): string =>
  `import_line l ${join} WHERE ${key === 'donor_id' ? 'l.donor_id > 0' : 'true'}`;

/** The temporary table of the entities that `stageEntities` makes. */
export const stagedTable = ({ table }: Entity): string => `staged_${table}`;

/** The values that an import writes for the rows of a table `l` of staged lines, beside the row `old` of the books. */
export const writtenValues = ({ values, kept }: Entity): Readonly<Record<string, string>> => ({ ...values, ...kept });

/**
 * The condition on a line `l`, or on what it says of an entity, that differs from the row `old` of the books. A new entity has no such row.
 */
export function differsFromBooks(entity: Entity): string {
  const values = Object.entries(writtenValues(entity));
  return `(${values.map(([column]) => `old.${column}`).join(', ')}) IS DISTINCT FROM (${values.map(([, value]) => value).join(', ')})`;
}

/** The join of the rows of the books that have the ids of lines `l`. */
export const joinBooks = ({ table, key }: Entity): string => `LEFT JOIN ${table} old ON old.organization_id = $1 AND old.id = l.${key}`;
