import type { DonorState, Erased, ErasedDonor, Erasure, ErasureStore, Mentions, StateRows } from '../../data/books/erasure-store';
import type { LineSet } from '../../data/books/line-set';
import type { RequestBooks } from '../../data/books/request-books';
import { InputError } from '../../errors';
import type { RightsAudit } from '../audit/rights-audit';

/** The outcome of the erasing of one donor. */
export interface ErasureResult {
  readonly donorId: number;
  /** Null when nothing was erased, because the donor was erased before and has no texts. */
  readonly erased: Erased | null;
  /** The rows that may name the donor by text. They stay as they are. */
  readonly mentions: Mentions;
}

/** The outcome of the erasing of a register's donors. */
interface RepeatedErasures {
  /** The donors whom this has erased: those who were not erased yet, and those who had texts again. */
  readonly registered: number;
  /** Those among them whose texts the books had. */
  readonly withTexts: number;
}

interface ErasureOptions extends Erasure {
  /** True when the erasure is undone at its end. */
  readonly isTrial: boolean;
}

const MAX_REASON_LENGTH = 1000;
/** The number of mentions of each kind that are listed. */
const MAX_MENTIONS = 100;

/** Forgets donors: their texts leave the books and all states of the lines, and their numbers and money stay. */
export class ErasureService {
  constructor(
    private readonly store: ErasureStore,
    private readonly rights: RightsAudit,
  ) {}

  /** The donors who were erased, the last one first. */
  list(organizationId: number): Promise<readonly ErasedDonor[]> {
    return this.store.list(organizationId);
  }

  /** The numbers of the donors who were erased. */
  async findDonors(organizationId: number): Promise<ReadonlySet<number>> {
    return new Set((await this.store.list(organizationId)).map(({ donorId }) => donorId));
  }

  /**
   * The name by which the bytes of a state are told from those before an erasure; the stamp of its version where no donor was erased after
   * it, and undefined for the newest state.
   */
  async nameBytes({ organizationId, state }: LineSet, books: RequestBooks): Promise<string | undefined> {
    const erasure = state === undefined ? undefined : await this.store.findStampAfter(organizationId, state, books);
    return erasure === undefined ? state : `${state!}, erased at ${erasure}`;
  }

  /** The number of states of lines of a file's rows whose texts an erasure after an instant has emptied. */
  countErasedIn(rows: StateRows, since: Date, books: RequestBooks): Promise<number> {
    return this.store.countErasedIn(rows, since, books);
  }

  /**
   * Erases a donor as a data version. Throws INVALID_PARAMETERS for a number that no donor has, and for a reason that is empty, too long, or
   * has a text of the donor, because the reason is kept.
   */
  async erase(organizationId: number, { donorId, reason: given, erasedBy, isTrial }: ErasureOptions): Promise<ErasureResult> {
    const reason = toReason(given);
    return this.store.inTransaction(organizationId, isTrial, async (transaction) => {
      const mentions = await transaction.findMentions(donorId, MAX_MENTIONS);
      await transaction.lock();
      const [donor] = await transaction.find([donorId]);
      if (!donor!.isKnown && !donor!.hasTexts && !donor!.isErased)
        throw new InputError(`donor: the books have no donor ${donorId}`, 'donor');
      const field = await transaction.findInReason(donorId, reason);
      if (field !== null)
        throw new InputError(`reason: it has a text of the donor (${field}), and it is kept: write it without names and contact`, 'reason');
      if (!isToErase(donor!)) return { donorId, erased: null, mentions };
      // A row of the audit is written before the change, and a trial changes nothing.
      if (!isTrial) await this.rights.note(organizationId, 'donor erase', `donor ${donorId}`);
      return { donorId, erased: await transaction.erase([{ donorId, reason, erasedBy }]), mentions };
    });
  }

  /**
   * Erases the donors of a register whom a restored backup does not have as erased, as one data version. Those that it does not know are
   * erased too: a later import may bring them. The last entry of a donor counts.
   */
  eraseAgain(organizationId: number, register: readonly Erasure[]): Promise<RepeatedErasures> {
    const byDonor = new Map(register.map((erasure) => [erasure.donorId, erasure]));
    return this.store.inTransaction(organizationId, false, async (transaction) => {
      await transaction.lock();
      const donors = (await transaction.find([...byDonor.keys()])).filter(isToErase);
      // A row of the audit is written before the change.
      for (const { donorId } of donors) await this.rights.note(organizationId, 'donor erase', `donor ${donorId}`);
      if (donors.length > 0) await transaction.erase(donors.map(({ donorId }) => byDonor.get(donorId)!));
      return { registered: donors.length, withTexts: donors.filter(({ hasTexts }) => hasTexts).length };
    });
  }
}

const isToErase = ({ hasTexts, isErased }: DonorState): boolean => hasTexts || !isErased;

function toReason(given: string): string {
  const reason = given.trim();
  if (reason === '') throw new InputError('reason is empty', 'reason');
  if (reason.length > MAX_REASON_LENGTH) throw new InputError(`reason is longer than ${MAX_REASON_LENGTH} characters`, 'reason');
  if (/\p{Cc}/u.test(reason)) throw new InputError('reason has control characters', 'reason');
  return reason;
}
