import { readAddress, toAddress, type ReportChoices } from './report-choices';
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

/** Reads the choices of a saved report; undefined for one that was written in GraphQL. */
export function readSavedChoices({ query }: { readonly query: string }): ReportChoices | undefined {
  const line = query.split('\n').find((each) => each.startsWith(MARK));
  return line === undefined ? undefined : readAddress(line.slice(MARK.length).trim());
}
