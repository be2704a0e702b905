import type { PeriodClosesQuery } from '../../../generated/operations/graphql';
import closesQuery from '../queries/period-closes.graphql?raw';
import { askGateway } from '../session/gateway-client';

/** A close that is in force: the days that it closed, and the data version by which the books as they were then can be asked for. */
export interface Close {
  readonly version: number;
  readonly startDate: string;
  readonly through: string;
  readonly closedAt: string;
  /** False once the state of the close was pruned. */
  readonly isKept: boolean;
}

/** Fetches the newest closes that are in force, the newest first. */
export async function fetchCloses(provision: string, signal?: AbortSignal): Promise<readonly Close[]> {
  const { periodCloses, history } = await askGateway<PeriodClosesQuery>(provision, { query: closesQuery }, signal);
  return (periodCloses?.nodes ?? []).flatMap(({ version, through, closedAt, reopenedVersion, months }) => {
    if (reopenedVersion !== null) return [];
    // A close of days without lines has no months.
    const startDate = months[0]?.startDate ?? through;
    return [{ version, startDate, through, closedAt, isKept: version >= (history?.earliest.number ?? 0) }];
  });
}

/** The close that covers a day: the one in force with the first date that is not before it. */
export const findClose = (closes: readonly Close[], day: string): Close | undefined => closes.findLast(({ through }) => through >= day);
