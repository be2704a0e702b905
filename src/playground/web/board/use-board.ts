import { useCallback, useEffect, useRef, useState } from 'react';
import { isStopped } from '../rows/gateway-faults';
import type { BoardQuery } from '../../../generated/operations/graphql';
import type { PlannedPeriods } from '../choices/choice-texts';
import { dataOf, postGraphQL } from '../session/gateway-client';
import { readBoard, type BoardFigures } from './board-figures';

type BoardState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running'; readonly progress: undefined }
  /** Without figures where the books are empty. */
  | { readonly kind: 'done'; readonly figures: BoardFigures | undefined }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly message: string };

/** Reads the figures of a sheet. */
type ReadBoard = (signal: AbortSignal) => Promise<BoardFigures | undefined>;

interface SheetPlan extends PlannedPeriods {
  readonly document: { readonly query: string; readonly variables: Readonly<Record<string, unknown>> };
}

interface ReadingParts {
  readonly explain: (error: unknown) => Promise<unknown>;
  /** Loads the script of the sheet. */
  readonly loadSheet: () => Promise<unknown>;
}

/** The reading of a planned sheet and of its script, whose figures are all of one answer. Errors are those that `explain` makes of them. */
export function toReading(provision: string, plan: SheetPlan, { explain, loadSheet }: ReadingParts): ReadBoard {
  const { document, choices, period } = plan;
  const { query, variables } = document;
  const { startDate = '', endDate = '' } = period;
  return async (signal) => {
    try {
      // A long report is stopped by whoever waits for it.
      const asked = postGraphQL(provision, { query, variables }, { signal });
      // The sheet itself tells that its script is gone.
      const [answer] = await Promise.all([asked, loadSheet().catch(() => undefined)]);
      return readBoard(dataOf(answer) as BoardQuery, { startDate, endDate, dateBasis: choices.dateBasis });
    } catch (error) {
      throw await explain(error);
    }
  };
}

/** Reads a sheet when it is another one, and again when asked. Figures of an earlier one are gone at once. */
export function useBoard(read: ReadBoard | undefined, onSessionChange: () => void) {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ readonly of: unknown; readonly now: BoardState }>();
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => {
    if (!read) return undefined;
    const controller = new AbortController();
    stopping.current = controller;
    const tell = (now: BoardState): void => {
      if (!controller.signal.aborted) setState({ of: read, now });
    };
    tell({ kind: 'running', progress: undefined });
    read(controller.signal).then(
      (figures) => tell({ kind: 'done', figures }),
      (error: unknown) => {
        if (controller.signal.aborted || isStopped(error)) return;
        tell({ kind: 'failed', message: (error as Error).message });
        // The session may have ended.
        onSessionChange();
      },
    );
    return () => controller.abort();
  }, [read, turn, onSessionChange]);
  const run = useCallback(() => setTurn((before) => before + 1), []);
  const stop = useCallback(() => {
    stopping.current?.abort();
    setState({ of: read, now: { kind: 'stopped' } });
  }, [read]);
  const waiting: BoardState = read ? { kind: 'running', progress: undefined } : { kind: 'waiting' };
  return { state: state && state.of === read ? state.now : waiting, run, stop };
}
