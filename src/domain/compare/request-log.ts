import { OperatorError } from '../../errors';

/** A request that a log has. */
export interface LoggedRequest {
  readonly method: string;
  /** The path with the query, or a whole address. */
  readonly target: string;
  /** The names of its headers, in lower case; undefined in a log that has none. */
  readonly headers: ReadonlySet<string> | undefined;
}

/** An HTTP Archive is read as one text. */
const MAX_ARCHIVE_LENGTH = 2 ** 28;
/** The request within a line in the common or the combined form of nginx and Apache. */
const LOG_LINE = /"([A-Z]{1,20}) (\S+) HTTP\/[0-9.]+"/;

/**
 * Reads the requests of an HTTP Archive (HAR 1.2), of an access log in the common or combined form, or of lines that each are a JSON object
 * with `method`, `path` and `headers`. Undefined stands for a line that is no request. Throws an OperatorError for an archive that is too long.
 */
export async function* readRequests(lines: AsyncIterable<string>): AsyncGenerator<LoggedRequest | undefined> {
  let archive: string[] | undefined;
  let length = 0;
  let isFirst = true;
  for await (const read of lines) {
    const line: string = isFirst ? read.replace(/^\uFEFF/, '') : read;
    if (isFirst && beginsArchive(line)) archive = [];
    if (archive) {
      length += line.length;
      if (length > MAX_ARCHIVE_LENGTH) throw new OperatorError('The HTTP Archive is too long: cut it into several');
      archive.push(line);
    } else if (line.trim() !== '') yield toLogged(line);
    isFirst &&= line.trim() === '';
  }
  if (archive) yield* readArchive(archive);
}

/** True for the first line of an archive, which is the whole one or no JSON by itself. */
function beginsArchive(line: string): boolean {
  if (!line.trimStart().startsWith('{')) return false;
  const object = parse(line);
  return typeof object !== 'object' || object === null || 'log' in object;
}

function toLogged(line: string): LoggedRequest | undefined {
  const object = line.trimStart().startsWith('{') ? parse(line) : undefined;
  if (isRequest(object)) return toRequest(object);
  const [, method, target] = LOG_LINE.exec(line) ?? [];
  // nginx and Apache write the bytes of some characters as \xHH.
  return method === undefined ? undefined : { method, target: target!.replace(/\\x([0-9A-Fa-f]{2})/g, '%$1'), headers: undefined };
}

interface JsonRequest {
  readonly method: string;
  readonly path?: unknown;
  readonly url?: unknown;
  readonly headers?: unknown;
}

const isRequest = (value: unknown): value is JsonRequest =>
  typeof value === 'object' && value !== null && 'method' in value && typeof value.method === 'string';

function toRequest({ method, path, url, headers }: JsonRequest): LoggedRequest | undefined {
  const target = path ?? url;
  return typeof target === 'string' ? { method: method.toUpperCase(), target, headers: toNames(headers) } : undefined;
}

/** The names of headers from an object, or from a list of objects with `name` as an archive has them. */
function toNames(headers: unknown): ReadonlySet<string> | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const names = Array.isArray(headers) ? headers.map((header: { readonly name?: unknown } | null) => header?.name) : Object.keys(headers);
  return new Set(names.map((name) => String(name).toLowerCase()));
}

/** Reads an archive, or lines of which the first one only looks like the beginning of one. */
function* readArchive(lines: readonly string[]): Generator<LoggedRequest | undefined> {
  const { log } = (parse(lines.join('\n')) ?? {}) as { readonly log?: { readonly entries?: unknown } | null };
  if (!Array.isArray(log?.entries)) return yield* lines.map(toLogged);
  for (const entry of log.entries as ({ readonly request?: unknown } | null)[])
    yield isRequest(entry?.request) ? toRequest(entry.request) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
