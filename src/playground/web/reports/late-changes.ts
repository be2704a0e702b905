import type { LateGiftsQuery, LostLinesQuery, LostLinesQueryVariables } from '../../../generated/operations/graphql';
import { fetchCloses, type Close } from '../choices/closes';
import { writeValue } from '../choices/choice-texts';
import lateGiftsQuery from '../queries/late-gifts.graphql?raw';
import lostLinesQuery from '../queries/lost-lines.graphql?raw';
import { askGateway } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import { findCovering, isLoss, MAX_SEARCHED, toClosedPart, toSearched } from './closed-parts';
import type { ReportPlan } from './use-report';

/** The late gifts of a report, and the loss of lines in the closed months of its period. */
export interface LateChanges {
  readonly gifts: number;
  /** The sum of the gifts, each once. */
  readonly amount: string;
  /** The currency of the sum; null where the organization has not set any. */
  readonly currency: string | null;
  readonly closedThrough: string;
  /** True where a line is gone, or is no longer where it was closed. The filter “late” does not find such a line. */
  readonly hasLost: boolean;
  /** True where a close has more changes than were looked through, and no loss among those. */
  readonly isCut: boolean;
  /** The newest close of the period whose state is not kept, so that what was lost since it is not known; undefined where all are kept. */
  readonly pruned: Close | undefined;
  /** The newest of the other closes that were not looked through for lost lines; undefined where all were. */
  readonly unsearched: Close | undefined;
  /** True for a report by the dates of gifts, of which the oldest closes are looked through first. */
  readonly isOfGifts: boolean;
  /** The first close of the period, from which the changes lead to the figures of the report. */
  readonly first: Close;
  /** The first close whose state is kept: the one that the changes begin with. Undefined where none is kept. */
  readonly since: Close | undefined;
}

/** The reason why late changes could not be read. The report itself is right without them. */
interface LateFault {
  readonly fault: string;
}

/** `none` is of a report in which nothing came late and nothing is lost, or that does not tell. */
export type LateState = 'none' | 'reading' | LateFault | LateChanges;

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
  const searched = toSearched(covering, choices);
  // Nothing has changed since the close that is the newest version.
  const parts = searched.flatMap((close) => (close.version === version ? [] : (toClosedPart(plan, close, version) ?? [])));
  const [{ depositSummary }, { hasLost, isCut }] = await Promise.all([
    askGateway<LateGiftsQuery>(provision, { query: lateGiftsQuery, variables: { ...variables, filter, asOf: state } }, signal),
    findLoss(provision, parts, signal),
  ]);
  const gifts = depositSummary?.all.transactions ?? 0;
  const amount = depositSummary?.all.byTransaction.amount ?? '0.00';
  const pruned = covering.find(({ isKept }) => !isKept);
  const unsearched = covering.find((close) => close.isKept && !searched.includes(close));
  if (gifts === 0 && !hasLost && !isCut && !pruned && !unsearched) return 'none';
  const since = [...covering, first].findLast(({ isKept }) => isKept);
  return {
    gifts,
    amount,
    currency: plan.currency,
    closedThrough: newest.through,
    hasLost,
    isCut,
    pruned,
    unsearched,
    isOfGifts: choices.dateBasis === 'TRANSACTION_DATE',
    first,
    since,
  };
}

/**
 * Looks for a line that is no longer in one of the parts. The parts are asked for one by one: the first loss is the answer. It is cut where a
 * part has more changes than one answer, because the gateway computes all of them for each.
 */
async function findLoss(
  provision: string,
  parts: readonly LostLinesQueryVariables[],
  signal: AbortSignal,
): Promise<Pick<LateChanges, 'hasLost' | 'isCut'>> {
  let isCut = false;
  for (const variables of parts) {
    const { depositChanges } = await askGateway<LostLinesQuery>(provision, { query: lostLinesQuery, variables }, signal);
    if (depositChanges?.nodes.some(isLoss)) return { hasLost: true, isCut: false };
    isCut ||= depositChanges?.pageInfo.hasNextPage ?? false;
  }
  return { hasLost: false, isCut };
}

/** The late changes in words; the first sentence is missing where no gift is late. */
export function describeChanges(late: LateChanges): readonly [string | undefined, ...string[]] {
  const { gifts, amount, currency, closedThrough, hasLost, isCut, pruned, unsearched, isOfGifts, first, since } = late;
  const { format } = createCellFormat(navigator.languages, currency);
  const sum = format(amount, 'money');
  const day = ({ through }: Close): string => writeValue(through, 'date');
  const came =
    gifts === 1
      ? `1 late gift of ${sum}: new or changed since its month was closed.`
      : `${format(gifts, 'count')} late gifts of ${sum} together: new or changed since their months were closed.`;
  const told = [`The books are closed through ${writeValue(closedThrough, 'date')}.`];
  if (hasLost) told.push('Lines were removed from closed months, or moved out of them or of this report, since those were closed.');
  if (isCut) told.push('The first 1,000 changes since each close were looked through for removals.');
  if (pruned) told.push(`Removals are not looked for through ${day(pruned)}: the version at that close is no longer kept.`);
  if (unsearched && isOfGifts)
    told.push(`Removals are looked for in the first ${String(MAX_SEARCHED)} of the closes that are kept and may have these gifts.`);
  else if (unsearched)
    told.push(`Removals are not looked for through ${day(unsearched)}: the period has more than ${String(MAX_SEARCHED)} closes.`);
  if (since && since !== first)
    told.push(
      `What changed is shown since the close through ${day(since)}: the version at the one through ${day(first)} is no longer kept.`,
    );
  return [gifts === 0 ? undefined : came, ...told];
}

/** Says for a print or a file what came late in a report; undefined where nothing did. */
export function describeLate(late: LateState): string | undefined {
  if (late === 'none') return undefined;
  if (late === 'reading') return 'Late changes were still being read.';
  if ('fault' in late) return `Late changes could not be read: ${late.fault.replace(/\.$/, '')}.`;
  return describeChanges(late)
    .filter((sentence) => sentence !== undefined)
    .join(' ');
}
