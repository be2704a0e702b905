import { answerEntries } from './answer-entries';
import { callerEntries } from './caller-entries';
import { failureEntries } from './failure-entries';
import { requestEntries } from './request-entries';
import type { Evidence } from './test-evidence';

/** A promise of the gateway, and how it is tried: by tests of the suite, by an attack, or by both. */
export interface TrustEntry {
  /** The number of the entry, `T` and two digits. */
  readonly id: string;
  readonly subject: string;
  readonly goal: string;
  readonly tests?: Evidence;
  /** The file of this folder whose `run` makes the attack. */
  readonly attack?: string;
  /** The longest time that the attack may take; three minutes without it. */
  readonly minutes?: number;
}

/** Everything that is promised, by number. docs/trust.md has a row for each. */
export const catalogue: readonly TrustEntry[] = [...requestEntries, ...callerEntries, ...failureEntries, ...answerEntries].toSorted(
  (one, other) => one.id.localeCompare(other.id),
);
