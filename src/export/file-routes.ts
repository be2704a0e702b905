import type { Router } from 'express';
import type { ReadRange } from '../domain/audit/audit-service';
import { numberOf, toPlace } from '../data/postgres/version-stamp';
import { FileCount } from '../domain/audit/file-count';
import { AppError, InputError } from '../errors';
import {
  daysOf,
  fileOptionNames,
  fileReports,
  formatKeptAddress,
  namesOfConditions,
  parseFileOptions,
  parseFileQuery,
  toFileLayout,
  type FileQuery,
} from '../formats/file-address';
import type { RequestContext } from '../resolvers/request/request-context';
import { RENDERING } from '../rows/row-stream';
import { ALL_TIME, type LocalDate } from '../values/dates';
import type { FindDates } from '../values/periods';
import { fileFormatNames, fileFormats, type FileFormat } from '../values/file-formats';
import { setDataVersion, setServerTiming, type DoorKit } from '../http/door-kit';
import { EntityTag } from '../http/entity-tag';
import type { DoorReading } from '../http/request-audit';
import { recordOf } from '../http/request-record';
import { createRequestRouter, type Attempt, type RequestHandler } from '../http/request-router';
import { sendRows, toContentCoding } from '../http/row-sender';
import type { FileResolver, FileSource, FileTotals } from '../resolvers/reports/file-resolver';

/** The part of a file's name that says which dates its range is of. */
const DAYS_OF = { DEPOSIT_DATE: '', TRANSACTION_DATE: 'by-transaction-date-' } as const;
const RECEIPTS = 'export/receipts';
const FILE_SHA256 = 'X-Export-File-SHA256';
const RANGE = 'X-Export-Range';
/** Sent where the range is not of deposit dates. */
const DATE_BASIS = 'X-Export-Date-Basis';
/** Sent with changes: the version that they begin with. They end with the data version. */
const FROM_VERSION = 'X-Export-From-Version';
/** Sent where the organization has closed months, in the state that the file is of. */
const CLOSED_THROUGH = 'X-Closed-Through';
/** The state of the books that a file is of, for a copy of the lines that follows them from there. */
const PLACE = 'X-Export-Place';
/** Sent with a journal: the number of its accounts. */
const ACCOUNTS = 'X-Journal-Accounts';
/** The control totals of a file, by their headers and trailers. A total without a value is left out. */
const TOTALS: Readonly<Record<string, (totals: FileTotals) => number | string | null | undefined>> = {
  'X-Export-Rows': ({ rows }) => rows,
  'X-Export-Lines': ({ all }) => all?.lines,
  'X-Export-Transactions': ({ all }) => all?.transactions,
  'X-Export-Deposits': ({ all }) => all?.deposits,
  'X-Export-Amount-By-Line': ({ all }) => all?.byLine.amount,
  'X-Export-Amount-By-Transaction': ({ all }) => all?.byTransaction.amount,
  'X-Export-Amount-By-Allocation': ({ all }) => all?.byAllocation.amount,
  'X-Export-Unknown-Allocations': ({ all }) => all?.byAllocation.unknown,
  'X-Export-Digest': ({ digest }) => digest,
  'X-Export-Money-Digest': ({ moneyDigest }) => moneyDigest,
};
/** Those of a journal alone. */
const JOURNAL_TOTALS: typeof TOTALS = {
  'X-Export-Entries': ({ journal }) => journal?.entries,
  'X-Export-Debits': ({ journal }) => journal?.debits,
};

/**
 * The doors at /export and /reports, which answer reports as files. The control totals of a file follow or precede it; errors have the
 * contract's body (section 2.3).
 */
export function createFileRoutes(resolver: FileResolver, kit: DoorKit): Router {
  const exports = fileReports.flatMap((name) =>
    fileFormatNames.map((format): [string, RequestHandler] => [
      `/export/${name}.${format}`,
      async (attempt) => {
        const { context, request } = attempt;
        const read = (findDates: FindDates): FileQuery => {
          // A follower waits for a change, and hears of its faults before.
          parseFileOptions(request.query);
          const query = parseFileQuery(name, request.query, findDates);
          // A follower reads the last row, which no other format has.
          if (query.changes?.place !== undefined && format !== 'ndjson') throw new InputError('since is for deposit-changes.ndjson');
          return query;
        };
        const file = await resolver.file(name, read, context);
        await sendFile(file, { name, format }, attempt, kit);
      },
    ]),
  );
  return createRequestRouter('file', kit, {
    ...Object.fromEntries(exports),
    [`/${RECEIPTS}/:id`]: async (attempt) => {
      const { context, request, response } = attempt;
      const receipt = await resolver.receipt(String(request.params.id), context);
      const operation = { door: 'file', name: RECEIPTS, hash: null } as const;
      await kit.audit.accompany(attempt, { operation, range: () => toRange(receipt) }, async (reading) => {
        await reading?.written;
        setDataVersion(response, context);
        response.json(receipt);
      });
    },
    '/reports/:file': async (attempt) => {
      const { context, request, response } = attempt;
      const { name, format } = toNameAndFormat(String(request.params.file));
      const given = {
        read: () => Object.fromEntries(Object.entries(request.query).filter(([key]) => !fileOptionNames.includes(key))),
        areTexts: true,
        // Called once the report was found: a name that a caller has made up gets into no log.
        onFound: () => void (recordOf(response).operation = `reports/${name}`),
      };
      const file = await resolver.savedReport(name, given, context);
      await sendFile(file, { name, format }, attempt, kit);
    },
  });
}

/** The name of a file without dates and extension, and its format. */
interface FileName {
  readonly name: string;
  readonly format: FileFormat;
}

function toNameAndFormat(file: string): FileName {
  const format = fileFormatNames.find((each) => file.endsWith(`.${each}`));
  if (!format) throw new AppError('NOT_FOUND');
  return { name: file.slice(0, -format.length - 1), format };
}

/** The facts of a file that are read before its rows are sent: its last closed month, and its totals where its headers have them. */
interface ReadAhead {
  readonly closedThrough: LocalDate | null;
  readonly rows?: AsyncGenerator<Buffer>;
  readonly totals?: FileTotals;
}

async function sendFile(file: FileSource, { name, format }: FileName, attempt: Attempt, { readerPace, audit }: DoorKit): Promise<void> {
  const { context, request, response } = attempt;
  const place = file.query.changes?.place;
  const usualTotals = place !== undefined ? 'skip' : file.bytesWithTotals ? 'trailers' : 'headers';
  const { hasBom, totals: totalsMode = usualTotals } = parseFileOptions(request.query);
  const { head, template, tail } = toFileLayout(file.query, format, hasBom, toPlace(file.lineSet.state ?? ''));
  const { startDate, endDate, dateBasis, state } = file.lineSet;
  if (place !== undefined && place === toPlace(state!)) {
    // Nothing was read, and nothing is, so that there is no receipt.
    setDataVersion(response, context, state);
    response.set({ [PLACE]: place, 'Content-Type': fileFormats[format].mediaType }).end(tail);
    return;
  }
  const bytes = await file.nameBytes();
  const past = state === undefined || bytes === undefined ? undefined : { state, bytes };
  const tag = new EntityTag(file.rows, { head, template, tail }, past);
  if (tag.answersNotModified(request, response, context)) return;
  // A HEAD request takes no rows, so that it has no entry of a file.
  const isFile = request.method !== 'HEAD';
  // The snapshot of the rows reads the closed months first, because the last COPY ends the snapshot.
  const readAhead = async (): Promise<ReadAhead> => {
    const closedThrough = await file.closedThrough();
    return { closedThrough, ...(totalsMode === 'headers' && (await file.readTotals(template))) };
  };
  // Totals decide whether a HEAD request reads donors' data. A file has its entry before anything of it is read.
  const known = isFile ? undefined : await readAhead();
  const count = new FileCount();
  let totals = (): FileTotals | undefined => undefined;
  const reading: DoorReading = {
    operation: { door: 'file', name: request.path.slice(1), hash: null },
    // A change tells where a line came from and where it went, so that it reads lines of all days.
    range: () => toRange({ ...file.lineSet, ...(file.query.changes ? ALL_LINES : daysOf(file.query)), conditions: conditionsOf(file) }),
    areInHeaders: totalsMode === 'headers',
    ...(isFile && {
      lines: () => (file.facts.report === 'deposit-summary' ? undefined : (totals()?.lines ?? file.rows.rowCount?.())),
      file: { ...file.facts, format, fileAddress: formatKeptAddress(file.query, hasBom, file.from), rendering: RENDERING },
    }),
    atEnd: () => ({
      ...(isFile && {
        ...count.facts,
        lines: totals()?.lines ?? (file.query.changes && file.rows.rowCount?.()) ?? null,
        ...digestsOf(totals()),
      }),
      ...(state !== undefined && { dataVersion: numberOf(state) }),
    }),
  };
  await audit.accompany(attempt, reading, async (open) => {
    const { closedThrough, rows, totals: foundTotals } = known ?? (await readAhead());
    const read =
      isFile && totalsMode === 'trailers' && file.bytesWithTotals
        ? file.bytesWithTotals(template)
        : { rows: rows ?? file.rows.bytes(template), totals: () => foundTotals };
    totals = read.totals;
    const facts: Readonly<Record<string, string>> = {
      [RANGE]: `${startDate}/${endDate}`,
      ...(dateBasis === 'TRANSACTION_DATE' && { [DATE_BASIS]: dateBasis }),
      ...(closedThrough !== null && { [CLOSED_THROUGH]: closedThrough }),
      ...(file.from !== undefined && { [FROM_VERSION]: String(file.from) }),
      ...(file.query.journal && { [ACCOUNTS]: String(file.query.journal.accounts) }),
    };
    const headers = { ...facts, ...(foundTotals && toHeaders(foundTotals)) };
    // HTTP/1.0 has no chunked coding, and trailers need it.
    const hasTrailers = request.httpVersion !== '1.0';
    const named = { ...facts, ...TOTALS, ...(file.query.journal && JOURNAL_TOTALS) };
    const announced = Object.keys(totalsMode === 'trailers' ? named : headers);
    const toTrailers = () => {
      const found = totals();
      return { ...headers, ...(found && toHeaders(found)), ...(isFile && { [FILE_SHA256]: count.facts.fileSha256 }) };
    };
    await sendRows(response, isFile ? count.toPieces(head, read.rows, tail) : [head, read.rows, tail], {
      setHeaders: () => {
        setDataVersion(response, context, state);
        setServerTiming(response);
        tag.set(response, context);
        response.set({
          ...headers,
          [PLACE]: toPlace(state ?? context.books.version!),
          'Content-Type': fileFormats[format].mediaType,
          'Content-Disposition': `attachment; filename="${name}-${DAYS_OF[dateBasis]}${startDate}-${endDate}${stateOf(file, context)}.${format}"`,
          ...(isFile && open && { 'X-Export-Id': open.id }),
          ...(isFile && hasTrailers && { Trailer: [...announced, FILE_SHA256].join(', ') }),
        });
      },
      ready: open?.written,
      readerPace,
      signal: context.books.signal,
      coding: toContentCoding(request),
      ...(hasTrailers && { trailers: toTrailers }),
    });
  });
}

/** The part of a file's name that says which state it is of, or between which two its changes lie. */
function stateOf({ lineSet: { state }, from }: FileSource, { books }: RequestContext): string {
  if (from !== undefined) return `-from-${from}-to-${numberOf(state ?? books.version!)}`;
  return state === undefined ? '' : `-as-of-${numberOf(state)}`;
}

/** The conditions of a file. The next journal names the place of the one that was booked, whose state is known. */
const conditionsOf = ({ query, lineSet: { state } }: FileSource): string[] => [
  ...namesOfConditions(query),
  ...(query.journal ? [`place=${toPlace(state!)}`] : []),
];

const ALL_LINES = { ...ALL_TIME, pending: 'WITH' } as const;
const digestsOf = (totals: FileTotals | undefined) => ({ digest: totals?.digest ?? null, moneyDigest: totals?.moneyDigest ?? null });

/** The range of a file. Callers ask for a receipt again and again until its file has arrived; those readings are equal. */
const toRange = ({ startDate, endDate, pending, conditions }: ReadRange): ReadRange => ({ startDate, endDate, pending, conditions });

function toHeaders(totals: FileTotals): Record<string, string> {
  const values = Object.entries({ ...TOTALS, ...JOURNAL_TOTALS }).map(([header, read]) => [header, read(totals)] as const);
  return Object.fromEntries(values.flatMap(([header, value]) => (value === null || value === undefined ? [] : [[header, String(value)]])));
}
