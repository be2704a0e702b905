import { useCallback, useMemo, useRef, useState } from 'react';
import { listSavedReports, type SavedReport } from './saved-reports';

/** The organization's saved reports as they were read last. Every part of a page that names them has them from here. */
export interface SavedReports {
  /** Empty until they were read, and for a person who may not read them. A reading that fails leaves them as they were: they are not gone. */
  readonly reports: readonly SavedReport[];
  /** True when the newest reading has succeeded. */
  readonly isRead: boolean;
  /** Says why the newest reading has failed; empty otherwise. */
  readonly problem: string;
  /** Reads them again. Resolves with the newest ones, or with undefined when the newest reading has failed. */
  readonly read: () => Promise<readonly SavedReport[] | undefined>;
}

interface Outcome {
  readonly reports?: readonly SavedReport[];
  readonly problem: string;
}

const NONE: readonly SavedReport[] = [];

/** Keeps the saved reports. `onFailure` hears when they could not be read: the session or the right may have ended. */
export function useSavedReports(provision: string, mayRead: boolean, onFailure: () => void): SavedReports {
  const [{ reports = NONE, problem, isRead }, setState] = useState<Outcome & { readonly isRead: boolean }>({ problem: '', isRead: false });
  const begun = useRef(0);
  const newest = useRef<Outcome & { readonly turn: number }>({ turn: 0, problem: '' });
  const read = useCallback(async () => {
    const turn = ++begun.current;
    const outcome = await listSavedReports(provision).then(
      (found): Outcome => ({ reports: found, problem: '' }),
      (error: unknown): Outcome => ({ problem: `The saved reports could not be read. ${(error as Error).message}` }),
    );
    // An answer that a later question has overtaken is of an older state.
    if (turn > newest.current.turn) {
      newest.current = { ...outcome, turn };
      setState((before) => ({ ...before, ...outcome, isRead: outcome.reports !== undefined }));
      if (!outcome.reports) onFailure();
    }
    return newest.current.reports;
  }, [provision, onFailure]);
  return useMemo(
    () => ({ reports: mayRead ? reports : NONE, isRead: mayRead && isRead, problem, read }),
    [mayRead, reports, isRead, problem, read],
  );
}
