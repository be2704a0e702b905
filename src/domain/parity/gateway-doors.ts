import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { OperatorError } from '../../errors';
import { readImportLines } from '../../formats/import-format';
import { lineFields, lineNames } from '../../line/line-fields';
import type { ImportFormat } from '../../values/file-formats';
import type { LocalDate } from '../../values/dates';
import { REPORT_PRIVILEGE } from '../../values/privileges';
import type { DoorFigures, DoorLine, FigureName } from './line-figures';

/** The lines that all doors are asked for. */
export interface DoorQuestion {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly pending: 'WITH' | 'WITHOUT';
}

/** One answer. It must be closed. */
export interface DoorReading {
  /** The number of the data version that the answer is of. */
  readonly version: number;
  /** Undefined for a door that tells figures alone. Throws a BooksMoved, or an OperatorError when the answer is not whole. */
  readonly lines: AsyncIterable<readonly DoorLine[]> | undefined;
  /** The figures that the answer itself tells, to be asked for after its end. */
  readonly told?: () => DoorFigures;
  close(): Promise<void>;
}

/** A way to the lines of an organization. */
export interface Door {
  readonly name: string;
  /** False for a door that has the 26 fields of v2. */
  readonly hasExtras: boolean;
  /** Throws a BooksMoved or an OperatorError. */
  open(question: DoorQuestion): Promise<DoorReading>;
}

/** One answer has come of several versions, because the books are changing. */
export class BooksMoved extends Error {}

export interface GatewayAddress {
  readonly url: URL;
  readonly provision: string;
  /** Aborted when the operator ends the command. */
  readonly signal: AbortSignal;
}

/** A gateway that sends nothing for so long has stopped. Its first byte may take as long as a summary. */
const STALL_MS = 300_000;
const MAX_ATTEMPTS = 10;
/** The budget of a minute is there again after one. */
const MAX_WAIT_MS = 60_000;
const MS_PER_SECOND = 1000;
const PAGE_LINES = 1000;

const FIELDS = lineNames.map((name) => lineFields[name].field).join(' ');
/** The query of the streamed list and of the saved report. */
export const LIST_QUERY = `query Parity($startDate: LocalDate!, $endDate: LocalDate!, $includePending: Boolean!) {
  response: depositDetails(startDate: $startDate, endDate: $endDate, includePending: $includePending) { ${FIELDS} }
}`;
const PAGE_QUERY = `query ParityPages($startDate: LocalDate!, $endDate: LocalDate!, $pending: PendingChoice!, $after: String) {
  page: depositDetailsConnection(startDate: $startDate, endDate: $endDate, pending: $pending, first: ${PAGE_LINES}, after: $after) {
    nodes { ${FIELDS} }
    pageInfo { hasNextPage endCursor }
  }
}`;
const SUMMARY_QUERY = `query ParitySummary($startDate: LocalDate!, $endDate: LocalDate!, $pending: PendingChoice!) {
  summary: depositSummary(startDate: $startDate, endDate: $endDate, pending: $pending) {
    digest
    all { lines transactions deposits byLine { amount } byTransaction { amount } byAllocation { amount unknown } }
  }
}`;

/** The control totals of a file, by their trailers. */
const TRAILERS: Readonly<Record<Exclude<FigureName, 'extras'>, string>> = {
  lines: 'x-export-lines',
  transactions: 'x-export-transactions',
  deposits: 'x-export-deposits',
  amountByLine: 'x-export-amount-by-line',
  amountByTransaction: 'x-export-amount-by-transaction',
  amountByAllocation: 'x-export-amount-by-allocation',
  unknownShares: 'x-export-unknown-allocations',
  digest: 'x-export-digest',
};

interface Page {
  readonly nodes: readonly Readonly<Record<string, unknown>>[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface Summary {
  readonly digest: string;
  readonly all: {
    readonly lines: number;
    readonly transactions: number;
    readonly deposits: number;
    readonly byLine: { readonly amount: string };
    readonly byTransaction: { readonly amount: string };
    readonly byAllocation: { readonly amount: string | null; readonly unknown: number };
  };
}

/** All doors of a running gateway. `savedReport` is the name of a saved report with the query of the list. */
export function createGatewayDoors(address: GatewayAddress, savedReport: string): Door[] {
  const file = (
    name: string,
    format: ImportFormat,
    path: string,
    toParameters: (question: DoorQuestion) => Record<string, string>,
  ): Door => ({
    name,
    hasExtras: name !== 'v2',
    open: async (question) => {
      const response = await ask(address, `${path}?${new URLSearchParams(toParameters(question)).toString()}`);
      return toReading(response, readLines(format, bodyOf(response)));
    },
  });
  const dates = ({ startDate, endDate, pending }: DoorQuestion) => ({
    ...{ start_date: startDate, end_date: endDate, include_pending: String(pending === 'WITH') },
  });
  const all = (question: DoorQuestion) => ({ ...dates(question), columns: 'all' });
  return [
    file('v2', 'json', `/api/v2/${REPORT_PRIVILEGE}`, dates),
    {
      name: 'GraphQL list',
      hasExtras: true,
      open: async (question) => {
        const response = await askGraphql(address, LIST_QUERY, toVariables(question));
        return toReading(response, toFileLines(readLines('json', withoutData(bodyOf(response)))));
      },
    },
    { name: 'GraphQL pages', hasExtras: true, open: (question) => openPages(address, question) },
    file('CSV', 'csv', '/export/deposit-details.csv', all),
    file('NDJSON', 'ndjson', '/export/deposit-details.ndjson', all),
    file('JSON', 'json', '/export/deposit-details.json', all),
    file('saved report', 'ndjson', `/reports/${savedReport}.ndjson`, (question) => {
      const { includePending, ...range } = toVariables(question);
      return { ...range, includePending: String(includePending) };
    }),
    { name: 'summary', hasExtras: true, open: (question) => openSummary(address, question) },
  ];
}

const toVariables = ({ startDate, endDate, pending }: DoorQuestion) => ({ startDate, endDate, includePending: pending === 'WITH' });

const toReading = (response: IncomingMessage, lines: AsyncIterable<readonly DoorLine[]>): DoorReading => ({
  version: versionOf(response),
  lines,
  told: () => Object.fromEntries(Object.entries(TRAILERS).map(([name, trailer]) => [name, response.trailers[trailer]])),
  close: () => Promise.resolve(void response.destroy()),
});

async function openPages(address: GatewayAddress, question: DoorQuestion): Promise<DoorReading> {
  const read = (after: string | null): Promise<Answer<{ readonly page: Page }>> => readGraphql(address, PAGE_QUERY, { ...question, after });
  const first = await read(null);
  const { version } = first;
  async function* lines(): AsyncGenerator<readonly DoorLine[]> {
    let answer = first;
    for (;;) {
      if (answer.version !== version) throw new BooksMoved();
      const { nodes, pageInfo } = answer.data.page;
      yield nodes.map(toFileLine);
      if (!pageInfo.hasNextPage) return;
      answer = await read(pageInfo.endCursor);
    }
  }
  return { version, lines: lines(), close: () => Promise.resolve() };
}

async function openSummary(address: GatewayAddress, question: DoorQuestion): Promise<DoorReading> {
  const { version, data } = await readGraphql<{ readonly summary: Summary }>(address, SUMMARY_QUERY, { ...question });
  const { digest, all } = data.summary;
  const { lines, transactions, deposits, byLine, byTransaction, byAllocation } = all;
  const figures = {
    ...{ lines: String(lines), transactions: String(transactions), deposits: String(deposits), digest },
    ...{ amountByLine: byLine.amount, amountByTransaction: byTransaction.amount },
    ...{ amountByAllocation: byAllocation.amount ?? undefined, unknownShares: String(byAllocation.unknown) },
  };
  return { version, lines: undefined, told: () => figures, close: () => Promise.resolve() };
}

async function* readLines(format: ImportFormat, body: AsyncIterable<Buffer>): AsyncGenerator<readonly DoorLine[]> {
  for await (const lines of readImportLines(format, body)) yield lines.map(({ values }) => (values ?? {}) as DoorLine);
}

async function* toFileLines(lines: AsyncIterable<readonly DoorLine[]>): AsyncGenerator<readonly DoorLine[]> {
  for await (const some of lines) yield some.map(toFileLine);
}

/** A line of GraphQL by the names and in the letters of files. */
function toFileLine(values: Readonly<Record<string, unknown>>): DoorLine {
  const line: Record<string, unknown> = {};
  for (const name of lineNames) {
    const { field, type } = lineFields[name];
    const value = values[field];
    line[name] = type === 'status' && typeof value === 'string' ? value.toLowerCase() : value;
  }
  return line;
}

const DATA = '{"data":';
/** The last bytes of an answer, `}` and perhaps a line end. */
const END_LENGTH = 2;

/** The value of `data`, which is the form of a v2 answer. Throws the error that an answer has in its place. */
async function* withoutData(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  let isWithin = false;
  for await (const piece of body) {
    held = Buffer.concat([held, piece]);
    if (!isWithin && held.length < DATA.length) continue;
    if (!isWithin && held.toString('latin1', 0, DATA.length) !== DATA) break;
    if (!isWithin) held = held.subarray(DATA.length);
    isWithin = true;
    const end = Math.max(0, held.length - END_LENGTH);
    yield held.subarray(0, end);
    held = held.subarray(end);
  }
  const rest = held.toString('latin1').trimEnd();
  if (!isWithin) throw new OperatorError(`the answer has no data: ${describeErrors(rest)}`);
  yield Buffer.from(rest.replace(/\}$/, ''), 'latin1');
}

interface Answer<Data> {
  readonly version: number;
  readonly data: Data;
}

async function readGraphql<Data>(
  address: GatewayAddress,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<Answer<Data>> {
  const response = await askGraphql(address, query, variables);
  const body = await text(bodyOf(response));
  const { data, errors } = parseObject(body) as { readonly data?: Data | null; readonly errors?: unknown };
  if (errors !== undefined || !data) throw new OperatorError(`the answer has no data: ${describeErrors(body)}`);
  return { version: versionOf(response), data };
}

const askGraphql = (address: GatewayAddress, query: string, variables: Readonly<Record<string, unknown>>): Promise<IncomingMessage> =>
  ask(address, '/graphql', JSON.stringify({ query, variables }));

/** The answer with status 200. Asks again after as long as a gateway says that refuses for a while. Throws an OperatorError. */
async function ask(address: GatewayAddress, path: string, body?: string): Promise<IncomingMessage> {
  for (let attempt = 1; ; attempt++) {
    const response = await send(address, path, body);
    if (response.statusCode === 200) return response;
    const said = describeErrors(await text(bodyOf(response)));
    const waitMs = Number(response.headers['retry-after']) * MS_PER_SECOND;
    if (attempt === MAX_ATTEMPTS || !(waitMs <= MAX_WAIT_MS)) throw new OperatorError(`the answer is ${response.statusCode}: ${said}`);
    await delay(waitMs, undefined, { signal: address.signal });
  }
}

function send({ url, provision, signal }: GatewayAddress, path: string, body: string | undefined): Promise<IncomingMessage> {
  const target = new URL(`${url.href.replace(/\/$/, '')}${path}`);
  const headers = { provision, accept: '*/*', 'user-agent': 'deposit-gateway parity', 'content-type': 'application/json' };
  const open = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = open(target, { method: body === undefined ? 'GET' : 'POST', headers, signal, timeout: STALL_MS }, resolve);
    request.on('timeout', () => request.destroy(new Error('it sends nothing')));
    request.on('error', (error) => reject(new OperatorError(`there is no answer from ${url.origin}: ${error.message}`, { cause: error })));
    request.end(body);
  });
}

/** The bytes of an answer. Throws an OperatorError when they are not all. */
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

/** The text of the first error in a body of v2, of a file or of GraphQL; nothing of any other body, which may have donors' data. */
function describeErrors(body: string): string {
  const { errors } = parseObject(body) as { readonly errors?: readonly { readonly error?: unknown; readonly message?: unknown }[] };
  const said = errors?.[0]?.error ?? errors?.[0]?.message;
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
