import { CONNECTIONS, LINES_SET, setOfGroups, setOfReport, toPropertyName } from '../../../values/feed-names';
import { isLineName } from '../../../line/line-fields';

/** The programs that open a report as a feed, by the endings of the files that they open. */
const feedPrograms = { odc: 'Excel', pbids: 'Power BI' } as const;
export type FeedEnding = keyof typeof feedPrograms;

/** The message after a file was taken: it says what the program asks for. */
export const feedAdvice = (ending: FeedEnding): string =>
  `Open the file: ${feedPrograms[ending]} asks for a name and a password. Choose Basic, write any name, and as the password an API provision from your administrator.`;

const NOT_A_SET =
  'Excel and Power BI open lines with their own columns, and groups by one choice without a comparison. Save the report: the list of saved reports opens it whatever it has.';

/** The address of the file that opens a report. Throws an Error whose message the page shows for one that has no feed. */
export function toConnection({ pathname, searchParams }: URL, ending: FeedEnding): string {
  const { group_by: _groups, columns = '', ...others } = Object.fromEntries(searchParams);
  const groups = searchParams.getAll('group_by');
  const isOfLines = pathname.startsWith('/export/deposit-details.');
  const isOfGroups = pathname.startsWith('/export/deposit-summary.') && groups.length === 1 && !searchParams.has('compare_start_date');
  const chosen = isOfLines && columns !== '' ? columns.split(',') : [];
  if ((!isOfLines && !isOfGroups) || !chosen.every(isLineName)) throw new Error(NOT_A_SET);
  const repeated = [...searchParams].filter(([name]) => Object.hasOwn(others, name));
  const parameters = new URLSearchParams([...repeated, ...(chosen.length > 0 ? [['$select', chosen.map(toPropertyName).join(',')]] : [])]);
  return toFile(isOfLines ? LINES_SET : setOfGroups(groups[0]!), ending, parameters);
}

/** The address of the file that opens a saved report. */
export const toSavedConnection = (report: string, ending: FeedEnding): string => toFile(setOfReport(report), ending, new URLSearchParams());

const toFile = (set: string, ending: FeedEnding, parameters: URLSearchParams): string =>
  `${CONNECTIONS}/${set}.${ending}${parameters.size > 0 ? `?${parameters.toString()}` : ''}`;

/** Lets the browser take a file of an address of the gateway. */
export function takeFile(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  link.click();
}
