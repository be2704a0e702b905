import { Router, type Request, type Response } from 'express';
import { AppError } from '../errors';
import type { ExportResolver, LineFile } from '../resolvers/export-resolver';
import type { RequestContext } from '../resolvers/request-context';
import { sendRows, toContentCoding } from '../row-answer';
import { createLineFormat } from '../v2-line';
import { namesOfConditions, parseExportQuery, type ExportQuery } from './export-query';

interface ExportOptions {
  readonly resolver: ExportResolver;
  readonly openRequest: (request: Request, response: Response) => RequestContext;
  readonly readerStallMs: number;
}

type Handler = (context: RequestContext, request: Request, response: Response) => Promise<void>;
type Totals = Awaited<ReturnType<typeof readTotals>>;

const BOM = '\uFEFF';
const FORMATS = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson', json: 'application/json; charset=utf-8' } as const;
type Format = keyof typeof FORMATS;
const FILE_SHA256 = 'X-Export-File-SHA256';

/** The door at /export: whole reports as files, whose headers tell what they must add up to. Errors are v2's (contract section 2.3). */
export function createExportRoutes({ resolver, openRequest, readerStallMs }: ExportOptions): Router {
  const details =
    (format: Format): Handler =>
    async (context, request, response) => {
      let query: ExportQuery | undefined;
      const file = await resolver.depositDetails(() => {
        query = parseExportQuery(request.query);
        return { lines: query.lines, format, conditions: namesOfConditions(request.query) };
      }, context);
      await sendFile(file, format, query!, context, request, response);
    };

  const sendFile = async (
    file: LineFile,
    format: Format,
    { columns, hasBom, hasTotals }: ExportQuery,
    { snapshot: { signal } }: RequestContext,
    request: Request,
    response: Response,
  ): Promise<void> => {
    const totals = hasTotals ? await readTotals(file.summary) : undefined;
    const headers = toHeaders(file.selection, totals);
    const { head, template, tail } = createLineFormat(format, columns);
    const start = (hasBom && format === 'csv' ? BOM : '') + head;
    // Of a HEAD nothing leaves but the headers.
    const account = request.method === 'HEAD' ? undefined : await file.begin();
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
        'Content-Type': FORMATS[format],
        'Content-Disposition': `attachment; filename="deposit-details-${startDate}-${endDate}.${format}"`,
        ...(account && { 'X-Export-Id': account.id, Trailer: [...Object.keys(headers), FILE_SHA256].join(', ') }),
      });
    };
    const trailers = () => ({ ...headers, ...(account && { [FILE_SHA256]: account.fileSha256() }) });
    let outcome: 'whole' | 'broken' = 'broken';
    try {
      await sendRows(response, [start, rows(), tail], { begin, readerStallMs, signal, coding: toContentCoding(request), trailers });
      outcome = 'whole';
    } finally {
      await account?.finish(outcome, totals && { lines: totals.all.lines, digest: totals.digest });
    }
  };

  const routes: Readonly<Record<string, Handler>> = {
    '/deposit-details.csv': details('csv'),
    '/deposit-details.ndjson': details('ndjson'),
    '/deposit-details.json': details('json'),
    '/receipts/:id': async (context, { params }, response) => {
      response.json(await resolver.receipt(String(params.id), context));
    },
  };
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, handle] of Object.entries(routes)) {
    router.get(path, async (request, response) => {
      const context = openRequest(request, response);
      try {
        await handle(context, request, response);
      } finally {
        await context.snapshot.close();
      }
    });
    router.all(path, (_request, response) => {
      response.set('Allow', 'GET, HEAD');
      throw new AppError('METHOD_NOT_ALLOWED');
    });
  }
  return router;
}

/** Both at the same time, of one state. */
async function readTotals(summary: LineFile['summary']) {
  const [{ all }, digest] = await Promise.all([summary.totals(), summary.digest()]);
  return { all, digest };
}

function toHeaders({ startDate, endDate }: LineFile['selection'], totals: Totals | undefined): Record<string, string> {
  const range = { 'X-Export-Range': `${startDate}/${endDate}` };
  if (!totals) return range;
  const { all, digest } = totals;
  return {
    ...range,
    'X-Export-Lines': String(all.lines),
    'X-Export-Transactions': String(all.transactions),
    'X-Export-Deposits': String(all.deposits),
    'X-Export-Amount-By-Line': all.byLine.amount,
    'X-Export-Amount-By-Transaction': all.byTransaction.amount,
    'X-Export-Amount-By-Allocation': all.byAllocation.amount,
    'X-Export-Digest': digest,
  };
}
