import { numberOf, type VersionStamp } from '../data/postgres/version-stamp';
import type { OrderKey } from '../data/postgres/keyset';
import { digestQuery, type PlaceForm } from '../domain/paging/keyset-page';
import { InputError } from '../errors';
import { columnsOf, daysOf, fileOptionNames, parseFileQuery, reportOf, type FileQuery, type QueryString } from '../formats/file-address';
import { setDataVersion, setServerTiming, type DoorKit } from '../http/door-kit';
import type { DoorReading } from '../http/request-audit';
import { recordOf } from '../http/request-record';
import type { Attempt } from '../http/request-router';
import { sendRows, type ContentCoding } from '../http/row-sender';
import type { FileResolver, FileSource } from '../resolvers/reports/file-resolver';
import { lineNames } from '../line/line-fields';
import { ALL_TIME } from '../values/dates';
import type { FindDates } from '../values/periods';
import { namesOfAsked, narrow } from './odata-conditions';
import { notImplemented } from './odata-filter';
import { hasEntities, propertiesOf, toEntityTemplate, type SetName } from './odata-model';
import { parseSetOptions, selectProperties, toMediaType, type SetOptions } from './odata-options';

export interface SetRequest {
  readonly set: string;
  readonly name: SetName;
  /** True where the number of the rows is asked for, and no row. */
  readonly isCount: boolean;
  /** The address of the service. */
  readonly root: string;
  readonly coding: ContentCoding;
}

/** The place to which an answer has come: the state and the dates of all its pages, the rows that are left, and the last row. */
interface PagePlace {
  readonly state: VersionStamp;
  readonly startDate: string;
  readonly endDate: string;
  /** Undefined where all rows are asked for. */
  readonly left: number | undefined;
  readonly after: OrderKey;
}

/** Answers a set for a caller whose access was checked but for the report's own. Throws an AppError. */
export async function answerSet(attempt: Attempt, asked: SetRequest, files: FileResolver, kit: DoorKit): Promise<void> {
  const { context, request, response } = attempt;
  const options = parseSetOptions(request, asked.isCount);
  const form = await context.sealed.open(options.skipToken === undefined ? [] : [options.skipToken]);
  const { file, identity, place } = await findFile(attempt, asked, { options, form }, files);
  if (!file.pages) throw notImplemented('this report has no rows with a key', 'reports of lines and summaries');
  if (place && file.lineSet.state !== place.state) throw new InputError('$skiptoken is of other books: begin again');
  const { query, lineSet, pages } = file;
  const isPaged = reportOf(query) === 'deposit-details';
  const properties = selectProperties(propertiesOf(query).all, options.select);
  const count = asked.isCount || options.hasCount ? await pages.count() : undefined;
  const reading: DoorReading = {
    operation: { door: 'odata', name: recordOf(response).operation, hash: null },
    range: () => {
      const { startDate, endDate, pending } = { ...lineSet, ...daysOf(query) };
      return { startDate, endDate, pending, conditions: namesOfAsked(query) };
    },
    isAlwaysNoted: true,
    atEnd: () => (lineSet.state === undefined ? {} : { dataVersion: numberOf(lineSet.state) }),
  };
  const setHeaders = (type: string): void => {
    setDataVersion(response, context, lineSet.state);
    setServerTiming(response);
    response.set('Content-Type', type);
    if (options.isPagePreferred && isPaged && !asked.isCount) response.set('Preference-Applied', `odata.maxpagesize=${options.pageRows}`);
  };
  if (asked.isCount) {
    await kit.audit.accompany(attempt, reading, async (open) => {
      await open?.written;
      setHeaders('text/plain; charset=utf-8');
      response.end(String(count));
    });
    return;
  }
  const left = place ? place.left : options.top;
  const limit = Math.min(isPaged ? options.pageRows : Infinity, left ?? Infinity);
  const template = toEntityTemplate(properties, options.isIeee754);
  const page = pages.read(template, { after: place?.after, limit });
  const rest = left === undefined ? undefined : left - limit;
  async function* writeEnd(): AsyncGenerator<Buffer> {
    const end = rest === 0 ? undefined : page.end();
    const { startDate, endDate } = lineSet;
    const state = lineSet.state ?? context.books.version!;
    const token = end && (await form.write([state, startDate, endDate, String(rest ?? ''), ...end], identity));
    yield Buffer.from(token === undefined ? ']}' : `],"@odata.nextLink":${JSON.stringify(toNextLink(asked, request.query, token))}}`);
  }
  await kit.audit.accompany(attempt, { ...reading, lines: page.rowCount ?? (() => undefined) }, (open) =>
    sendRows(response, [toHead(asked, options, count), page.rows, writeEnd()], {
      setHeaders: () => setHeaders(toMediaType(options)),
      ready: open?.written,
      readerPace: kit.readerPace,
      signal: context.books.signal,
      coding: asked.coding,
    }),
  );
}

/** A set for one page: what its links are sealed for, and the place that the link of the request has, if it is one. */
interface FoundSet {
  readonly file: FileSource;
  readonly identity: string;
  readonly place: PagePlace | undefined;
}

/**
 * The lines or groups of a set, from the state and the dates of the page before, where there is one. A link is of the set as it was on that
 * page: one of a report that was saved again leads nowhere, because the report may show less now.
 */
async function findFile(
  { context, request, response }: Attempt,
  { set, name }: SetRequest,
  { options, form }: { readonly options: SetOptions; readonly form: PlaceForm },
  files: FileResolver,
): Promise<FoundSet> {
  let savedAt: Date | undefined;
  let identity = '';
  let place: PagePlace | undefined;
  let isOther = false as boolean;
  const adjust = (query: FileQuery, saved = query): FileQuery => {
    if (!hasEntities(query)) return query;
    isOther = describeProperties(query) !== describeProperties(saved);
    if (isOther) return query;
    const conditions = { ...query, lines: { ...query.lines, startDate: '', endDate: '' } };
    const { organizationId } = context.access.bookState!;
    identity = digestQuery(['odata', organizationId, set, request.query.$filter, options.parameters, savedAt, conditions]);
    place = options.skipToken === undefined ? undefined : readPlace(options.skipToken, identity, form);
    const { all } = propertiesOf(query);
    const narrowed = options.comparisons.reduce((before, comparison) => {
      const property = all.find(({ name: each }) => each === comparison.property);
      if (!property) throw new InputError(`$filter: there is no property ${comparison.property}`);
      return narrow(before, property.column ?? '', comparison);
    }, query);
    if (!place) return narrowed;
    const { state, startDate, endDate } = place;
    return { ...narrowed, lines: { ...narrowed.lines, startDate, endDate, asOf: { version: numberOf(state) } } };
  };
  if (name.kind === 'report') {
    const onFound = ({ updatedAt }: { readonly updatedAt: Date }): void => {
      recordOf(response).operation = `odata/${name.report}`;
      savedAt = updatedAt;
    };
    const file = await files.savedReport(name.report, { read: () => options.parameters, areTexts: true, onFound, adjust }, context);
    // Access comes first: values that ask for donors are refused as such.
    if (isOther) throw new InputError('these values change the properties of the feed: save a report with them');
    return { file, identity, place };
  }
  const { report, read } = toFixedQuery(name, options.parameters);
  recordOf(response).operation = `odata/${name.kind === 'lines' ? report : `${report}/${name.by}`}`;
  const file = await files.file(report, (findDates) => adjust(read(findDates)), context);
  return { file, identity, place };
}

/** The key and the names of the properties, which the metadata tells by the saved values of a report. */
const describeProperties = (query: FileQuery): string => {
  const { key, all } = propertiesOf(query);
  return [key, all]
    .map((each) =>
      each
        .map(({ name }) => name)
        .toSorted()
        .join(),
    )
    .join(' ');
};

/** Parameters of files that a set has not: it has its properties, of which `$select` chooses, and its groups. */
const OTHER_PARAMETERS = ['columns', 'group_by', ...fileOptionNames];

/** A set has all lines, pending ones too, of all time, unless a parameter says otherwise. */
function toFixedQuery(name: Exclude<SetName, { readonly kind: 'report' }>, given: QueryString) {
  const unfit = OTHER_PARAMETERS.find((parameter) => given[parameter] !== undefined);
  if (unfit !== undefined) throw new InputError(`there is no parameter ${unfit} of a set`);
  const dates = given.period === undefined ? { start_date: ALL_TIME.startDate, end_date: ALL_TIME.endDate } : {};
  const pending = given.include_pending === undefined ? { pending: 'WITH' } : {};
  if (name.kind === 'lines') {
    const read = (findDates: FindDates): FileQuery => ({
      ...parseFileQuery('deposit-details', { ...dates, ...pending, ...given }, findDates),
      columns: lineNames,
    });
    return { report: 'deposit-details', read } as const;
  }
  const read = (findDates: FindDates): FileQuery => {
    const query = parseFileQuery('deposit-summary', { ...dates, ...pending, ...given, group_by: name.by }, findDates);
    // A period that is compared chooses groups, and adds no property to the set.
    return { ...query, columns: Object.keys(columnsOf({ ...query, compareWith: undefined }).usual) };
  };
  return { report: 'deposit-summary', read } as const;
}

function readPlace(token: string, identity: string, form: PlaceForm): PagePlace {
  const place = form.read(token, identity);
  if (place === 'expired') throw new InputError('$skiptoken has expired: begin again');
  const [state, startDate, endDate, left, ...after] = place ?? [];
  if (state === undefined || startDate === undefined || endDate === undefined || left === undefined)
    throw new InputError('$skiptoken is not of this address: begin again');
  return { state, startDate, endDate, left: left === '' ? undefined : Number(left), after };
}

/** A client that wants numbers as texts wants that of the rows so too (JSON Format 4.0, section 3.2). */
function toHead({ set, root }: SetRequest, { hasContext, select, isIeee754 }: SetOptions, count: number | undefined): string {
  const context = hasContext ? `"@odata.context":${JSON.stringify(`${root}$metadata#${set}${select ? `(${select.join()})` : ''}`)},` : '';
  return `{${context}${count === undefined ? '' : `"@odata.count":${isIeee754 ? `"${count}"` : count},`}"value":[`;
}

/** The address of the next page: that of this one, from another place on. */
function toNextLink({ set, root }: SetRequest, given: QueryString, token: string): string {
  const parameters = Object.entries<unknown>({ ...given, $skiptoken: token }).flatMap(([name, value]) =>
    [value].flat().map((each) => `${encodeURIComponent(name).replace('%24', '$')}=${encodeURIComponent(String(each))}`),
  );
  return `${root}${set}?${parameters.join('&')}`;
}
