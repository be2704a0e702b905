import { useEffect, useState } from 'react';
import type { LateGiftsQuery, LostLinesQuery } from '../../../generated/operations/graphql';
import { fetchCloses, findClose, useClosesChanges, type Close } from '../choices/closes';
import { defaultChoices, type ReportChoices } from '../choices/report-choices';
import lateGiftsQuery from '../queries/late-gifts.graphql?raw';
import lostLinesQuery from '../queries/lost-lines.graphql?raw';
import { isStopped } from '../rows/gateway-faults';
import { askGateway } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import type { ReportPlan } from './use-report';

interface LateNoteProps {
  readonly provision: string;
  readonly plan: ReportPlan;
  readonly onChange: (choices: ReportChoices) => void;
}

/** The late gifts of a report, and the loss of lines since its close. */
interface Late {
  readonly gifts: number;
  /** The sum of the gifts, each once. */
  readonly amount: string;
  readonly closedThrough: string;
  /** The close to compare with: the one that covers the whole report, or else the first whose state is kept. Undefined where none is kept. */
  readonly since: Close | undefined;
  /** True where a line is gone, or is no longer in this report, since then. The filter “late” does not find such a line here. */
  readonly hasLost: boolean;
}

type Found = { readonly of: ReportPlan } & ({ readonly late: Late | undefined } | { readonly isUnknown: true });

/** Says what came late in a report, by the gateway's own rule, and whether lines are gone. Nothing is said where neither is so. */
export function LateNote({ provision, plan, onChange }: LateNoteProps) {
  const [found, setFound] = useState<Found>();
  const changes = useClosesChanges();
  useEffect(() => {
    const controller = new AbortController();
    findLate(provision, plan, controller.signal).then(
      (late) => setFound({ of: plan, late }),
      (error: unknown) => {
        if (!controller.signal.aborted && !isStopped(error)) setFound({ of: plan, isUnknown: true });
      },
    );
    return () => controller.abort();
  }, [provision, plan, changes]);
  if (found?.of !== plan) return null;
  // The report itself is right without the note.
  if ('isUnknown' in found)
    return (
      <p className="late-note" role="note">
        Late changes could not be read.
      </p>
    );
  if (!found.late) return null;
  const { since, hasLost } = found.late;
  const { format } = createCellFormat(navigator.languages);
  const [late, closed] = describeLate(found.late);
  const lost = hasLost && since ? `Lines were removed or moved out since the close through ${format(since.through, 'date')}.` : undefined;
  // The conditions stay, so that the changes lead to the figures of this report.
  const { report, compare, splitBy, limit } = defaultChoices('changes');
  return (
    <p className="late-note" role="note">
      <span>
        {late && <strong>{late}</strong>} {closed} {lost}
      </span>
      {since ? (
        <button type="button" onClick={() => onChange({ ...plan.choices, report, compare, splitBy, limit, since: String(since.version) })}>
          See what changed
        </button>
      ) : (
        <span>What was removed or moved out is not known: the state at the close is no longer kept.</span>
      )}
    </p>
  );
}

/** The late gifts in words, and how far the books are closed; the first is missing where no gift is late. */
function describeLate({ gifts, amount, closedThrough }: Late): [string | undefined, string] {
  const { format } = createCellFormat(navigator.languages);
  const sum = format(amount, 'money');
  const late =
    gifts === 1
      ? `1 late gift of ${sum}: new or changed since its month was closed.`
      : `${format(gifts, 'count')} late gifts of ${sum} together: new or changed since their months were closed.`;
  return [gifts === 0 ? undefined : late, `The books are closed through ${format(closedThrough, 'date')}.`];
}

/** Finds the late gifts and the loss of lines in a report of the newest books; undefined where there are none. */
async function findLate(provision: string, plan: ReportPlan, signal: AbortSignal): Promise<Late | undefined> {
  const { period, choices, fileDocument } = plan;
  // The lines of a past state are late by the closes of that state.
  if (choices.state !== '') return undefined;
  const closes = await fetchCloses(provision, signal);
  const closedThrough = closes[0]?.through;
  const { startDate = '', endDate } = period;
  if (closedThrough === undefined || (choices.dateBasis === 'DEPOSIT_DATE' && startDate > closedThrough)) return undefined;
  const { variables } = fileDocument;
  const filter = { ...(variables.filter as object | undefined), late: true };
  const kept = closes.filter(({ isKept }) => isKept);
  // Lost lines are asked for where one close covers the whole report. Since the first of many closes, most of the books may have changed.
  const covering = choices.dateBasis === 'DEPOSIT_DATE' && endDate !== undefined ? findClose(closes, endDate) : undefined;
  const since = covering?.isKept ? covering : (findClose(kept, startDate) ?? kept[0]);
  const [{ depositSummary }, hasLost] = await Promise.all([
    askGateway<LateGiftsQuery>(provision, { query: lateGiftsQuery, variables: { ...variables, filter } }, signal),
    covering?.isKept ? hasLostLines(provision, { ...variables, from: { version: covering.version } }, signal) : false,
  ]);
  const all = depositSummary?.all;
  const gifts = all?.transactions ?? 0;
  if (gifts === 0 && !hasLost) return undefined;
  return { gifts, amount: all?.byTransaction.amount ?? '0.00', closedThrough, since, hasLost };
}

/** True where a line is no longer in a report that had it in a state. The first thousand of the lines that may be are read. */
async function hasLostLines(provision: string, variables: object, signal: AbortSignal): Promise<boolean> {
  const { depositChanges } = await askGateway<LostLinesQuery>(provision, { query: lostLinesQuery, variables }, signal);
  return (depositChanges?.nodes ?? []).some(({ wasInside, isInside }) => wasInside && !isInside);
}
