import { lineOrders, type DepositDetailLine, type DepositDetailStore, type LineOrder } from '../data/deposit-detail-store';
import type { LineSet } from '../data/line-set';
import type { Caller } from '../data/postgres/fair-queue';
import type { OrderKey } from '../data/postgres/keyset';
import type { ReportSnapshot } from '../data/postgres/report-snapshot';
import { AppError } from '../errors';
import type { LineFilterInput, PendingChoice } from '../formats/line-conditions';
import { renderRows, type RowStream } from '../rows/row-stream';
import type { RowTemplate } from '../rows/row-template';
import { isLocalDate, type LocalDate } from '../values/dates';
import { readPage, type Page, type PageParameters } from './keyset-page';
import { toLineFilter } from './line-filter';

/** A report's parameters as a caller sent them. */
export interface ReportParameters {
  readonly startDate: unknown;
  readonly endDate: unknown;
  readonly includePending: unknown;
}

/** The same, with what narrows the lines. */
export interface LineParameters extends ReportParameters {
  readonly filter?: (LineFilterInput & { readonly pending?: PendingChoice | null | undefined }) | null | undefined;
}

/** What was checked of them: two calendar dates in order, both included, and whether pending deposits are wanted. */
export interface ReportPeriod {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly pending: PendingChoice;
}

export class DepositDetailService {
  constructor(
    private readonly store: DepositDetailStore,
    private readonly timeoutMs: number,
  ) {}

  /** Costs nothing until something is read from it. The signal tells that the reader has left. */
  openSnapshot(signal: AbortSignal, caller: () => Promise<Caller>): ReportSnapshot {
    return this.store.openSnapshot({ signal, caller, timeoutMs: this.timeoutMs });
  }

  /** The report: a line for each allocation, by deposit date, deposit, transaction, allocation. To be read after all else of the answer. */
  report(lineSet: LineSet, snapshot: ReportSnapshot): RowStream<DepositDetailLine> {
    const copy = snapshot.prepare();
    return {
      bytes: (template) => renderRows(this.store.copyLines(copy, lineSet, template.columns), template),
      objects: () => this.store.list(lineSet),
    };
  }

  /** The same lines, for a use within the answer. */
  bytes(lineSet: LineSet, template: RowTemplate, snapshot: ReportSnapshot): AsyncGenerator<Buffer> {
    return renderRows(
      this.store.copyLines((select) => snapshot.copy(select), lineSet, template.columns),
      template,
    );
  }

  /**
   * A page of the lines, of the snapshot's state or, where it `isNewest`, of that of the moment. Throws INVALID_PARAMETERS for what is
   * wrong with the page.
   */
  page(
    lineSet: LineSet,
    order: LineOrder,
    page: PageParameters,
    { snapshot, isNewest }: { readonly snapshot: ReportSnapshot; readonly isNewest: boolean },
  ): Promise<Page<DepositDetailLine>> {
    const list = {
      order: lineOrders[order.field],
      query: ['lines', lineSet, order],
      count: () => this.store.count(lineSet, snapshot),
      ...(lineOrders[order.field].isPersonal && {
        hasPlace: ([id]: OrderKey) => this.store.has(lineSet.organizationId, id!, snapshot),
      }),
    };
    return readPage(page, list, (bounds) => this.store.listPage(lineSet, order, bounds, isNewest ? undefined : snapshot));
  }
}

/** Throws INVALID_PARAMETERS, or START_DATE_AFTER_END_DATE where everything else is right. */
export function toReportPeriod({ startDate, endDate, includePending }: ReportParameters): ReportPeriod {
  if (!isLocalDate(startDate) || !isLocalDate(endDate) || typeof includePending !== 'boolean') throw new AppError('INVALID_PARAMETERS');
  if (startDate > endDate) throw new AppError('START_DATE_AFTER_END_DATE');
  return { startDate, endDate, pending: includePending ? 'WITH' : 'WITHOUT' };
}

/** The lines of an organization's period. */
export const toLineSet = (organizationId: number, period: ReportPeriod): LineSet => ({ organizationId, ...period, filter: {} });

/** The same, narrowed by a filter, which decides about pending deposits where it names them. Throws as `toReportPeriod` and `toLineFilter`. */
export function toNarrowedLineSet(organizationId: number, { filter, ...period }: LineParameters): LineSet {
  const { pending, ...dates } = toReportPeriod(period);
  return { organizationId, ...dates, pending: filter?.pending ?? pending, filter: toLineFilter(filter) };
}
