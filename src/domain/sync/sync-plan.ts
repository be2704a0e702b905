import type { SyncState } from '../../data/sync/sync-store';
import type { LocalDate } from '../../values/dates';
import { addDays, toMonths, type PeriodDates } from '../../values/periods';

/** The part of the history that a round reads. */
export interface SyncPlan {
  readonly kind: 'first' | 'window' | 'full';
  /** The periods, each of a month at most, from the oldest on. */
  readonly periods: readonly PeriodDates[];
}

export interface PlanOptions {
  readonly today: LocalDate;
  /** The number of days before the last round that every round reads. */
  readonly windowDays: number;
  /** The days after which a round reads the whole history again: 0 where each does, undefined where none does. */
  readonly fullDays: number | undefined;
}

/** Deposits may be dated ahead of their day. */
const DAYS_AHEAD = 31;
const DAY_MS = 86_400_000;
/** A reading of the whole history that has failed is tried again after this time. */
const FULL_REST_MS = 6 * 3_600_000;

/** Chooses the part of the history that the next round reads. */
export function planRound(state: SyncState & { readonly since: LocalDate }, { today, windowDays, fullDays }: PlanOptions): SyncPlan {
  const last = addDays(today, DAYS_AHEAD);
  const { since, readThrough, lastFullAt, lastSuccessAt, fullTriedAt } = state;
  // After an outage, no day stays unread between the last round and the window.
  const followedTo = lastSuccessAt?.toISOString().slice(0, today.length) ?? today;
  const first = addDays(followedTo < today ? followedTo : today, -windowDays);
  if (lastFullAt === null) {
    const missing = toMonths(readThrough === null ? since : addDays(readThrough, 1), last);
    // A first run that was ended after its last month reads the window once more.
    return { kind: 'first', periods: missing.length > 0 ? missing : toMonths(first < since ? since : first, last) };
  }
  const isDue = fullDays !== undefined && Date.now() - lastFullAt.getTime() >= fullDays * DAY_MS;
  // A fault of an old month must not keep the newest ones from being read.
  const hasRested = fullTriedAt === null || fullTriedAt <= lastFullAt || Date.now() - fullTriedAt.getTime() >= FULL_REST_MS;
  const isFull = isDue && (hasRested || fullDays === 0);
  return isFull || first < since
    ? { kind: isFull ? 'full' : 'window', periods: toMonths(since, last) }
    : { kind: 'window', periods: toMonths(first, last) };
}
