import { useSyncExternalStore } from 'react';
import type { PeriodClosesQuery, PeriodClosesQueryVariables } from '../../../generated/operations/graphql';
import { addDays } from '../../../values/periods';
import closesQuery from '../queries/period-closes.graphql?raw';
import { askGateway } from '../session/gateway-client';
import { FIRST_DAY } from '../values/periods';

/** A close that is in force: the last day that it closed, and the data version by which the books as they were then can be asked for. */
export interface Close {
  readonly version: number;
  /** The day after the close before it. That of the first close is the first day that a period may have. */
  readonly startDate: string;
  readonly through: string;
  readonly closedAt: string;
  /** False once the state of the close was pruned. */
  readonly isKept: boolean;
}

/** Pages of a hundred closes. A gateway that never ends its list does not hold the page. */
const MAX_PAGES = 50;

interface FetchOptions {
  readonly signal?: AbortSignal;
  /** The version of the books whose closes are meant; without it, the newest one. */
  readonly version?: number;
}

/** Fetches the closes that are in force, the newest first, which is also the one with the latest date. */
export async function fetchCloses(provision: string, { signal, version: state = Infinity }: FetchOptions = {}): Promise<readonly Close[]> {
  const closes: Omit<Close, 'startDate'>[] = [];
  let after: string | null = null;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const variables: PeriodClosesQueryVariables = { after };
    const answer: PeriodClosesQuery = await askGateway(provision, { query: closesQuery, variables }, signal);
    const { periodCloses, history } = answer;
    // A reopened close stays in the list. It was in force until then.
    for (const { version, through, closedAt, reopenedVersion } of periodCloses?.nodes ?? [])
      if (version <= state && (reopenedVersion === null || reopenedVersion > state))
        closes.push({ version, through, closedAt, isKept: version >= (history?.earliest.number ?? 0) });
    if (!periodCloses?.pageInfo.hasNextPage) break;
    after = periodCloses.pageInfo.endCursor;
  }
  return closes.map((close, n) => ({ ...close, startDate: toStartDate(closes[n + 1]?.through) }));
}

/** The first day that a close covers behind the last day of the close before it. A late line may have any date before the first close. */
const toStartDate = (closedBefore: string | undefined): string => (closedBefore === undefined ? FIRST_DAY : addDays(closedBefore, 1));

let changes = 0;
const listeners = new Set<() => void>();

/** Tells the open parts of the page that a close was made or reopened here. */
export function tellClosesChanged(): void {
  changes++;
  for (const listener of listeners) listener();
}

const listen = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** A number that changes with the closes, for effects that read them. */
export const useClosesChanges = (): number => useSyncExternalStore(listen, () => changes);
