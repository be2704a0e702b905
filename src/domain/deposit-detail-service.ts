import type { DepositDetailLine, DepositDetailSnapshot, DepositDetailStore } from '../data/deposit-detail-store';
import { isLocalDate, type LocalDate } from '../dates';
import { AppError } from '../errors';
import { createRowRenderer } from '../row-renderer';
import type { RowStream } from '../row-stream';
import type { RowTemplate } from '../row-template';

export type { DepositDetailLine } from '../data/deposit-detail-store';

/** A report's parameters as a caller sent them. */
export interface ReportParameters {
  readonly startDate: unknown;
  readonly endDate: unknown;
  readonly includePending: unknown;
}

/** What was checked of them: two calendar dates in order, both included, and whether pending deposits are wanted. */
export interface ReportPeriod {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly includePending: boolean;
}

/** The one state of the data that a whole answer is read from; close it in any case. */
export type ReportSnapshot = Pick<DepositDetailSnapshot, 'close' | 'prepare' | 'signal'>;

export class DepositDetailService {
  constructor(
    private readonly store: DepositDetailStore,
    private readonly timeoutMs: number,
  ) {}

  /** Costs nothing until something is read from it. The signal tells that the reader has left. */
  openSnapshot(signal: AbortSignal): ReportSnapshot {
    return this.store.openSnapshot({ signal, timeoutMs: this.timeoutMs });
  }

  /** The report of an organization: a line for each allocation, by deposit date, deposit, transaction, allocation. */
  report(organizationId: number, period: ReportPeriod, snapshot: ReportSnapshot): RowStream<DepositDetailLine> {
    const query = { organizationId, ...period };
    const prepared = snapshot.prepare(query);
    return {
      bytes: (template) => render(prepared.copy(template.columns.map(({ field }) => field)), template),
      objects: () => this.store.list(query),
    };
  }
}

/** Throws INVALID_PARAMETERS, or START_DATE_AFTER_END_DATE where everything else is right. */
export function toReportPeriod({ startDate, endDate, includePending }: ReportParameters): ReportPeriod {
  if (!isLocalDate(startDate) || !isLocalDate(endDate) || typeof includePending !== 'boolean') throw new AppError('INVALID_PARAMETERS');
  if (startDate > endDate) throw new AppError('START_DATE_AFTER_END_DATE');
  return { startDate, endDate, includePending };
}

async function* render(copy: AsyncIterable<Buffer>, template: RowTemplate): AsyncGenerator<Buffer> {
  const renderer = createRowRenderer(template);
  for await (const piece of copy) {
    let at = renderer.render(piece, 0);
    while (at < piece.length) {
      yield renderer.take();
      at = renderer.render(piece, at);
    }
  }
  const rest = renderer.take();
  if (rest.length > 0) yield rest;
}
