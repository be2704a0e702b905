import { createHash } from 'node:crypto';
import { numberOf } from '../data/postgres/version-stamp';
import type { BookState } from '../data/reading/replica';
import type { LinkService } from '../domain/access/link-service';
import type { ReadRange } from '../domain/audit/audit-service';
import { InputError, toAppError } from '../errors';
import { chosenColumns, daysOf, namesOfConditions, toFileLayout, type FileQuery } from '../formats/file-address';
import { toFileAddress } from '../formats/link-address';
import type { FileResolver, FileSource, FileTotals } from '../resolvers/reports/file-resolver';
import type { RequestContext } from '../resolvers/request/request-context';
import { ALL_TIME } from '../values/dates';
import type { AgentTool } from './agent-tools';

/** The most rows of an answer. An agent reads each of them, and takes the others from the file. */
export const MOST_ROWS = 100;
/** The most bytes of a document's answer, before its lists are cut. */
const MOST_BYTES = 2_000_000;

/** The answer to a document, and the context in which it was read. */
interface DocumentAnswer {
  readonly text: string;
  readonly context: RequestContext;
  readonly hash: string | null;
  readonly range: () => ReadRange;
  readonly refusal: ReturnType<typeof toAppError> | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** Runs an operation as the door of GraphQL does. The books of its context must be closed in the end. */
export interface DocumentRun {
  collect(mostBytes: number): Promise<DocumentAnswer>;
  close(): Promise<void>;
}

/** The call of a tool as the door sends it and as the audit notes it. */
export interface ToolAnswer {
  readonly content: Readonly<Record<string, unknown>>;
  /** The text of an answer without data; undefined for one with data. */
  readonly fault: string | undefined;
  readonly context: RequestContext;
  readonly hash: string | null;
  readonly range: () => ReadRange;
  readonly lines: number | undefined;
  readonly dataVersion: number | null;
  readonly refusal: ReturnType<typeof toAppError> | undefined;
}

/** A fault as an agent reads it: its code, its text, and the time to wait where waiting helps. */
export const writeFault = (code: string, text: string, retryAfterSeconds?: number): string =>
  `${code}: ${text}${retryAfterSeconds === undefined ? '' : `; try again in ${retryAfterSeconds} seconds`}`;

type Values = Readonly<Record<string, unknown>>;

/** The request in which a tool is called. */
export interface ToolCall {
  readonly context: RequestContext;
  /** The scheme and the host at which the caller has reached the gateway. */
  readonly origin: string;
  readonly run: (operation: { readonly query: string; readonly variables: Values }) => DocumentRun;
}

interface AnswerParts {
  readonly files: FileResolver;
  readonly links: LinkService;
}

/** Answers the calls of tools, by the resolvers that the other doors call. */
export class AgentAnswers {
  constructor(private readonly parts: AnswerParts) {}

  /** Throws an AppError. */
  async answer({ input, source }: AgentTool, values: Values, call: ToolCall): Promise<ToolAnswer> {
    const { files } = this.parts;
    const unknown = Object.keys(values).find((name) => !Object.hasOwn(input.properties, name));
    if (unknown !== undefined) throw new InputError(`there is no parameter ${unknown}`, unknown);
    const { context } = call;
    if (source.kind === 'report') {
      // A model writes null for a value that it does not give.
      const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
      return this.ofFile(await files.savedReport(source.report.name, { read: () => given, areTexts: false }, context), call);
    }
    const document = { query: source.query, variables: values };
    if (!source.isFile) return ofDocument(call.run(document), source.pageInfos, context.access.bookState!);
    return this.ofFile(await files.document(document, context), call);
  }

  /** The totals of a file, its first rows, and a link to all of them, from one state of the books. */
  private async ofFile(file: FileSource, { context, origin }: ToolCall): Promise<ToolAnswer> {
    const { lineSet, query, facts } = file;
    const { rows, totals } = await file.readTotals(toFileLayout(query, 'ndjson', false).template);
    const firstRows = await readFirst(rows, MOST_ROWS);
    const dataVersion = numberOf(lineSet.state ?? context.books.version!);
    const isOfLines = facts.report !== 'deposit-summary';
    const { address, isTooLong } = toFileAddress(inVersion(query, dataVersion), 'csv');
    // Books that were never filled have no version, so that a link would give rows beside an answer without any.
    const fileFault =
      dataVersion === 0
        ? 'The books are empty: nothing was imported yet.'
        : isTooLong && `The address of the file would have ${address.length} characters: give fewer values.`;
    return {
      content: {
        dataVersion: toVersion(dataVersion),
        startDate: lineSet.startDate,
        endDate: lineSet.endDate,
        rows: totals.rows,
        isWhole: firstRows.length === totals.rows,
        columns: Object.keys(chosenColumns(query)),
        firstRows,
        totals: toTotals(totals),
        digest: totals.digest ?? null,
        moneyDigest: totals.moneyDigest ?? null,
        file: fileFault ? null : origin + (await this.parts.links.sign(address, context.access)),
        ...(fileFault && { fileFault }),
      },
      fault: undefined,
      context,
      hash: null,
      range: () => toRange(query.changes ? { ...ALL_TIME, pending: 'WITH' } : { ...lineSet, ...daysOf(query) }, namesOfConditions(query)),
      lines: isOfLines ? firstRows.length : undefined,
      dataVersion,
      refusal: undefined,
    };
  }
}

const toRange = ({ startDate, endDate, pending }: Omit<ReadRange, 'conditions'>, conditions: readonly string[]): ReadRange => ({
  startDate,
  endDate,
  pending,
  conditions,
});

const toTotals = ({ all }: FileTotals) =>
  all && {
    lines: all.lines,
    transactions: all.transactions,
    deposits: all.deposits,
    amountByLine: all.byLine.amount,
    amountByTransaction: all.byTransaction.amount,
    amountByAllocation: all.byAllocation.amount,
    unknownAllocations: all.byAllocation.unknown,
  };

/** The number of a data version as agents read it: null before the first import. */
const toVersion = (version: number | null): number | null => (version === 0 ? null : version);

/** The query in the version that was answered, so that its file has the same rows whatever is imported meanwhile. */
function inVersion(query: FileQuery, version: number): FileQuery {
  if (query.changes) return { ...query, changes: { ...query.changes, to: { version } } };
  return { ...query, lines: { ...query.lines, asOf: { version } } };
}

/** Reads the first rows of NDJSON, and leaves the others unread. */
async function readFirst(blocks: AsyncGenerator<Buffer>, most: number): Promise<object[]> {
  let text = '';
  const rows: object[] = [];
  const decoder = new TextDecoder();
  for await (const block of blocks) {
    const lines = (text + decoder.decode(block, { stream: true })).split('\n');
    text = lines.pop()!;
    rows.push(...lines.slice(0, most - rows.length).map((line) => JSON.parse(line) as object));
    if (rows.length === most) break;
  }
  return rows;
}

/** An error in an answer to a document. */
interface FieldError {
  readonly message: string;
  readonly extensions?: { readonly code: string };
}

/**
 * The answer to a document, whose lists are cut where they have more rows than an agent gets. A document that reads no books is of the state
 * in which the agent was let in.
 */
async function ofDocument(run: DocumentRun, pageInfos: ReadonlySet<string>, letIn: BookState): Promise<ToolAnswer> {
  try {
    const { text, context, hash, range, refusal, retryAfterSeconds } = await run.collect(MOST_BYTES);
    const { data = null, errors } = JSON.parse(text) as { readonly data?: Values | null; readonly errors?: readonly FieldError[] };
    const { message = '', extensions } = errors?.[0] ?? {};
    const { version } = context.access.bookState ?? letIn;
    const dataVersion = data === null ? null : numberOf(context.books.version ?? version);
    const cuts: Cut[] = [];
    const digest = createHash('sha256').update(JSON.stringify(data)).digest('hex');
    const shown = cutLists(data, { left: MOST_ROWS, pageInfos, cuts }, []);
    // Nearly every field of the root may be null, so that a query of which nothing was answered has data, too.
    const hasFailed = errors !== undefined && Object.values(data ?? {}).every((value) => value === null);
    return {
      content: {
        ...{ dataVersion: toVersion(dataVersion), digest, data: shown },
        ...(errors && { errors }),
        ...(cuts.length > 0 && { cuts }),
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      },
      fault: hasFailed ? writeFault(extensions?.code ?? '', message, retryAfterSeconds) : undefined,
      context,
      hash,
      range,
      lines: undefined,
      dataVersion,
      refusal,
    };
  } finally {
    await run.close();
  }
}

/** A list of which an agent gets the first rows alone. */
interface Cut {
  readonly path: string;
  readonly rows: number;
  readonly shown: number;
}

/** The rows that an answer still has place for, and the cuts that were made. */
interface Places {
  left: number;
  readonly pageInfos: ReadonlySet<string>;
  readonly cuts: Cut[];
}

/**
 * Copies a value with the first rows of its lists, as many as there are places left. A list takes its places before the lists within its
 * rows. Null stands for a list of which nothing is shown, and for the places of a page that was cut: its last cursor would pass over the
 * rows that are not shown. Lists of plain values are part of their row.
 */
function cutLists(value: unknown, places: Places, path: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    const entries = Object.entries(value).map(([key, each]) => [key, cutLists(each, places, [...path, key])] as const);
    const isCut = entries.some(([key, copy]) => lengthOf(copy) < lengthOf((value as Values)[key]));
    return Object.fromEntries(entries.map(([key, copy]) => [key, isCut && places.pageInfos.has(key) ? null : copy]));
  }
  if (!value.some((row) => typeof row === 'object' && row !== null)) return value;
  const shown = value.slice(0, places.left);
  places.left -= shown.length;
  if (shown.length < value.length) places.cuts.push({ path: path.join('.'), rows: value.length, shown: shown.length });
  return shown.length === 0 ? null : shown.map((row: unknown, index) => cutLists(row, places, [...path, String(index)]));
}

/** The rows of a list; 0 for what is none. */
const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
