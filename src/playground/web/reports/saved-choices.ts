import { readAddress, toAddress, type ReportChoices } from './report-choices';
import { definitionOf, isPendingChoice } from './report-definitions';
import type { ReportDocument } from './report-document';

/** The line of a saved query that holds the choices of the form, so that “last month” stays the month before the day it is opened. */
const MARK = '# Reports mode: ';

/** A report's query as it is saved: with the choices in a comment, which the gateway ignores. */
export const toSavedQuery = (choices: ReportChoices, { query }: ReportDocument): string => `${MARK}${toAddress(choices)}\n${query}`;

/** The same query without the choices, of which an edited text may know nothing. */
export const withoutChoices = (query: string): string =>
  query
    .split('\n')
    .filter((line) => !line.startsWith(MARK))
    .join('\n');

/**
 * Reads the choices of a saved report; undefined for one that was written in GraphQL. Pending deposits are those of its variables: the
 * choices leave out what was a report's default when it was saved, and programs get what the variables say.
 */
export function readSavedChoices({
  query,
  variables,
}: {
  readonly query: string;
  readonly variables?: unknown;
}): ReportChoices | undefined {
  const line = query.split('\n').find((each) => each.startsWith(MARK));
  const choices = line === undefined ? undefined : readAddress(line.slice(MARK.length).trim());
  const { pending } = (variables ?? {}) as { readonly pending?: unknown };
  if (!choices || definitionOf(choices.report).hasFixedPending || !isPendingChoice(pending)) return choices;
  return { ...choices, pending };
}
