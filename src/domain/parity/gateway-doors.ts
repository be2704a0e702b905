import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { OperatorError, reasonOf } from '../../errors';
import { readImportLines } from '../../formats/import-format';
import { lineFields, lineNames, v2Names, type LineName } from '../../line/line-fields';
import type { LocalDate } from '../../values/dates';
import type { ImportFormat } from '../../values/file-formats';
import { REPORT_PRIVILEGE } from '../../values/privileges';
import { NO_SHARE, type DoorFigures, type DoorLine, type FigureName } from './line-figures';

/** The lines that all doors are asked for. */
export interface DoorQuestion {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly pending: 'WITH' | 'WITHOUT';
}

/** A part of an answer. */
export interface DoorPart {
  /** The number of the data version that the part is of. */
  readonly version: number;
  readonly lines: readonly DoorLine[];
  /** Figures that the answer tells of itself. */
  readonly told?: DoorFigures;
}

/** A way to the lines of an organization. An answer has at least one part. An OperatorError says why it is not whole. */
export interface Door {
  readonly name: string;
  /** The fields of its lines; none where it tells figures alone. */
  readonly fields: readonly LineName[];
  read(question: DoorQuestion): AsyncGenerator<DoorPart>;
}

export interface GatewayAddress {
  readonly url: URL;
  readonly provision: string;
  /** Aborted when the operator ends the command. */
  readonly signal: AbortSignal;
}

/** A gateway that sends nothing for so long has stopped. The first byte of a summary takes a while. */
const STALL_MS = 300_000;
const MAX_ATTEMPTS = 10;
/** The budget of a minute is there again after one. */
const MAX_WAIT_MS = 60_000;

const RANGE = '$startDate: LocalDate!, $endDate: LocalDate!';
const FIELDS = lineNames.map((name) => lineFields[name].field).join(' ');
/** The query of the streamed list and of the saved report. */
export const LIST_QUERY = `query Parity(${RANGE}, $includePending: Boolean!) {
  response: depositDetails(startDate: $startDate, endDate: $endDate, includePending: $includePending) { ${FIELDS} } }`;
const PAGE_QUERY = `query ParityPages(${RANGE}, $pending: PendingChoice!, $after: String) {
  page: depositDetailsConnection(startDate: $startDate, endDate: $endDate, pending: $pending, first: 200, after: $after) {
    nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } }`;
const SUMMARY_QUERY = `query ParitySummary(${RANGE}, $pending: PendingChoice!) {
  summary: depositSummary(startDate: $startDate, endDate: $endDate, pending: $pending) {
    digest moneyDigest all { lines transactions deposits byLine { amount } byTransaction { amount } byAllocation { amount unknown } } } }`;

interface Page {
  readonly nodes: readonly DoorLine[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const FEED = '/odata/Lines';

interface FeedPage {
  readonly value: readonly Readonly<Record<string, unknown>>[];
  readonly '@odata.nextLink'?: string;
}

interface Summary {
  readonly digest: string;
  readonly moneyDigest: string;
  readonly all: Readonly<Record<'lines' | 'transactions' | 'deposits', number>> &
    Readonly<Record<'byLine' | 'byTransaction', { readonly amount: string }>> & {
      readonly byAllocation: { readonly amount: string | null; readonly unknown: number };
    };
}

/** The trailers of a file. */
const TRAILERS: Readonly<Record<Exclude<FigureName, 'extras' | 'otherFields'>, string>> = {
  lines: 'x-export-lines',
  transactions: 'x-export-transactions',
  deposits: 'x-export-deposits',
  amountByLine: 'x-export-amount-by-line',
  amountByTransaction: 'x-export-amount-by-transaction',
  amountByAllocation: 'x-export-amount-by-allocation',
  unknownShares: 'x-export-unknown-allocations',
  digest: 'x-export-digest',
  moneyDigest: 'x-export-money-digest',
};

/**
 * All doors of a running gateway that tell all lines. Agents get the first rows of a file alone, by the resolver of files. `savedReport` is the name of a
 * saved report with `LIST_QUERY`.
 */
export function createGatewayDoors(gateway: GatewayAddress, savedReport: string): Door[] {
  const doors: Readonly<Record<string, Door['read']>> = {
    v2: (question) => readFile(gateway, 'json', `/api/v2/${REPORT_PRIVILEGE}`, toParameters(question)),
    'GraphQL list': (question) => readList(gateway, question),
    'GraphQL pages': (question) => readPages(gateway, question),
    ...Object.fromEntries(
      (['csv', 'ndjson', 'json'] as const).map((format) => [
        format.toUpperCase(),
        (question) => readFile(gateway, format, `/export/deposit-details.${format}`, { ...toParameters(question), columns: 'all' }),
      ]),
    ),
    OData: (question) => readFeed(gateway, question),
    'saved report': (question) => readFile(gateway, 'ndjson', `/reports/${savedReport}.ndjson`, toVariables(question)),
    summary: (question) => readSummary(gateway, question),
  };
  const fieldsOf: Readonly<Record<string, readonly LineName[]>> = { v2: v2Names, summary: [] };
  return Object.entries(doors).map(([name, read]) => ({ name, read, fields: fieldsOf[name] ?? lineNames }));
}

const toVariables = ({ startDate, endDate, pending }: DoorQuestion) => ({ startDate, endDate, includePending: pending === 'WITH' });
const toParameters = ({ startDate, endDate, pending }: DoorQuestion) => ({
  ...{ start_date: startDate, end_date: endDate, include_pending: pending === 'WITH' },
});

const toQuery = (parameters: object): string =>
  new URLSearchParams(Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)])).toString();

async function* readFile(gateway: GatewayAddress, format: ImportFormat, path: string, parameters: object): AsyncGenerator<DoorPart> {
  const response = await ask(gateway, `${path}?${toQuery(parameters)}`);
  const version = versionOf(response);
  for await (const lines of readLines(format, bodyOf(response))) yield { version, lines };
  const told = Object.entries(TRAILERS).flatMap(([name, trailer]) => {
    const value = response.trailers[trailer];
    return value === undefined ? [] : [[name, value] as const];
  });
  yield { version, lines: [], told: Object.fromEntries(told) };
}

async function* readList(gateway: GatewayAddress, question: DoorQuestion): AsyncGenerator<DoorPart> {
  const response = await askGraphql(gateway, LIST_QUERY, toVariables(question));
  const version = versionOf(response);
  for await (const lines of readLines('json', withoutData(bodyOf(response)))) yield { version, lines: lines.map(toFileLine) };
}

async function* readPages(gateway: GatewayAddress, question: DoorQuestion): AsyncGenerator<DoorPart> {
  const seen = new Set<string | null>([null]);
  for (let after: string | null = null, hasNext = true; hasNext;) {
    const { version, data }: Answer<{ page: Page }> = await readGraphql(gateway, PAGE_QUERY, { ...question, after });
    const { nodes, pageInfo }: Page = data.page;
    yield { version, lines: nodes.map(toFileLine) };
    ({ endCursor: after, hasNextPage: hasNext } = pageInfo);
    if (hasNext && seen.has(after)) throw new OperatorError('the pages do not end');
    seen.add(after);
  }
}

/** Amounts and numbers come as texts, because a JSON number of many digits would be rounded here. */
async function* readFeed(gateway: GatewayAddress, question: DoorQuestion): AsyncGenerator<DoorPart> {
  let path: string | undefined = `${FEED}?${toQuery({ ...toParameters(question), $format: 'application/json;IEEE754Compatible=true' })}`;
  const seen = new Set<string>();
  while (path !== undefined) {
    if (seen.has(path)) throw new OperatorError('the pages do not end');
    seen.add(path);
    const response: IncomingMessage = await ask(gateway, path);
    const body = await text(bodyOf(response));
    const { value, '@odata.nextLink': next } = parseObject(body) as Partial<FeedPage>;
    if (!value) throw toRefusal(body);
    yield { version: versionOf(response), lines: value.map(toFileLine) };
    // A link has the host of the request.
    path = next?.slice(next.indexOf(FEED));
  }
}

async function* readSummary(gateway: GatewayAddress, question: DoorQuestion): AsyncGenerator<DoorPart> {
  const { version, data } = await readGraphql<{ summary: Summary }>(gateway, SUMMARY_QUERY, question);
  const { digest, moneyDigest, all } = data.summary;
  const { lines, transactions, deposits, byLine, byTransaction, byAllocation } = all;
  const told = {
    ...{ lines: String(lines), transactions: String(transactions), deposits: String(deposits), digest, moneyDigest },
    ...{ amountByLine: byLine.amount, amountByTransaction: byTransaction.amount },
    ...{ amountByAllocation: byAllocation.amount ?? NO_SHARE, unknownShares: String(byAllocation.unknown) },
  };
  yield { version, lines: [], told };
}

async function* readLines(format: ImportFormat, body: AsyncIterable<Buffer>): AsyncGenerator<DoorLine[]> {
  for await (const lines of readImportLines(format, body)) yield lines.map(({ values }) => (values ?? {}) as DoorLine);
}

/** A line of GraphQL or of a feed by the names and in the letters of files. */
function toFileLine(values: Readonly<Record<string, unknown>>): DoorLine {
  const line: Record<string, unknown> = {};
  for (const name of lineNames) {
    const { field, type } = lineFields[name];
    line[name] = type === 'number' ? Number(values[field]) : values[field];
  }
  return { ...line, deposit_status: String(line.deposit_status).toLowerCase() };
}

const DATA = '{"data":';
/** The length of the end of an answer: `}` and perhaps a line end. */
const END_LENGTH = 2;

/** The value of `data`, which has the form of a v2 answer. Throws the error that an answer has in its place. */
async function* withoutData(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  let isWithin = false;
  for await (const piece of body) {
    held = Buffer.concat([held, piece]);
    if (!isWithin) {
      if (held.length < DATA.length) continue;
      if (held.toString('latin1', 0, DATA.length) !== DATA) throw toRefusal(held.toString());
      held = held.subarray(DATA.length);
      isWithin = true;
    }
    const end = Math.max(0, held.length - END_LENGTH);
    yield held.subarray(0, end);
    held = held.subarray(end);
  }
  yield Buffer.from(held.toString('latin1').replace(/\}\n?$/, ''), 'latin1');
}

const toRefusal = (body: string): OperatorError => new OperatorError(`the answer has no data: ${describeErrors(body)}`);

interface Answer<Data> {
  readonly version: number;
  readonly data: Data;
}

async function readGraphql<Data>(gateway: GatewayAddress, query: string, variables: object): Promise<Answer<Data>> {
  const response = await askGraphql(gateway, query, variables);
  const body = await text(bodyOf(response));
  const { data, errors } = parseObject(body) as { readonly data?: Data | null; readonly errors?: unknown };
  if (errors !== undefined || !data) throw toRefusal(body);
  return { version: versionOf(response), data };
}

const askGraphql = (gateway: GatewayAddress, query: string, variables: object): Promise<IncomingMessage> =>
  ask(gateway, '/graphql', JSON.stringify({ query, variables }));

/** The answer with status 200. Asks again after as long as a gateway says that refuses for a while. */
async function ask(gateway: GatewayAddress, path: string, body?: string): Promise<IncomingMessage> {
  for (let attempt = 1; ; attempt++) {
    const response = await send(gateway, path, body);
    if (response.statusCode === 200) return response;
    const said = describeErrors(await text(bodyOf(response)));
    const waitMs = Number(response.headers['retry-after']) * 1000;
    if (attempt === MAX_ATTEMPTS || !(waitMs <= MAX_WAIT_MS)) throw new OperatorError(`the answer is ${response.statusCode}: ${said}`);
    await delay(waitMs, undefined, { signal: gateway.signal });
  }
}

function send({ url, provision, signal }: GatewayAddress, path: string, body: string | undefined): Promise<IncomingMessage> {
  const credentials = path.startsWith(FEED)
    ? { authorization: `Basic ${Buffer.from(`parity:${provision}`).toString('base64')}` }
    : { provision };
  const headers = { ...credentials, 'user-agent': 'deposit-gateway parity', 'content-type': 'application/json' };
  const open = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const options = { method: body === undefined ? 'GET' : 'POST', headers, signal, timeout: STALL_MS };
    const request = open(`${url.href.replace(/\/$/, '')}${path}`, options, resolve);
    request.on('timeout', () => request.destroy(new Error('it sends nothing')));
    request.on('error', (error) =>
      reject(new OperatorError(`there is no answer from ${url.origin}: ${reasonOf(error)}`, { cause: error })),
    );
    request.end(body);
  });
}

async function* bodyOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const piece of response) yield piece as Buffer;
  } catch (error) {
    throw new OperatorError('the answer breaks off', { cause: error });
  }
}

function versionOf({ headers }: IncomingMessage): number {
  const version = headers['x-data-version'];
  if (typeof version !== 'string' || !/^[0-9]+$/.test(version)) throw new OperatorError('the answer has no X-Data-Version');
  return Number(version);
}

const MAX_SAID = 200;

/** The text of the first error in a body of v2, of a file, of GraphQL or of a feed; nothing of any other body, which may have donors' data. */
function describeErrors(body: string): string {
  const { errors, error } = parseObject(body) as {
    readonly errors?: readonly { readonly error?: unknown; readonly message?: unknown }[];
    readonly error?: { readonly message?: unknown } | null;
  };
  const said = errors?.[0]?.error ?? errors?.[0]?.message ?? error?.message;
  return typeof said === 'string' ? said.slice(0, MAX_SAID) : 'an answer of another kind';
}

/** The object that a body is in JSON; one without members for another body, such as the page of a proxy. */
function parseObject(body: string): object {
  try {
    return Object(JSON.parse(body)) as object;
  } catch {
    return {};
  }
}
