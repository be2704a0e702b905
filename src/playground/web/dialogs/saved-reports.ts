import type { NamedPeriod, SavedReportsQuery, SavedReportsQueryVariables } from '../../../generated/operations/graphql';
import { fromPeriodEnum } from '../../../values/periods';
import { askGateway } from '../session/gateway-client';
import type { FileAddress } from '../files/address-text';
import { fetchFileAddress, type ReportQuery } from '../files/file-url';
import deleteReportMutation from '../queries/delete-report.graphql?raw';
import saveReportMutation from '../queries/save-report.graphql?raw';
import savedReportsQuery from '../queries/saved-reports.graphql?raw';

/** A query that the organization saved under a name, with a title and the values of its variables. */
export type SavedReport = NonNullable<SavedReportsQuery['savedReports']>[number];

/** The content of a report to save. A named period stands in place of the variables `startDate` and `endDate`. */
export interface SavedContent extends ReportQuery {
  readonly period?: NamedPeriod;
}

/** A report to save. `replaces` is the `updatedAt` of the report of the same name that it takes the place of. */
export interface ReportToSave extends SavedContent {
  readonly name: string;
  readonly title: string;
  readonly replaces: string | undefined;
}

/** Lists the organization's saved reports, or those with the names. Throws an Error whose message the page shows. */
export async function listSavedReports(provision: string, names?: string[]): Promise<readonly SavedReport[]> {
  const variables: SavedReportsQueryVariables = { names };
  const { savedReports } = await askGateway<SavedReportsQuery>(provision, { query: savedReportsQuery, variables });
  return savedReports ?? [];
}

/** Saves a report. Throws an Error whose message the page shows, such as when another one was saved under the name meanwhile. */
export async function saveReport(provision: string, report: ReportToSave): Promise<void> {
  await askGateway(provision, { query: saveReportMutation, variables: { input: report } });
}

export async function deleteSavedReport(provision: string, { id }: SavedReport): Promise<void> {
  await askGateway(provision, { query: deleteReportMutation, variables: { id } });
}

/** The form of a name, which is a part of the report's address. */
export const NAME_PATTERN = '[a-z0-9]+(-[a-z0-9]+)*';
export const MAX_NAME = 80;

/** Proposes a name for a title: “Année 2026, funds” becomes `annee-2026-funds`. Empty when the title has no Latin letters or digits. */
export function proposeName(title: string): string {
  const letters = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = letters.split(/[^a-z0-9]+/).filter((word) => word !== '');
  return words.join('-').slice(0, MAX_NAME).replace(/-$/, '');
}

/** Builds the link with which a logged-in colleague opens a saved report on this page. */
export const toSavedLink = ({ name }: SavedReport): string => `${location.origin}${location.pathname}#saved/${name}`;

/** Writes the name of the person who saved a report, and the date. */
export const describeSaving = ({ updatedBy, updatedAt }: SavedReport): string =>
  `${updatedBy ?? 'the command line'}, ${updatedAt.slice(0, 10)}`;

/** The value of a parameter as it stands in an address. A list has several values, and none is a parameter left out. */
export function toParameterTexts(value: unknown): readonly string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap(toParameterTexts);
  return [typeof value === 'string' ? value : JSON.stringify(value)];
}

/** The variables of a saved report that have values of their own, not those of its period. */
export const ownParametersOf = ({ period, parameters }: SavedReport): SavedReport['parameters'] =>
  period ? parameters.filter(({ name }) => name !== 'startDate' && name !== 'endDate') : parameters;

/** The address of a saved report's CSV file with its parameters, ready to be changed. */
export function toParameterUrl(report: SavedReport): URL {
  const url = new URL(report.path, location.origin);
  const period = fromPeriodEnum(report.period);
  if (period) url.searchParams.set('period', period);
  for (const { name, value } of ownParametersOf(report)) for (const text of toParameterTexts(value)) url.searchParams.append(name, text);
  return url;
}

/** Asks for the lasting address of a saved report's CSV file and the names of its columns. Throws an Error whose message the page shows. */
export async function fetchSavedAddress(provision: string, { path, query, variables }: SavedReport): Promise<FileAddress> {
  const { columns } = await fetchFileAddress(provision, { query, variables }, 'csv');
  return { url: new URL(path, location.origin), columns };
}
