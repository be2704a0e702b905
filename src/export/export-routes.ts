import type { Request, Response, Router } from 'express';
import { AppError } from '../errors';
import { chosenColumns, fileOptionNames, parseFileOptions, parseFileQuery, type FileOptions } from '../file-query';
import type { ExportResolver, ReportFile } from '../resolvers/export-resolver';
import type { RequestContext } from '../resolvers/request-context';
import { sendRows, toContentCoding, type ReaderPace } from '../row-answer';
import { createLineFormat } from '../v2-line';

type Handler = (context: RequestContext, request: Request, response: Response) => Promise<void>;

interface ExportOptions {
  readonly resolver: ExportResolver;
  readonly createRouter: (routes: Readonly<Record<string, Handler>>) => Router;
  readonly readerPace: ReaderPace;
}

const BOM = '\uFEFF';
const MEDIA_TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson', json: 'application/json; charset=utf-8' } as const;
const FORMATS = Object.keys(MEDIA_TYPES) as readonly Format[];
type Format = keyof typeof MEDIA_TYPES;
const FILE_SHA256 = 'X-Export-File-SHA256';

/** A file, and the request that it answers. */
interface FileAnswer {
  readonly file: ReportFile;
  /** How it is called, without its range and its format. */
  readonly name: string;
  readonly format: Format;
  readonly options: FileOptions;
  readonly context: RequestContext;
  readonly request: Request;
  readonly response: Response;
  readonly readerPace: ReaderPace;
}

/** The doors at /export and /reports: reports as files, whose headers tell what they must add up to. Errors are v2's (contract section 2.3). */
export function createExportRoutes({ resolver, createRouter, readerPace }: ExportOptions): Router {
  const reports = {
    'deposit-details': (context: RequestContext, { query }: Request) =>
      resolver.depositDetails(() => parseFileQuery('lines', query), context),
    'deposit-summary': (context: RequestContext, { query }: Request) =>
      resolver.depositSummary(() => parseFileQuery('summary', query), context),
  };
  const exports = Object.entries(reports).flatMap(([name, open]) =>
    FORMATS.map((format): [string, Handler] => [
      `/export/${name}.${format}`,
      async (context, request, response) => {
        const file = await open(context, request);
        const options = parseFileOptions(request.query);
        await sendFile({ file, name, format, options, context, request, response, readerPace });
      },
    ]),
  );
  return createRouter({
    ...Object.fromEntries(exports),
    '/export/receipts/:id': async (context, { params }, response) => {
      response.json(await resolver.receipt(String(params.id), context));
    },
    '/reports/:file': async (context, request, response) => {
      const [name, format] = toNameAndFormat(String(request.params.file));
      const variables = Object.fromEntries(Object.entries(request.query).filter(([key]) => !fileOptionNames.includes(key)));
      const file = await resolver.savedReport(name, () => variables, context);
      const options = parseFileOptions(request.query);
      await sendFile({ file, name, format, options, context, request, response, readerPace });
    },
  });
}

function toNameAndFormat(file: string): readonly [string, Format] {
  const format = FORMATS.find((each) => file.endsWith(`.${each}`));
  if (!format) throw new AppError('NOT_FOUND');
  return [file.slice(0, -format.length - 1), format];
}

async function sendFile({ file, name, format, options, context, request, response, readerPace }: FileAnswer): Promise<void> {
  const totals = options.hasTotals ? await readTotals(file) : undefined;
  // A summary with too many groups is refused before it is put down as begun.
  if (file.query.groupBy) await file.countRows();
  const headers = toHeaders(file, totals);
  const { head, template, tail } = createLineFormat(format, chosenColumns(file.query));
  const start = (options.hasBom && format === 'csv' ? BOM : '') + head;
  // Of a HEAD nothing leaves but the headers.
  const account = request.method === 'HEAD' ? undefined : await file.begin(format);
  // HTTP/1.0 has no chunks, and no trailers after them.
  const hasTrailers = request.httpVersion !== '1.0';
  const rows = async function* (): AsyncGenerator<Buffer> {
    account?.add(start);
    for await (const block of file.rows.bytes(template)) {
      account?.add(block);
      yield block;
    }
    account?.add(tail);
  };
  const begin = (): void => {
    const { startDate, endDate } = file.selection;
    response.set({
      ...headers,
      'Content-Type': MEDIA_TYPES[format],
      'Content-Disposition': `attachment; filename="${name}-${startDate}-${endDate}.${format}"`,
      ...(account && { 'X-Export-Id': account.id }),
      ...(account && hasTrailers && { Trailer: [...Object.keys(headers), FILE_SHA256].join(', ') }),
    });
  };
  const trailers = () => ({ ...headers, ...(account && { [FILE_SHA256]: account.fileSha256() }) });
  const { signal } = context.snapshot;
  let outcome: 'whole' | 'broken' = 'broken';
  try {
    await sendRows(response, [start, rows(), tail], {
      begin,
      readerPace,
      signal,
      coding: toContentCoding(request),
      ...(hasTrailers && { trailers }),
    });
    outcome = 'whole';
  } finally {
    await account?.finish(outcome, totals && { lines: totals.all.lines, digest: totals.digest ?? null });
  }
}

type Totals = Awaited<ReturnType<typeof readTotals>>;

/** All at the same time, of one state. */
async function readTotals({ summary, hasDigest, countRows }: ReportFile) {
  const [{ all }, digest, rows] = await Promise.all([summary.totals(), hasDigest ? summary.digest() : undefined, countRows()]);
  return { all, digest, rows };
}

function toHeaders({ selection: { startDate, endDate } }: ReportFile, totals: Totals | undefined): Record<string, string> {
  const range = { 'X-Export-Range': `${startDate}/${endDate}` };
  if (!totals) return range;
  const { all, digest, rows } = totals;
  return {
    ...range,
    'X-Export-Rows': String(rows),
    'X-Export-Lines': String(all.lines),
    'X-Export-Transactions': String(all.transactions),
    'X-Export-Deposits': String(all.deposits),
    'X-Export-Amount-By-Line': all.byLine.amount,
    'X-Export-Amount-By-Transaction': all.byTransaction.amount,
    ...(all.byAllocation.amount !== null && { 'X-Export-Amount-By-Allocation': all.byAllocation.amount }),
    'X-Export-Unknown-Allocations': String(all.byAllocation.unknown),
    ...(digest !== undefined && { 'X-Export-Digest': digest }),
  };
}
