import { CsvReader } from '../files/csv-reader';
import { fetchChecked } from '../files/download';
import { fetchFileAddress } from '../files/file-url';
import { dataOf, GatewayError, postVersioned } from '../session/gateway-client';
import { createCellFormat, toWord } from '../values/cell-format';
import { UNKNOWN } from '../values/figures';
import { toPair } from '../values/pairs';
import type { Cell, LoadProgress, LoadRequest, RestOfRows, Row, RowSource, TableColumn } from '../values/table-types';

/** The facts that a source gives beside its rows. */
export interface LoadedRows {
  readonly version: number;
  /** The data of the first answer without the rows of its list; null for a file. */
  readonly data: unknown;
  /** The digest of the lines that a file was checked against. */
  readonly digest: string | null;
}

/** Takes rows as they arrive. `restart` throws away all that were taken before. */
export interface RowTaker {
  readonly take: (row: Row) => void;
  readonly restart: () => void;
}

interface LoadOptions {
  readonly signal: AbortSignal;
  /** Called when rows were taken, with what is known of them before all are there. */
  readonly onProgress: (progress: LoadProgress, facts: LoadedRows) => void;
}

const PAGE_LENGTH = 1000;
const VERSION_TRIES = 3;

type Json = Readonly<Record<string, unknown>>;

/** Reads all rows of a request. Throws a GatewayError, or an Error of the download, whose message the page shows. */
export function loadRows(request: LoadRequest, taker: RowTaker, options: LoadOptions): Promise<LoadedRows> {
  const { source, columns } = request;
  const name = toDonorNamer(columns);
  const naming: RowTaker = { ...taker, take: (row) => taker.take(name(row)) };
  return source.kind === 'file' ? loadFile({ ...request, source }, naming, options) : loadPages({ ...request, source }, naming, options);
}

const NO_DONOR = '(no donor)';

/** Says in the place of a first name that a row is of nobody, so that an empty cell does not pass for a fault of the books. */
function toDonorNamer(columns: readonly TableColumn[]): (row: Row) => Row {
  const placeOf = (field: string): number => columns.findIndex(({ id }) => id.split('.').at(-1) === field);
  const [number, first] = [placeOf('donorId'), placeOf('donorFirstName')];
  if (number < 0 || first < 0) return (row) => row;
  return (row) => (row[number] === 0 && row[first] === '' ? row.with(first, NO_DONOR) : row);
}

/** The places of columns in a file. A column that the file does not have must not pass for unknown values. */
function placesOf(names: readonly string[], header: readonly Cell[]): readonly number[] {
  const found = header.map(String);
  return names.map((name) => {
    const place = found.indexOf(name);
    if (place < 0) throw new Error(`The file has no column ${name}.`);
    return place;
  });
}

type Of<Kind extends RowSource['kind']> = LoadRequest & { readonly source: Extract<RowSource, { kind: Kind }> };

async function loadFile({ provision, source }: Of<'file'>, taker: RowTaker, { signal, onProgress }: LoadOptions): Promise<LoadedRows> {
  const { query, variables, names } = source;
  const { url } = await fetchFileAddress(provision, { query, variables }, 'csv', signal);
  return readFile({ url, names, provision, allRows: undefined, data: null }, taker, { signal, onProgress });
}

interface AskedFile {
  readonly url: URL;
  readonly names: readonly string[];
  readonly provision: string;
  /** The number of its rows, where it is known before. */
  readonly allRows: number | undefined;
  readonly data: unknown;
}

/** Reads the rows of a CSV file, which has a third of the bytes of NDJSON. Throws when the file is not whole. */
async function readFile(
  { url, names, provision, allRows, data }: AskedFile,
  { take }: Pick<RowTaker, 'take'>,
  { signal, onProgress }: LoadOptions,
): Promise<LoadedRows> {
  const decoder = new TextDecoder();
  let places: readonly number[] | undefined;
  const reader = new CsvReader((record) => {
    if (places) take(places.map((place) => record[place] ?? null));
    else places = placesOf(names, record);
  });
  const factsOf = ({ headers }: Response): LoadedRows => ({ version: Number(headers.get('X-Data-Version')), data, digest: null });
  let facts: LoadedRows | undefined;
  const takePiece = (piece: Uint8Array, response: Response): void => {
    facts ??= factsOf(response);
    reader.add(decoder.decode(piece, { stream: true }));
  };
  const countRows = (): Promise<number | undefined> => Promise.resolve(allRows);
  const tell = (progress: LoadProgress): void => {
    if (facts) onProgress(progress, facts);
  };
  const { response, digest } = await fetchChecked(
    url,
    { provision, format: 'csv', hasBom: false, signal, onProgress: tell, countRows },
    takePiece,
  );
  // A file without a row has no piece.
  return { ...factsOf(response), digest };
}

async function loadPages(request: Of<'pages'>, taker: RowTaker, options: LoadOptions): Promise<LoadedRows> {
  for (let attempt = 1; attempt <= VERSION_TRIES; attempt++) {
    taker.restart();
    const loaded = await loadPagesOfOneVersion(request, taker, options);
    if (loaded) return loaded;
  }
  throw new GatewayError('The books keep changing while the rows are read. Run the report again.', { code: 'DATA_VERSION_CHANGED' });
}

/** Resolves to undefined when the books change between two pages: rows and totals of two versions do not fit together. */
async function loadPagesOfOneVersion(
  { provision, source, columns }: Of<'pages'>,
  { take }: RowTaker,
  { signal, onProgress }: LoadOptions,
): Promise<LoadedRows | undefined> {
  const readers = columns.map(toReader);
  const most = source.maxRows ?? Infinity;
  let first: LoadedRows | undefined;
  let rows = 0;
  for (let after: string | null = null; ;) {
    const length = Math.min(PAGE_LENGTH, most - rows);
    const variables = { ...source.variables, first: length, after };
    const { answer, version = 0 } = await postVersioned(provision, { query: source.query, variables }, { signal });
    const data = dataOf(answer) as Json;
    if (first && version !== first.version && !isOfPast(source.variables)) return undefined;
    const list = toPage(valueAt(data, source.list.split('.')));
    first ??= { version, data: withoutRows(data, source.list.split('.')), digest: null };
    for (const node of list.nodes) take(readers.map((read) => read(node)));
    rows += list.nodes.length;
    if (list.after === undefined || rows >= most) return first;
    const { totalCount } = list;
    onProgress({ rows, allRows: totalCount === undefined ? undefined : Math.min(totalCount, most) }, first);
    if (source.rest) return loadRest({ provision, source, rest: source.rest, first, rows, totalCount }, { take }, { signal, onProgress });
    after = list.after;
  }
}

interface RestOptions extends Pick<Of<'pages'>, 'provision' | 'source'> {
  readonly rest: RestOfRows;
  readonly first: LoadedRows;
  /** The number of rows that the first page had. */
  readonly rows: number;
  readonly totalCount: number | undefined;
}

/** Reads the rows after the first page from the file of the same state, which may be a past one by now. */
async function loadRest(
  { provision, source, rest, first, rows, totalCount }: RestOptions,
  { take }: Pick<RowTaker, 'take'>,
  { signal, onProgress }: LoadOptions,
): Promise<LoadedRows> {
  const { query, variables } = source;
  const { url } = await fetchFileAddress(provision, { query, variables }, 'csv', signal);
  url.searchParams.set('as_of', String(valueAt(first.data, rest.version.split('.'))));
  // The first page had the totals.
  url.searchParams.set('totals', 'skip');
  let place = 0;
  const takeRest = (row: Row): void => {
    if (place++ >= rows) take(row);
  };
  const tell: LoadOptions['onProgress'] = (progress) => onProgress({ ...progress, rows: Math.max(rows, progress.rows) }, first);
  await readFile({ url, names: rest.names, provision, allRows: totalCount, data: null }, { take: takeRest }, { signal, onProgress: tell });
  return first;
}

/** True for rows of a past state of the books, which does not change. */
const isOfPast = (variables: object): boolean => 'asOf' in variables || 'to' in variables;

/** Reads the cell of a column in a row of an answer. */
function toReader(column: TableColumn, _place: number, columns: readonly TableColumn[]): (node: unknown) => Cell {
  const path = column.id.split('.');
  if (column.isDifference) {
    const readers = columns.filter(({ before }) => before !== undefined).map((each) => ({ ...each, read: toReader(each, 0, []) }));
    return (node) => {
      const names = valueAt(node, path);
      const differing = readers.filter(({ id }) => Array.isArray(names) && names.includes(id.replace(/^after\./, '')));
      const { format } = createCellFormat(navigator.languages);
      return differing.map(({ title, kind, read }) => `${title}: ${format(read(node), kind)}`).join('; ');
    };
  }
  const { before } = column;
  if (before === undefined) return (node) => toCell(valueAt(node, path));
  const pathBefore = before.split('.');
  return (node) => {
    // A value that is not there, unlike null, is of a line that is not there.
    const values = [valueAt(node, pathBefore), valueAt(node, path)].filter((value) => value !== undefined);
    const [first, second = first] = values;
    if (first === second) return typeof first === 'boolean' ? toText(first, column) : toCell(first);
    return toPair(toText(first, column), toText(second, column));
  };
}

/** A value as a part of a pair. An amount that is unknown, and a text that is empty, are there too. */
function toText(value: unknown, { kind }: TableColumn): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const cell = toCell(value);
  if (cell === null) return UNKNOWN;
  return kind === 'word' ? toWord(String(cell)) : String(cell) || '(empty)';
}

interface Page {
  readonly nodes: readonly unknown[];
  readonly totalCount: number | undefined;
  /** The cursor of the next page; undefined on the last one. */
  readonly after: string | undefined;
}

/** Reads a connection, or a plain list, which is a page that no other follows. */
function toPage(list: unknown): Page {
  if (Array.isArray(list)) return { nodes: list, totalCount: list.length, after: undefined };
  const { nodes, edges, totalCount, pageInfo } = isObject(list) ? list : {};
  const { hasNextPage, endCursor } = isObject(pageInfo) ? pageInfo : {};
  const ofEdges = Array.isArray(edges) ? edges.map((edge: unknown) => valueAt(edge, ['node'])) : [];
  return {
    nodes: Array.isArray(nodes) ? nodes : ofEdges,
    totalCount: typeof totalCount === 'number' ? totalCount : undefined,
    after: hasNextPage === true && typeof endCursor === 'string' ? endCursor : undefined,
  };
}

function withoutRows(data: Json, path: readonly string[]): Json {
  const [name = '', ...rest] = path;
  const value = data[name];
  if (Array.isArray(value)) return { ...data, [name]: [] };
  if (!isObject(value)) return data;
  if (rest.length > 0) return { ...data, [name]: withoutRows(value, rest) };
  const { nodes: _nodes, edges: _edges, ...connection } = value;
  return { ...data, [name]: connection };
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at: unknown, name) => (isObject(at) ? at[name] : undefined), value);
}

/** Lists and objects are no cells. They would show as text that nobody can read. */
const toCell = (value: unknown): Cell =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
