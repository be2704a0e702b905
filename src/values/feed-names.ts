/** The name of the set of all lines. */
export const LINES_SET = 'Lines';
const REPORT = /^Report_([a-z0-9]+(?:_[a-z0-9]+)*)$/;
/** The path of the files by which programs open a set. */
export const CONNECTIONS = '/odata/connections';

/** The name that a column of files has as a property. */
export const toPropertyName = (column: string): string => column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The name of the set of a grouping, such as SummaryByDepositStatus for DEPOSIT_STATUS. */
export const setOfGroups = (by: string): string => `SummaryBy${by.charAt(0)}${toPropertyName(by.slice(1).toLowerCase())}`;

/** The name of the set of a saved report. A report's name has hyphens and no underscores, and a set's the other way round. */
export const setOfReport = (report: string): string => `Report_${report.replaceAll('-', '_')}`;

/** The saved report of a set; undefined for another set. */
export const reportOfSet = (set: string): string | undefined => REPORT.exec(set)?.[1]?.replaceAll('_', '-');
