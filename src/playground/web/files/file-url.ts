import { askGateway, GatewayError } from '../session/gateway-client';
import type { FileFormat } from '../../../values/file-formats';
import type { FileAddress } from './address-text';
import fileUrlQuery from '../queries/file-url.graphql?raw';

/** The texts of an editor: a GraphQL document, and its variables as JSON. */
export interface EditorTexts {
  readonly query: string;
  readonly variables: string;
}

/** A query with the values of its variables. */
export interface ReportQuery {
  readonly query: string;
  readonly variables: unknown;
}

/**
 * The totals of a query's lines: counts, and the amount added up by line, by transaction and by allocation. Amounts are exact decimal text;
 * null means that no part of the sum is known.
 */
export interface LineTotals {
  readonly lines: number;
  readonly transactions: number;
  readonly deposits: number;
  readonly splitTransactions: number;
  readonly byLine: { readonly amount: string | null };
  readonly byTransaction: { readonly amount: string | null };
  readonly byAllocation: { readonly amount: string | null; readonly unknown: number };
}

interface FileUrlData {
  readonly reportFile: { readonly path: string; readonly columns: readonly string[]; readonly summary?: { readonly all: LineTotals } };
}

/** Asks the gateway for the address of the file with all rows of a query. Throws an Error whose message the page shows. */
export async function fetchFileAddress(
  provision: string,
  query: ReportQuery,
  format: FileFormat,
  signal?: AbortSignal,
): Promise<FileAddress> {
  const variables = { ...query, format: format.toUpperCase(), withTotals: false };
  const { reportFile } = await askGateway<FileUrlData>(provision, { query: fileUrlQuery, variables }, signal);
  return { url: new URL(reportFile.path, location.origin), columns: reportFile.columns };
}

/** Fetches the totals of a query's lines; undefined when the query asks for no lines. Throws an Error whose message the page shows. */
export async function fetchTotals(provision: string, query: ReportQuery, signal: AbortSignal): Promise<LineTotals | undefined> {
  try {
    const { reportFile } = await askGateway<FileUrlData>(provision, { query: fileUrlQuery, variables: query }, signal);
    return reportFile.summary?.all;
  } catch (error) {
    // The query itself has been answered already, so the only fault left is that it asks for no lines.
    if (error instanceof GatewayError && error.code === 'BAD_USER_INPUT') return undefined;
    throw error;
  }
}
