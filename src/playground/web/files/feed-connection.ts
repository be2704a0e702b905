import { CONNECTIONS, LINES_SET, setOfGroups, setOfReport, toPropertyName } from '../../../values/feed-names';
import { fieldGroups, isLineName } from '../../../line/line-fields';
import { summaryAmounts, summaryCounts, summaryShares } from '../../../values/figure-names';
import { lineFileColumns } from './file-columns';

/** The programs that open a report as a feed, by the endings of the files that they open. */
const feedPrograms = { odc: 'Excel', pbids: 'Power BI' } as const;
export type FeedEnding = keyof typeof feedPrograms;

/** The message after a file was taken: it says what the program asks for. */
export const feedAdvice = (ending: FeedEnding): string =>
  `Open the file: ${feedPrograms[ending]} asks for a name and a password. Choose Basic, write any name, and as the password an API provision from your administrator.`;

const NOT_A_SET =
  'Excel and Power BI open lines with their own columns, and groups by one choice with their usual columns and without a comparison. Save the report: the list of saved reports opens it whatever it has.';
/** The figures that the feeds of groups have. */
const usualFigures = { ...summaryCounts, ...summaryAmounts, ...summaryShares };

/** The address of the file that opens a report. Throws an Error whose message the page shows for one that has no feed. */
export function toConnection({ pathname, searchParams }: URL, ending: FeedEnding): string {
  const groups = searchParams.getAll('group_by');
  const isOfLines = pathname.startsWith('/export/deposit-details.');
  const isOfGroups = pathname.startsWith('/export/deposit-summary.') && groups.length === 1 && !searchParams.has('compare_start_date');
  const chosen = namesOf(searchParams.get('columns') ?? '');
  if (!(isOfLines && chosen.every(isLineName)) && !(isOfGroups && chosen.every((name) => isOfGroup(groups[0]!, name))))
    throw new Error(NOT_A_SET);
  const parameters = new URLSearchParams([...searchParams].filter(([name]) => name !== 'group_by' && name !== 'columns'));
  if (chosen.length > 0) parameters.set('$select', chosen.map(toPropertyName).join(','));
  return toFile(isOfLines ? LINES_SET : setOfGroups(groups[0]!), ending, parameters);
}

/** The columns that a file's address names. None are those that the feed has itself, and all of them are so too. */
function namesOf(columns: string): readonly string[] {
  if (columns === 'v2') return lineFileColumns.v2;
  return columns === '' || columns === 'all' ? [] : columns.split(',');
}

function isOfGroup(by: string, name: string): boolean {
  const keys: readonly string[] = Object.hasOwn(fieldGroups, by) ? fieldGroups[by as keyof typeof fieldGroups] : [by.toLowerCase()];
  return Object.hasOwn(usualFigures, name) || keys.includes(name);
}

/** The address of the file that opens a saved report. */
export const toSavedConnection = (report: string, ending: FeedEnding): string => toFile(setOfReport(report), ending, new URLSearchParams());

const toFile = (set: string, ending: FeedEnding, parameters: URLSearchParams): string =>
  `${CONNECTIONS}/${set}.${ending}${parameters.size > 0 ? `?${parameters.toString()}` : ''}`;
