import { closeOrder, type ClosedMonth, type PeriodClose, type PeriodStore, type Reopened } from '../../data/books/period-store';
import type { BookReader, RequestBooks } from '../../data/books/request-books';
import type { VersionStamp } from '../../data/postgres/version-stamp';
import { AppError, InputError } from '../../errors';
import { describeDateFault, isLocalDate, type LocalDate } from '../../values/dates';
import { addDays, findToday, toMonths, type OrganizationCalendar } from '../../values/periods';
import type { ChangingUser, RightsAudit } from '../audit/rights-audit';
import { readPage, type Page, type PageParameters } from '../paging/keyset-page';
import { toLineSet, type DepositDetailService } from './deposit-detail-service';
import type { BookService } from '../books/book-service';

/** The organization whose months are closed. */
interface ClosingOrganization extends OrganizationCalendar {
  readonly id: number;
}

/** The one who closes or reopens: a user or a provision by GraphQL, or an operator. */
export interface Closer {
  readonly name: string | null;
  /** Undefined for an operator. */
  readonly request?: ClosingRequest;
}

/** A request that closes or reopens. */
interface ClosingRequest {
  readonly user: ChangingUser;
  readonly reader: BookReader;
  /** Checks again that the caller may close. Throws the AppError of the check that fails. */
  readonly recheck: () => Promise<unknown>;
}

/** The most months of a close. Queries for a page of closes with their months have a cost by it. */
export const MAX_CLOSED_MONTHS = 360;
/** The times that months are read while imports change the books. */
const MAX_READINGS = 5;
const MAX_TEXT_LENGTH = 1000;

/** The closed months of the books: what is in them is as it was reported, unless a late change is let in. */
export class PeriodService {
  constructor(
    private readonly store: PeriodStore,
    private readonly services: {
      readonly books: BookService;
      readonly depositDetails: DepositDetailService;
      readonly rights: RightsAudit;
    },
  ) {}

  /** The last closed date of a state, or of the newest one; null where none is closed. */
  closedThrough(organizationId: number, state: VersionStamp | undefined, books: RequestBooks): Promise<LocalDate | null> {
    return this.store.findClosedThrough(organizationId, state, books);
  }

  /** A page of the closes, the newest first. Throws INVALID_PARAMETERS when the page's parameters are wrong. */
  closes(organizationId: number, page: PageParameters, books: RequestBooks): Promise<Page<PeriodClose>> {
    const list = { order: closeOrder, query: ['closes', organizationId], count: () => this.store.countCloses(organizationId, books) };
    return readPage(page, list, (bounds) => this.store.listCloses(organizationId, bounds, books));
  }

  /** The newest closes, for an operator. */
  async newestCloses(organizationId: number, limit: number): Promise<readonly PeriodClose[]> {
    const opened = this.services.books.openForOperator(organizationId);
    try {
      return await this.store.listCloses(organizationId, { limit, fromEnd: false }, opened);
    } finally {
      await opened.close();
    }
  }

  /**
   * Closes all months up to a date and keeps their figures. Throws INVALID_PARAMETERS for a date in the future and for too many months,
   * PERIOD_CLOSED for a date that is closed, and BOOKS_CHANGING while imports do not let the months be read.
   */
  async close(organization: ClosingOrganization, through: LocalDate, givenNote: string | undefined, closer: Closer): Promise<PeriodClose> {
    assertDate(through);
    const note = toText('note', givenNote);
    const { today } = findToday(organization);
    if (through > today)
      throw new InputError(`through: ${through} is in the future: it is ${today} in ${organization.timeZone}`, 'through');
    for (let reading = 1; reading <= MAX_READINGS; reading++) {
      const reader = closer.request?.reader;
      const read = await this.readMonths(organization.id, through, reader);
      const close = { through, closedBy: closer.name, note, reader, ...read };
      const closed = await this.store.insert(organization.id, close, () => this.note(organization.id, 'period close', through, closer));
      if (closed) return closed;
    }
    throw new AppError('BOOKS_CHANGING', { fault: 'imports have changed them again and again; try again later', retryAfterSeconds: 10 });
  }

  /**
   * Reopens the close of a date and every later one. Throws INVALID_PARAMETERS when no close of that date is in force, and BOOKS_CHANGING
   * while an import runs.
   */
  reopen(organizationId: number, through: LocalDate, givenReason: string, closer: Closer): Promise<Reopened> {
    assertDate(through);
    const reason = toText('reason', givenReason);
    if (reason === null) throw new InputError('reason is empty', 'reason');
    const reopening = { through, reopenedBy: closer.name, reason, reader: closer.request?.reader };
    return this.store.reopen(organizationId, reopening, async (inForce) => {
      if (!inForce.includes(through)) {
        const known = inForce.length > 0 ? `in force are those through ${inForce.join(', ')}` : 'none is in force';
        throw new InputError(`through: there is no close through ${through}: ${known}`, 'through');
      }
      await this.note(organizationId, 'period reopen', through, closer);
    });
  }

  /** The months that a close up to a date would close, as one state of the books has them. */
  private async readMonths(
    organizationId: number,
    through: LocalDate,
    reader: BookReader | undefined,
  ): Promise<{ readonly months: readonly ClosedMonth[]; readonly version: VersionStamp }> {
    const { books, depositDetails } = this.services;
    const snapshot = books.openNewest(organizationId, reader);
    try {
      const { closedThrough, firstDate } = await this.store.findOpenDays(organizationId, snapshot);
      if (closedThrough !== null && through <= closedThrough)
        throw new AppError('PERIOD_CLOSED', { fault: `the books are closed through ${closedThrough} already`, argument: 'through' });
      const from = closedThrough === null ? firstDate : addDays(closedThrough, 1);
      const periods = from === null ? [] : toMonths(from, through);
      if (periods.length > MAX_CLOSED_MONTHS)
        throw new InputError(
          `through: from ${from} on these are ${periods.length} months, and a close has at most ${MAX_CLOSED_MONTHS}: close the earlier ones first`,
          'through',
        );
      const months: ClosedMonth[] = [];
      for (const period of periods) {
        const { totals, ...digests } = await depositDetails.readFigures(
          toLineSet(organizationId, { ...period, pending: 'WITHOUT' }),
          snapshot,
        );
        const { lines, transactions, deposits, byLine, byTransaction, byAllocation } = totals;
        months.push({
          ...period,
          ...{ lines, transactions, deposits, lineAmount: byLine.amount, transactionAmount: byTransaction.amount },
          ...{ allocationAmount: byAllocation.amount, unknownAllocations: byAllocation.unknown, ...digests },
        });
      }
      return { months, version: snapshot.version! };
    } finally {
      await snapshot.close();
    }
  }

  /**
   * Checks again that the closer is there and may do this, because reading and waiting may have taken long, and notes it. The note of a close
   * and the reason of a reopening are free texts, which may name somebody: the audit has neither.
   */
  private async note(organizationId: number, command: string, through: LocalDate, { request }: Closer): Promise<void> {
    await request?.recheck();
    request?.reader.signal.throwIfAborted();
    await this.services.rights.note(organizationId, command, `months through ${through}`, undefined, request?.user);
  }
}

function assertDate(through: LocalDate): void {
  if (!isLocalDate(through)) throw new InputError(`through: ${describeDateFault(through)}`, 'through');
}

/** A text without the blanks around it; null when nothing is left. */
function toText(name: string, given: string | undefined): string | null {
  const text = given?.trim() ?? '';
  if (text.length > MAX_TEXT_LENGTH) throw new InputError(`${name} is longer than ${MAX_TEXT_LENGTH} characters`, name);
  if (/\p{Cc}/u.test(text)) throw new InputError(`${name} has control characters`, name);
  return text === '' ? null : text;
}
