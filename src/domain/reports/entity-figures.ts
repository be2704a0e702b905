import type { RequestBooks } from '../../data/books/request-books';
import type { ExtraFigure, DepositSummaryStore, GroupRow, SummaryQuestion } from '../../data/reports/deposit-summary-store';
import type { EntityScope } from '../../data/reports/entity-set';
import type { DepositEntity, EntityStore } from '../../data/reports/entity-store';
import type { LineSet } from '../../data/books/line-set';
import type { KeysetPage } from '../../data/postgres/keyset';
import { entityIds, type EntityId, type FigureName } from '../../formats/entity-edges';
import type { EntityKind } from '../../line/line-fields';
import type { DateBasis, LineFilter, PendingChoice } from '../../formats/line-conditions';
import type { GroupBy } from '../../formats/line-groups';
import { ALL_TIME, daysBetween, type LocalDate } from '../../values/dates';
import { findDateOrderFault } from './date-order';
import { Loader, type Eventually } from '../paging/loader';
import { NO_TOTALS, toTotals, type AllocationAmounts, type SummaryTotals } from './summary-figures';

/** The figures of each field. */
export type FiguresOf<Name extends FigureName> = Name extends 'Transaction.allocationsTotal' ? AllocationAmounts : SummaryTotals;

/** The lines that count, and the extra figures that are asked for. */
export interface FigureParameters {
  readonly startDate?: LocalDate | null | undefined;
  readonly endDate?: LocalDate | null | undefined;
  /** The dates of deposits when it is missing. */
  readonly dateBasis?: DateBasis | undefined;
  readonly pending?: PendingChoice | undefined;
  readonly extras: readonly ExtraFigure[];
}

/**
 * Deposits that lie further apart than this on average are read one by one. The figure is measured: reading a line costs as much as passing
 * seven.
 */
const MOST_DAYS_BETWEEN = 7;

/** The way to group lines by an entity, and the condition on its lines. */
interface Totalled {
  readonly kind: EntityKind;
  readonly by: GroupBy;
  readonly filter: (ids: readonly EntityId[]) => LineFilter;
}
const TOTALLED: Readonly<Record<Exclude<FigureName, 'Transaction.allocationsTotal'>, Totalled>> = {
  'Deposit.totals': { kind: 'deposit', by: 'DEPOSIT', filter: (ids) => ({ depositIds: ids as readonly string[] }) },
  'Designation.totals': { kind: 'designation', by: 'DESIGNATION', filter: (ids) => ({ designationIds: ids as readonly number[] }) },
  'Donor.totals': { kind: 'donor', by: 'DONOR', filter: (ids) => ({ donorIds: ids as readonly number[] }) },
};

/** The groups of entities, of which there are no more than ids that were asked for. */
const ALL_GROUPS: KeysetPage = { limit: Number.MAX_SAFE_INTEGER, fromEnd: false };

/** The figures of one request's entities. One statement adds them up for all entities of a list. */
export class EntityFigures {
  private readonly loaders = new Map<string, Loader<unknown>>();
  /** The dates of the deposits whose totals are asked for: an index has the lines of a deposit by its date. */
  private readonly dates = new Map<EntityId, LocalDate>();

  constructor(
    private readonly store: EntityStore,
    private readonly summaries: DepositSummaryStore,
    private readonly books: RequestBooks,
    private readonly scope: EntityScope,
  ) {}

  /** The figures of an entity. Throws START_DATE_AFTER_END_DATE. */
  get<Name extends FigureName>(name: Name, entity: object, parameters: FigureParameters): Eventually<FiguresOf<Name>> {
    const fault = faultOf(parameters);
    if (fault) throw fault;
    return this.loaderOf(name, parameters).get(this.note(name, entity)) as Eventually<FiguresOf<Name>>;
  }

  /** Reads the figures of these entities together. Wrong parameters are left to the field that asks. */
  async readAhead(name: FigureName, entities: readonly object[], parameters: FigureParameters): Promise<void> {
    if (faultOf(parameters) || entities.length === 0) return;
    await this.loaderOf(name, parameters).readAhead([...new Set(entities.map((entity) => this.note(name, entity)))]);
  }

  /** The id of the entity, whose date is kept when it is a deposit. */
  private note(name: FigureName, entity: object): EntityId {
    const id = (entity as Readonly<Record<string, EntityId>>)[entityIds[kindOf(name)].field]!;
    if (name === 'Deposit.totals') this.dates.set(id, (entity as DepositEntity).depositDate);
    return id;
  }

  private loaderOf(name: FigureName, parameters: FigureParameters): Loader<unknown> {
    const { startDate = null, endDate = null, dateBasis = null, pending = null, extras } = parameters;
    const key = JSON.stringify([name, startDate, endDate, dateBasis, pending, extras]);
    const known = this.loaders.get(key);
    if (known) return known;
    const read = (ids: readonly EntityId[]): Promise<readonly unknown[]> =>
      name === 'Transaction.allocationsTotal' ? this.shares(ids) : this.totals(name, ids, parameters);
    const loader = new Loader<unknown>({ read, entitiesOf: () => [] });
    this.loaders.set(key, loader);
    return loader;
  }

  private async shares(ids: readonly EntityId[]): Promise<AllocationAmounts[]> {
    const found = await this.store.sumShares(this.scope, ids);
    return ids.map((id) => found.get(id) ?? NO_TOTALS.byAllocation);
  }

  private async totals(name: keyof typeof TOTALLED, ids: readonly EntityId[], parameters: FigureParameters): Promise<SummaryTotals[]> {
    const { kind, by, filter } = TOTALLED[name];
    const extras = parameters.extras.filter((extra) => extra !== 'donors' || this.scope.mayReadDonors);
    const lineSet: LineSet = { organizationId: this.scope.organizationId, ...this.periodOf(name, ids, parameters), filter: filter(ids) };
    const rows = await this.read(name, { lineSet, groupBy: [by], fiscalYearStart: 1 }, extras);
    const { field } = entityIds[kind];
    const found = new Map(
      rows.filter(({ part }) => part === 'ALL').map((row) => [(row as unknown as Record<string, EntityId>)[field]!, row]),
    );
    return ids.map((id) => {
      const row = found.get(id);
      return row ? toTotals(row, extras) : NO_TOTALS;
    });
  }

  private periodOf(name: FigureName, ids: readonly EntityId[], parameters: FigureParameters) {
    const { startDate, endDate, dateBasis = 'DEPOSIT_DATE', pending = 'WITHOUT' } = parameters;
    if (name !== 'Deposit.totals') {
      return { startDate: startDate ?? ALL_TIME.startDate, endDate: endDate ?? ALL_TIME.endDate, dateBasis, pending };
    }
    const days = [...new Set(ids.map((id) => this.dates.get(id)!))].sort();
    const [first, last] = [days[0]!, days.at(-1)!];
    // Years may lie between two deposits of a list, and their lines are not read. Where few lie between, one pass over all of them is
    // quicker.
    const areFar = daysBetween(first, last) > MOST_DAYS_BETWEEN * days.length;
    return { startDate: first, endDate: last, dateBasis, days: areFar ? days : undefined, pending: 'WITH' as const };
  }

  /**
   * The lines of deposits and of donors are found by an index. Those of a fund may be all lines of a period, which takes a lane of the
   * queue.
   */
  private async read(name: FigureName, question: SummaryQuestion, extras: readonly ExtraFigure[]): Promise<readonly Readonly<GroupRow>[]> {
    const order = { field: 'KEY', isDescending: false } as const;
    const asked = { extras, contact: [] };
    if (name !== 'Designation.totals') {
      const { organizationId } = this.scope;
      return this.summaries.groups(question, asked, order, ALL_GROUPS, { list: (select) => this.books.list(organizationId, select) });
    }
    return this.books.once(JSON.stringify(['groups of', extras, question]), (snapshot) =>
      this.summaries.groups(question, asked, order, ALL_GROUPS, snapshot),
    );
  }
}

const kindOf = (name: FigureName): EntityKind => (name === 'Transaction.allocationsTotal' ? 'transaction' : TOTALLED[name].kind);

const faultOf = ({ startDate, endDate }: FigureParameters) => findDateOrderFault(startDate ?? undefined, endDate ?? undefined);
