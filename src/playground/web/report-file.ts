import { Kind, parse, print } from 'graphql';
import type { EditorTexts } from './editors';
import { askGateway, GatewayError } from './gateway-client';
import reportFileQuery from './queries/report-file.graphql?raw';

export const fileFormats = ['csv', 'ndjson', 'json'] as const;
export type FileFormat = (typeof fileFormats)[number];

/** A query with the values of its variables. */
export interface ReportQuery {
  readonly query: string;
  readonly variables: unknown;
}

/** What the lines of a query add up to, each grain by itself; amounts are exact text, null where nothing of them is known. */
export interface LineTotals {
  readonly lines: number;
  readonly transactions: number;
  readonly deposits: number;
  readonly splitTransactions: number;
  readonly byLine: { readonly amount: string | null };
  readonly byTransaction: { readonly amount: string | null };
  readonly byAllocation: { readonly amount: string | null; readonly unknown: number };
}

interface ReportFileData {
  readonly reportFile: { readonly path: string; readonly summary?: { readonly all: LineTotals } };
}

/** The address of all rows of a query. Throws what to tell the person at the page. */
export async function fetchFileUrl(provision: string, query: ReportQuery, format: FileFormat, signal?: AbortSignal): Promise<URL> {
  const variables = { ...query, format: format.toUpperCase(), withTotals: false };
  const { reportFile } = await askGateway<ReportFileData>(provision, { query: reportFileQuery, variables }, signal);
  return new URL(reportFile.path, location.origin);
}

/** Undefined where the query asks for no lines. Throws what to tell the person at the page. */
export async function fetchTotals(provision: string, query: ReportQuery, signal: AbortSignal): Promise<LineTotals | undefined> {
  try {
    const { reportFile } = await askGateway<ReportFileData>(provision, { query: reportFileQuery, variables: query }, signal);
    return reportFile.summary?.all;
  } catch (error) {
    // Its own answer has shown that there is nothing wrong with it but this.
    if (error instanceof GatewayError && error.code === 'BAD_USER_INPUT') return undefined;
    throw error;
  }
}

/** What stands in the editors; of several operations the named one. Throws what to tell the person at the page. */
export function readQuery({ query, variables }: EditorTexts, operationName?: string): ReportQuery {
  const operation = selectOperation(query, operationName);
  if (variables.trim() === '') return { query: operation, variables: {} };
  try {
    return { query: operation, variables: JSON.parse(variables) as unknown };
  } catch (cause) {
    throw new Error('The variables cannot be read: they must be JSON, without comments.', { cause });
  }
}

/** A document without its other operations; as it is, where that cannot be told. */
export function selectOperation(query: string, operationName: string | null | undefined): string {
  if (!operationName) return query;
  try {
    const document = parse(query);
    const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
    const named = operations.find(({ name }) => name?.value === operationName);
    if (!named || operations.length === 1) return query;
    const fragments = document.definitions.filter((each) => each.kind !== Kind.OPERATION_DEFINITION);
    return print({ ...document, definitions: [named, ...fragments] });
  } catch {
    // The gateway says what is wrong with it.
    return query;
  }
}

/** Stands where who uses the address puts a server's Provision: the page's own is of no use without its login. */
const PLACEHOLDER = 'YOUR-API-PROVISION';

export const copyForms = { url: 'Address', curl: 'curl command', powerQuery: 'Excel / Power Query' } as const;
export type CopyForm = keyof typeof copyForms;

/** What to do with what was copied. */
export const copyAdvice: Readonly<Record<CopyForm, string>> = {
  url: 'The address is copied. Whoever opens it must send a Provision in a header of that name.',
  curl: `Copied. In the text, replace ${PLACEHOLDER} by one that your administrator gives you.`,
  powerQuery: `Copied for the advanced editor. In the text, replace ${PLACEHOLDER} by one that your administrator gives you.`,
};

/** How other programs fetch the file; nobody's credentials are in it. */
export function toCopyText(form: CopyForm, url: URL): string {
  switch (form) {
    case 'url':
      return url.href;
    case 'curl':
      // The address holds no apostrophe: there it is %27.
      return `curl --fail --remote-header-name --remote-name --header 'Provision: ${PLACEHOLDER}' '${url.href.replaceAll("'", '%27')}'`;
    case 'powerQuery':
      return toPowerQuery(url);
  }
}

/** For the advanced editor of Power Query in Excel and Power BI. A base that stays lets Power BI refresh it. */
function toPowerQuery({ origin, pathname, search }: URL): string {
  return `let
  Source = Csv.Document(
    Web.Contents("${origin}", [
      RelativePath = "${(pathname + search).slice(1)}",
      Headers = [Provision = "${PLACEHOLDER}"]
    ]),
    [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]
  ),
  Rows = Table.PromoteHeaders(Source, [PromoteAllScalars = true])
in
  Rows`;
}
