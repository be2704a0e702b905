import { BookSource } from '../reading/book-source';
import type { Database } from '../postgres/database';
import type { Replicas } from '../reading/replicas';
import type { ReportQueue } from '../reading/report-queue';
import { ReportSnapshot } from '../reading/report-snapshot';
import { RequestTimes } from '../postgres/request-times';
import { RequestBooks, type BookReader, type BooksRequest } from './request-books';
import type { VersionMemory } from './version-memory';

/** The parts that read the books. */
interface OpenerParts {
  readonly database: Database;
  readonly replicas: Replicas;
  readonly queue: ReportQueue;
  /** Totals, groups, counts and digests, which are kept by data version. */
  readonly totals: VersionMemory;
  /** Milliseconds after which the answer to a request is given up. */
  readonly timeoutMs: number;
}

/** The books of a whole organization may take longer than any report, and no caller waits for them. */
const WHOLE_TIMEOUT_MS = 86_400_000;

/** Opens the books. It costs nothing until something is read. */
export class BookOpener {
  constructor(private readonly parts: OpenerParts) {}

  /** Opens the books for a request: on a replica that has the version at which the access was checked, or on the primary. */
  open(request: BooksRequest): RequestBooks {
    const { replicas, queue, totals, timeoutMs } = this.parts;
    const source = replicas.openSource(request.checkedState, request.isPrimary);
    const snapshot = new ReportSnapshot(source, queue, { ...request, timeoutMs });
    return new RequestBooks({ totals, source, snapshot }, request);
  }

  /** Opens the books for an operator's command, which reads one state of the primary. */
  openForOperator(organizationId: number): RequestBooks {
    return this.open(toOperatorRequest(organizationId));
  }

  /** Opens one state for all books of an organization, or the state that another connection to the primary has given this name. */
  openState(organizationId: number, shared?: string): ReportSnapshot {
    const { database, queue } = this.parts;
    const options = { ...toOperatorRequest(organizationId), timeoutMs: WHOLE_TIMEOUT_MS };
    return new ReportSnapshot(new BookSource(database), queue, options, shared);
  }

  /** Opens the newest state of the primary for a reader, who may wait for it longer than for any report; without one for an operator. */
  openNewest(organizationId: number, reader: BookReader | undefined): ReportSnapshot {
    if (!reader) return this.openState(organizationId);
    const { database, queue } = this.parts;
    return new ReportSnapshot(new BookSource(database), queue, { ...reader, times: new RequestTimes(), timeoutMs: WHOLE_TIMEOUT_MS });
  }
}

const toOperatorRequest = (organizationId: number): BooksRequest => ({
  signal: new AbortController().signal,
  caller: () => Promise.resolve({ organizationId, credential: 'operator' }),
  checkedState: () => undefined,
  times: new RequestTimes(),
  isHeld: true,
  isPrimary: true,
});
