import type { NamedPeriod } from '../../../generated/operations/graphql';
import { fromPeriodEnum, isPeriodName, toPeriodEnum } from '../../../values/periods';
import { findUnread, readAddress, toAddress, type ReportChoices } from '../choices/report-choices';
import { definitionOf, donorChoiceOf, isDateBasis, isPendingChoice } from '../choices/report-definitions';
import { findCompared, type ComparedPeriod, type Period } from '../values/periods';
import type { OpenedReport } from '../values/saved-names';
import type { ReportDocument } from './report-document';

/** The parts of a report that are saved. */
interface SavedChoices {
  readonly query: string;
  readonly variables?: unknown;
  readonly period?: NamedPeriod | null;
}

/** The choices of a report with the periods that they mean today. */
interface DatedChoices {
  readonly choices: ReportChoices;
  readonly period: Period;
  readonly compared: ComparedPeriod | undefined;
}

/** A saved report of the list. */
interface ListedChoices extends SavedChoices, OpenedReport {}

/** The line of a saved query that holds the choices of the form, so that “last month” stays the month before the day it is opened. */
const MARK = '# Reports mode: ';

/** A report's query as it is saved: with the choices in a comment, which the gateway ignores. */
export const toSavedQuery = (choices: ReportChoices, { query }: ReportDocument): string => `${MARK}${toAddress(choices)}\n${query}`;

/**
 * The choices that a saved report holds. Donors of two periods have the dates of both: for programs, a named period would move one of them
 * alone.
 */
export function toSavedChoices({ choices, period, compared }: DatedChoices): ReportChoices {
  const { startDate, endDate } = period;
  if (!donorChoiceOf(choices.who).isCompared || !compared || startDate === undefined || endDate === undefined) return choices;
  const again = findCompared({ startDate, endDate }, choices.compare);
  const isSame = again?.startDate === compared.startDate && again.endDate === compared.endDate;
  const compare = isSame ? choices.compare : (`${compared.startDate}..${compared.endDate}` as const);
  return { ...choices, period: `${startDate}..${endDate}`, compare };
}

/**
 * A report as it is saved. A named period stands in place of its dates, so that programs get those of the day on which they ask, as the
 * page does.
 */
export function toSavedContent(
  choices: ReportChoices,
  document: ReportDocument,
): Omit<ReportDocument, 'list'> & { readonly period?: NamedPeriod } {
  const query = toSavedQuery(choices, document);
  if (!isPeriodName(choices.period)) return { query, variables: document.variables };
  const variables = Object.fromEntries(Object.entries(document.variables).filter(([name]) => name !== 'startDate' && name !== 'endDate'));
  return { query, variables, period: toPeriodEnum(choices.period) as NamedPeriod };
}

/** The same query without the choices, of which an edited text may know nothing. */
export const withoutChoices = (query: string): string =>
  query
    .split('\n')
    .filter((line) => !line.startsWith(MARK))
    .join('\n');

/** The address in the marked line of a saved query; empty without such a line. */
const findAddress = (query: string): string =>
  query
    .split('\n')
    .find((line) => line.startsWith(MARK))
    ?.slice(MARK.length)
    .trim() ?? '';

/** The choices of a saved report that nobody can read, as parameters of its address. */
export function findUnreadSaved(query: string): URLSearchParams {
  const address = findAddress(query);
  const choices = readAddress(address);
  return choices ? findUnread(address, choices) : new URLSearchParams();
}

/**
 * Reads the choices of a saved report; undefined for one that was written in GraphQL. The period, the date that it goes by and the pending
 * deposits are those that programs get: the choices leave out what was a report's default when it was saved.
 */
export function readSavedChoices({ query, variables, period = null }: SavedChoices): ReportChoices | undefined {
  const choices = readAddress(findAddress(query));
  if (!choices) return undefined;
  const { hasFixedDates, hasFixedPending } = definitionOf(choices.report);
  // Reports that were saved before there was a choice go by the date of the deposit.
  const { dateBasis = 'DEPOSIT_DATE', pending, startDate, endDate } = (variables ?? {}) as Readonly<Record<string, unknown>>;
  const dates = typeof startDate === 'string' && typeof endDate === 'string' ? `${startDate}..${endDate}` : choices.period;
  return {
    ...choices,
    period: fromPeriodEnum(period) ?? dates,
    ...(!hasFixedDates && isDateBasis(dateBasis) && { dateBasis }),
    ...(!hasFixedPending && isPendingChoice(pending) && { pending }),
  };
}

/** A saved report in the period and the state of a link, such as that of a mail. A query of somebody's own takes the period alone. */
export function inLinkedState<Saved extends SavedChoices>(saved: Saved, linked: URLSearchParams): Saved {
  const [, startDate, endDate] = /^(.+)\.\.(.+)$/.exec(linked.get('period') ?? '') ?? [];
  const [report, choices] = findAddress(saved.query).split('?', 2);
  const address = new URLSearchParams(choices);
  for (const [name, value] of linked) address.set(name, value);
  const lines = saved.query.split('\n').map((line) => (line.startsWith(MARK) ? `${MARK}${report}?${address.toString()}` : line));
  const query = lines.join('\n');
  if (startDate === undefined) return { ...saved, query };
  return { ...saved, query, period: null, variables: { ...(saved.variables as object), startDate, endDate } };
}

/** True for choices that are other ones than those of the saved report. */
export function isChangedFrom(saved: SavedChoices, choices: ReportChoices): boolean {
  const its = readSavedChoices(saved);
  return its === undefined || toAddress(its) !== toAddress(choices);
}

/** The saved report of a name, where it is one of this kind of report. Another one may have taken the name since a link was made. */
export const findOpened = <Saved extends ListedChoices>(
  reports: readonly Saved[],
  name: string,
  { report }: ReportChoices,
): Saved | undefined => reports.find((each) => each.name === name && readSavedChoices(each)?.report === report);

/** A report on the page, and the saved report that it is of. */
export interface OpenChoices {
  readonly choices: ReportChoices | undefined;
  /** The saved report that is open. Its name stands in the address, and its time in the step of the browser's history. */
  readonly saved?: OpenedReport | undefined;
  /** The name in the address that is of no saved report of this kind. */
  readonly lost?: string | undefined;
}

/** The mode as the saved reports have it: the open one with the time at which it was saved, or without one that they lack. */
export function settleSaved<Mode extends OpenChoices>(mode: Mode, reports: readonly ListedChoices[]): Mode {
  const { choices, saved } = mode;
  if (!choices || !saved) return mode;
  const found = findOpened(reports, saved.name, choices);
  if (!found) return { ...mode, saved: undefined, lost: saved.name };
  return saved.updatedAt === undefined ? openAs(mode, mode, found) : mode;
}

/**
 * The mode in which the report of an earlier mode is open as the saved one. A report that was opened meanwhile stays as it is; choices that
 * were changed meanwhile are still of the same one.
 */
export function openAs<Mode extends OpenChoices>(now: Mode, from: OpenChoices, { name, updatedAt }: OpenedReport): Mode {
  const isSame = now.choices === from.choices || (from.saved?.name === name && now.saved === from.saved);
  return isSame ? { ...now, saved: { name, updatedAt }, lost: undefined } : now;
}
