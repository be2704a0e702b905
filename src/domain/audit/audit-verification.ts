import type { AuditChainStore, ChainedRow, ChainEnds } from '../../data/audit/audit-chain-store';
import { CHAIN_START, formatAnchor, toNextPlace, type ChainPlace } from '../../formats/audit-row';

/** The outcome of the verification of a chain. */
export interface AuditVerification {
  /** The rows that were read up to the fault, or all of them. */
  readonly rows: number;
  /** The newest place, and the last that was deleted by age; null when the organization has no chain. */
  readonly ends: ChainEnds | null;
  /** The first row that is not as it was written; null when all are. */
  readonly fault: AuditFault | null;
}

export interface AuditFault {
  readonly number: number;
  /** `added` and `missing` rows break the numbers, a `changed` row its hash. A row that was exchanged for another is a changed one. */
  readonly kind: 'changed' | 'added' | 'missing';
}

/** A fault in words. */
export const describeFault = ({ kind, number }: AuditFault): string =>
  kind === 'missing' ? `row ${number} was taken out` : `row ${number} was ${kind}`;

/** Compares the rows of an organization with their hashes, one after the other, and with a place that an operator wrote down. */
export async function verifyAudit(
  store: AuditChainStore,
  organizationId: number,
  noted: ChainPlace | undefined,
): Promise<AuditVerification> {
  let verification: AuditVerification | undefined;
  await store.read(organizationId, async (ends, rows) => {
    const walk = new ChainWalk(organizationId, ends, noted);
    const fault = (await walk.findFault(rows)) ?? null;
    verification = { rows: walk.rows, ends, fault };
  });
  return verification!;
}

class ChainWalk {
  rows = 0;
  private place: ChainPlace;
  /** True when one of the rows tells of the anchor. */
  private tellsAnchor = false;

  constructor(
    private readonly organizationId: number,
    private readonly ends: ChainEnds | null,
    private readonly noted: ChainPlace | undefined,
  ) {
    this.place = ends?.anchor ?? CHAIN_START;
  }

  async findFault(batches: AsyncGenerator<ChainedRow[]>): Promise<AuditFault | undefined> {
    const { anchor, newest } = this.ends ?? { anchor: CHAIN_START, newest: CHAIN_START };
    const first = this.atNoted(this.place);
    if (first) return first;
    for await (const batch of batches) {
      for (const row of batch) {
        const fault = this.findRowFault(row, newest);
        if (fault) return fault;
        this.rows++;
      }
    }
    const next = this.place.number + 1;
    if (this.place.number < newest.number) return { number: next, kind: 'missing' };
    if (this.place.hash !== newest.hash) return { number: this.place.number, kind: 'changed' };
    if (this.noted && this.noted.number > this.place.number) return { number: next, kind: 'missing' };
    // Rows that were deleted by age leave a row that says so. Rows that were deleted by hand, with the anchor moved, leave none.
    return anchor.number > 0 && !this.tellsAnchor ? { number: anchor.number, kind: 'missing' } : undefined;
  }

  private findRowFault(row: ChainedRow, newest: ChainPlace): AuditFault | undefined {
    const { number } = this.place;
    if (row.number <= number || row.number > newest.number) return { number: row.number, kind: 'added' };
    if (row.number > number + 1) return { number: number + 1, kind: 'missing' };
    const place = toNextPlace(this.place, this.organizationId, row);
    if (place.hash !== row.hash) return { number: row.number, kind: 'changed' };
    this.place = place;
    if (row.kind === 'anchor' && this.ends && row.detail === formatAnchor(this.ends.anchor)) this.tellsAnchor = true;
    return this.atNoted(place);
  }

  /** A row that has another hash than an operator wrote down was written anew, with all rows after it. */
  private atNoted(place: ChainPlace): AuditFault | undefined {
    const { noted } = this;
    return noted?.number === place.number && formatAnchor(noted) !== formatAnchor(place)
      ? { number: place.number, kind: 'changed' }
      : undefined;
  }
}
