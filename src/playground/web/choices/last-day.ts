import { useCallback, useEffect, useState } from 'react';
import { findToday, type OrganizationCalendar } from '../../../values/periods';
import type { VersionDayQuery, VersionDayQueryVariables } from '../../../generated/operations/graphql';
import versionDayQuery from '../queries/version-day.graphql?raw';
import { askGateway } from '../session/gateway-client';
import { isVersion } from '../values/states';

interface LastDay {
  /** As `YYYY-MM-DD`; undefined while the gateway is asked when a version was recorded. */
  readonly lastDay: string | undefined;
  /** Empty for none. */
  readonly fault: string;
  readonly readAgain: () => void;
}

interface Read {
  readonly of: string;
  /** Undefined for a version that the books have not had, of which the report itself tells. */
  readonly recordedAt?: string | undefined;
  readonly fault?: string;
}

/**
 * Finds the last day of which the books of a state can tell: a day itself, the day on which a version was recorded, and today for the newest
 * state. No state tells of days to come.
 */
export function useLastDay(
  provision: string,
  state: string,
  { timeZone, today, fiscalYearStart }: OrganizationCalendar & { readonly today: string },
  onSessionChange: () => void,
): LastDay {
  const [read, setRead] = useState<Read>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!isVersion(state)) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    setRead(undefined);
    const variables: VersionDayQueryVariables = { number: Number(state) };
    askGateway<VersionDayQuery>(provision, { query: versionDayQuery, variables }, signal).then(
      ({ dataVersions }) => signal.aborted || setRead({ of: state, recordedAt: dataVersions?.nodes[0]?.recordedAt }),
      (error: unknown) => {
        if (signal.aborted) return;
        setRead({ of: state, fault: (error as Error).message });
        // The session may have ended.
        onSessionChange();
      },
    );
    return () => controller.abort();
  }, [provision, state, turn, onSessionChange]);
  const readAgain = useCallback(() => setTurn((before) => before + 1), []);
  const { fault = '', recordedAt } = read?.of === state ? read : {};
  const toPast = (day: string): string => (day < today ? day : today);
  if (state === '') return { lastDay: today, fault: '', readAgain };
  if (!isVersion(state)) return { lastDay: toPast(state), fault: '', readAgain };
  const isRead = read?.of === state && fault === '';
  const recorded = recordedAt === undefined ? today : findToday({ timeZone, fiscalYearStart }, new Date(recordedAt)).today;
  return { lastDay: isRead ? toPast(recorded) : undefined, fault, readAgain };
}
