import type { LateGiftsQuery, LostLinesQuery, LostLinesQueryVariables } from '../../../generated/operations/graphql';
import { fetchCloses, type Close } from '../choices/closes';
import { writeValue } from '../choices/choice-texts';
import lateGiftsQuery from '../queries/late-gifts.graphql?raw';
import lostLinesQuery from '../queries/lost-lines.graphql?raw';
import { askGateway } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import { findCovering, toClosedPart } from './closed-parts';
import type { ReportPlan } from './use-report';

/** The late gifts of a report, and the loss of lines in the closed months of its period. */
export interface LateChanges {
  readonly gifts: number;
  /** The sum of the gifts, each once. */
  readonly amount: string;
  readonly closedThrough: string;
  /** True where a line is gone, or is no longer where it was closed. The filter “late” does not find such a line. */
  readonly hasLost: boolean;
  /** The newest close of the period of which lost lines are not looked for; undefined where all were looked through. */
  readonly unsearched: Close | undefined;
  /** The first close of the period, from which the changes lead to the figures of the report. */
  readonly first: Close;
  /** The first close whose state is kept: the one that the changes begin with. Undefined where none is kept. */
  readonly since: Close | undefined;
}

/** `none` is of a report in which nothing came late and nothing is lost, or that does not tell. */
export type LateState = 'none' | 'reading' | 'unknown' | LateChanges;

/** The closes that are looked through for lost lines. Each is a request of its own, because lines are lost since their own close. */
const MAX_SEARCHED = 12;

/** Finds the late gifts and the loss of lines in a report of the books at a version, by the closes of that version. */
export async function readLate(provision: string, plan: ReportPlan, version: number, signal: AbortSignal): Promise<LateState> {
  const { choices, fileDocument } = plan;
  const closes = await fetchCloses(provision, { signal, version });
  const covering = findCovering(closes, plan);
  const [newest] = closes;
  const first = covering.at(-1) ?? (choices.dateBasis === 'TRANSACTION_DATE' ? newest : undefined);
  if (!newest || !first) return 'none';
  const { variables } = fileDocument;
  const state = { version };
  const filter = { ...(variables.filter as object | undefined), late: true };
  const searched = covering.filter(({ isKept }) => isKept).slice(0, MAX_SEARCHED);
  // Nothing has changed since the close that is the newest version.
  const parts = searched.flatMap((close) => (close.version === version ? [] : (toClosedPart(plan, close, version) ?? [])));
  const [{ depositSummary }, hasLost] = await Promise.all([
    askGateway<LateGiftsQuery>(provision, { query: lateGiftsQuery, variables: { ...variables, filter, asOf: state } }, signal),
    hasLostLines(provision, parts, signal),
  ]);
  const gifts = depositSummary?.all.transactions ?? 0;
  const amount = depositSummary?.all.byTransaction.amount ?? '0.00';
  const unsearched = covering[searched.length];
  if (gifts === 0 && !hasLost && !unsearched) return 'none';
  const since = [...covering, first].findLast(({ isKept }) => isKept);
  return { gifts, amount, closedThrough: newest.through, hasLost, unsearched, first, since };
}

/** True where a line is no longer in one of the parts. The parts are asked for one by one: the first loss is the answer. */
async function hasLostLines(provision: string, parts: readonly LostLinesQueryVariables[], signal: AbortSignal): Promise<boolean> {
  for (const variables of parts) {
    let after: string | null = null;
    do {
      const page: LostLinesQuery = await askGateway(provision, { query: lostLinesQuery, variables: { ...variables, after } }, signal);
      const changes = page.depositChanges;
      if (changes?.nodes.some(({ wasInside, isInside }) => wasInside && !isInside)) return true;
      after = changes?.pageInfo.hasNextPage ? changes.pageInfo.endCursor : null;
    } while (after !== null);
  }
  return false;
}

/** The late changes in words; the first sentence is missing where no gift is late. */
export function describeChanges(late: LateChanges): readonly [string | undefined, ...string[]] {
  const { gifts, amount, closedThrough, hasLost, unsearched, first, since } = late;
  const { format } = createCellFormat(navigator.languages);
  const sum = writeValue(amount, 'money');
  const day = ({ through }: Close): string => writeValue(through, 'date');
  const came =
    gifts === 1
      ? `1 late gift of ${sum}: new or changed since its month was closed.`
      : `${format(gifts, 'count')} late gifts of ${sum} together: new or changed since their months were closed.`;
  const told = [`The books are closed through ${writeValue(closedThrough, 'date')}.`];
  if (hasLost) told.push('Lines were removed from closed months or moved out of them, since those were closed.');
  if (unsearched && !unsearched.isKept)
    told.push(`Removals are not looked for through ${day(unsearched)}: the state at that close is no longer kept.`);
  else if (unsearched)
    told.push(`Removals are not looked for through ${day(unsearched)}: the period has more than ${String(MAX_SEARCHED)} closes.`);
  if (since && since !== first)
    told.push(`What changed is shown since the close through ${day(since)}: the state at the one through ${day(first)} is no longer kept.`);
  return [gifts === 0 ? undefined : came, ...told];
}

/** Says for a print or a file what came late in a report; undefined where nothing did. */
export function describeLate(late: LateState): string | undefined {
  if (late === 'none') return undefined;
  if (late === 'reading') return 'Late changes were still being read.';
  if (late === 'unknown') return 'Late changes could not be read.';
  return describeChanges(late)
    .filter((sentence) => sentence !== undefined)
    .join(' ');
}
