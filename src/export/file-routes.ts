import type { Request, Response, Router } from 'express';
import type { FilePieces } from '../domain/audit-service';
import { AppError } from '../errors';
import { chosenColumns, fileOptionNames, parseFileOptions, parseFileQuery } from '../formats/file-address';
import { createFileLayout, fileFormats, type FileFormat } from '../formats/file-format';
import { setDataVersion, type DoorKit } from '../http/door-kit';
import { EntityTag } from '../http/entity-tag';
import { createRequestRouter, type RequestHandler } from '../http/request-router';
import { sendRows, toContentCoding } from '../http/row-sender';
import type { FileResolver, FileSource } from '../resolvers/file-resolver';
import type { RequestContext } from '../resolvers/request-context';

const BOM = '\uFEFF';
const MEDIA_TYPES = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  json: 'application/json; charset=utf-8',
} as const satisfies Record<FileFormat, string>;
const FILE_SHA256 = 'X-Export-File-SHA256';

/** A request for a file, with its context and its response. */
interface Exchange {
  readonly context: RequestContext;
  readonly request: Request;
  readonly response: Response;
}

/**
 * The doors at /export and /reports, which answer reports as files. The headers hold the control totals of a file; errors have the
 * contract's body (section 2.3).
 */
export function createFileRoutes(resolver: FileResolver, kit: DoorKit): Router {
  const reports = {
    'deposit-details': (context: RequestContext, { query }: Request) =>
      resolver.depositDetails(() => parseFileQuery('lines', query), context),
    'deposit-summary': (context: RequestContext, { query }: Request) =>
      resolver.depositSummary(() => parseFileQuery('summary', query), context),
  };
  const exports = Object.entries(reports).flatMap(([name, open]) =>
    fileFormats.map((format): [string, RequestHandler] => [
      `/export/${name}.${format}`,
      async (context, request, response) => {
        const file = await open(context, request);
        await sendFile(file, { name, format }, { context, request, response }, kit);
      },
    ]),
  );
  return createRequestRouter(kit, {
    ...Object.fromEntries(exports),
    '/export/receipts/:id': async (context, { params }, response) => {
      const receipt = await resolver.receipt(String(params.id), context);
      setDataVersion(response, context);
      response.json(receipt);
    },
    '/reports/:file': async (context, request, response) => {
      const { name, format } = toNameAndFormat(String(request.params.file));
      const variables = Object.fromEntries(Object.entries(request.query).filter(([key]) => !fileOptionNames.includes(key)));
      const file = await resolver.savedReport(name, () => variables, context);
      await sendFile(file, { name, format }, { context, request, response }, kit);
    },
  });
}

/** The name of a file without dates and extension, and its format. */
interface FileName {
  readonly name: string;
  readonly format: FileFormat;
}

function toNameAndFormat(file: string): FileName {
  const format = fileFormats.find((each) => file.endsWith(`.${each}`));
  if (!format) throw new AppError('NOT_FOUND');
  return { name: file.slice(0, -format.length - 1), format };
}

async function sendFile(
  file: FileSource,
  { name, format }: FileName,
  { context, request, response }: Exchange,
  { readerPace }: DoorKit,
): Promise<void> {
  const { hasBom, hasTotals } = parseFileOptions(request.query);
  const layout = createFileLayout(format, chosenColumns(file.query));
  const { template, tail } = layout;
  const head = (hasBom && format === 'csv' ? BOM : '') + layout.head;
  const tag = new EntityTag(file.rows, { head, template, tail });
  if (tag.answersNotModified(request, response, context)) return;
  const totals = hasTotals ? await readTotals(file) : undefined;
  // A summary with too many groups is refused before its audit entry is written.
  if (file.query.groupBy) await file.countRows();
  const headers = toHeaders(file, totals);
  const rows = file.rows.bytes(template);
  // A HEAD request takes no rows, so it gets no audit entry.
  const entry = request.method === 'HEAD' ? undefined : await file.openAudit(format);
  // HTTP/1.0 has no chunked coding, and trailers need it.
  const hasTrailers = request.httpVersion !== '1.0';
  const sendHead = (): void => {
    const { startDate, endDate } = file.lineSet;
    setDataVersion(response, context);
    tag.set(response, context);
    response.set({
      ...headers,
      'Content-Type': MEDIA_TYPES[format],
      'Content-Disposition': `attachment; filename="${name}-${startDate}-${endDate}.${format}"`,
      ...(entry && { 'X-Export-Id': entry.id }),
      ...(entry && hasTrailers && { Trailer: [...Object.keys(headers), FILE_SHA256].join(', ') }),
    });
  };
  const trailers = () => ({ ...headers, ...(entry && { [FILE_SHA256]: entry.fileSha256() }) });
  const send = (pieces: FilePieces): Promise<void> =>
    sendRows(response, pieces, {
      setHeaders: sendHead,
      readerPace,
      signal: context.snapshot.signal,
      coding: toContentCoding(request),
      ...(hasTrailers && { trailers }),
    });
  if (!entry) await send([head, rows, tail]);
  else {
    const known = totals && { lines: totals.all.lines, digest: totals.digest ?? null };
    await entry.accompany({ head, rows, tail }, send, () => context.snapshot.version, known);
  }
}

type Totals = Awaited<ReturnType<typeof readTotals>>;

/** Reads the control totals, the digest and the number of rows at the same time, from one state of the data. */
async function readTotals({ summary, hasDigest, countRows }: FileSource) {
  const [{ all }, digest, rows] = await Promise.all([summary.totals(), hasDigest ? summary.digest() : undefined, countRows()]);
  return { all, digest, rows };
}

function toHeaders({ lineSet: { startDate, endDate } }: FileSource, totals: Totals | undefined): Record<string, string> {
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
