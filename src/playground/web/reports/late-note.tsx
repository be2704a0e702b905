import { useEffect, useState } from 'react';
import type { LateChangesQuery } from '../../../generated/operations/graphql';
import { fetchCloses, findClose, type Close } from '../choices/closes';
import { defaultChoices, type ReportChoices } from '../choices/report-choices';
import lateChangesQuery from '../queries/late-changes.graphql?raw';
import { isStopped } from '../rows/gateway-faults';
import { askGateway } from '../session/gateway-client';
import { createCellFormat, writeSigned } from '../values/cell-format';
import { atScale, readDecimal, writeDecimal } from '../values/exact-decimal';
import type { ReportPlan } from './use-report';

interface LateNoteProps {
  readonly provision: string;
  readonly plan: ReportPlan;
  readonly onChange: (choices: ReportChoices) => void;
}

interface Late {
  readonly close: Close;
  readonly changes: number;
  readonly amount: string;
}

/** Says what came late: the changes of money since the close of a report's period. Nothing is said where all is as it was closed. */
export function LateNote({ provision, plan, onChange }: LateNoteProps) {
  const [found, setFound] = useState<{ readonly of: ReportPlan; readonly late: Late | undefined }>();
  useEffect(() => {
    const controller = new AbortController();
    findLate(provision, plan, controller.signal).then(
      (late) => setFound({ of: plan, late }),
      // The report is right without the note, and tells a failure of the gateway itself.
      (error: unknown) => {
        if (!isStopped(error)) setFound(undefined);
      },
    );
    return () => controller.abort();
  }, [provision, plan]);
  if (found?.of !== plan || !found.late) return null;
  const { close, changes, amount } = found.late;
  const { format } = createCellFormat(navigator.languages);
  const { period, dateBasis, pending, funds, giftDateFrom, giftDateTo } = plan.choices;
  const kept = { period, dateBasis, pending, funds, giftDateFrom, giftDateTo };
  return (
    <p className="late-note" role="note">
      <strong>
        {format(changes, 'count')} {changes === 1 ? 'late change' : 'late changes'} since the close through {format(close.through, 'date')}:{' '}
        {writeSigned(amount, 'money', navigator.languages)}
      </strong>
      <button type="button" onClick={() => onChange({ ...defaultChoices('changes'), ...kept, since: String(close.version) })}>
        See what changed
      </button>
    </p>
  );
}

/** The changes of money since the close of the whole period of a report; undefined where it is open, or nothing came late. */
async function findLate(provision: string, plan: ReportPlan, signal: AbortSignal): Promise<Late | undefined> {
  const { period, choices, fileDocument } = plan;
  if (period.endDate === undefined || choices.state !== '') return undefined;
  const close = findClose(await fetchCloses(provision, signal), period.endDate);
  // What came late since a close whose state was pruned is not known line by line. The filter “late” still finds the lines.
  if (!close?.isKept) return undefined;
  const variables = { ...fileDocument.variables, from: { version: close.version } };
  const { depositChanges } = await askGateway<LateChangesQuery>(provision, { query: lateChangesQuery, variables }, signal);
  const late = (depositChanges?.classes ?? []).filter(({ class: name }) => !WITHOUT_MONEY.includes(name));
  const changes = late.reduce((sum, each) => sum + each.changes, 0);
  const cents = late.reduce((sum, { effect }) => sum + atScale(readDecimal(effect.byTransaction.amount)!, SCALE), 0n);
  return changes === 0 ? undefined : { close, changes, amount: writeDecimal({ digits: cents, scale: SCALE }) };
}

const SCALE = 2;
const WITHOUT_MONEY: readonly string[] = ['REKEYED', 'ERASED', 'RELABELLED'];
