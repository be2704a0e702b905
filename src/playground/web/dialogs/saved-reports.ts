import type { NamedPeriod, SavedReportsQuery, SaveReportMutation } from '../../../generated/operations/graphql';
import { fromPeriodEnum } from '../../../values/periods';
import { askGateway, GatewayError } from '../session/gateway-client';
import type { FileAddress } from '../files/address-text';
import { fetchFileAddress, type ReportQuery } from '../files/file-url';
import deleteReportMutation from '../queries/delete-report.graphql?raw';
import saveReportMutation from '../queries/save-report.graphql?raw';
import savedReportsQuery from '../queries/saved-reports.graphql?raw';
import type { OpenedReport } from '../values/saved-names';

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

/** Lists the organization's saved reports. Throws an Error whose message the page shows. `useSavedReports` keeps them. */
export async function listSavedReports(provision: string): Promise<readonly SavedReport[]> {
  const { savedReports } = await askGateway<SavedReportsQuery>(provision, { query: savedReportsQuery });
  return savedReports ?? [];
}

/** Saves a report. Throws an Error whose message the page shows, and that `isConflict` knows when another one has the name now. */
export async function saveReport(provision: string, input: ReportToSave): Promise<OpenedReport> {
  const { saveReport: saved } = await askGateway<SaveReportMutation>(provision, { query: saveReportMutation, variables: { input } });
  return { name: input.name, updatedAt: saved.report.updatedAt };
}

/** True for the refusal to replace a report that somebody else has saved or deleted meanwhile. */
export const isConflict = (error: unknown): boolean => error instanceof GatewayError && error.code === 'REPORT_CONFLICT';

export async function deleteSavedReport(provision: string, { id }: SavedReport): Promise<void> {
  await askGateway(provision, { query: deleteReportMutation, variables: { id } });
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
