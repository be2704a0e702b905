import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { RequestTimes } from '../data/postgres/request-times';
import type { RequestAccess } from '../domain/access/access-service';
import { errorTable, requestFaultTable } from '../errors';
import type { LineCount } from '../resolvers/request/request-context';
import { readBasicPassword } from './request-credentials';

/** The ways into the gateway, by their names in the log and in metrics. `none` is a path that no door has. */
export type RequestDoor = 'v2' | 'graphql' | 'file' | 'odata' | 'agent' | 'page' | 'health' | 'admin' | 'none';

/**
 * The forms of the ids that a caller may give to a request, so that its own log and the gateway's can be read together: a UUID, with or
 * without dashes, and a ULID. Neither names nor the tokens of sessions have these forms. Provisions have, so `isSecret` refuses them.
 */
const REQUEST_ID = /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}|0[0-9a-hjkmnp-tv-z]{25})$/i;
/** The header of W3C's Trace Context, section 3.2: version, trace id, parent id, flags. Later versions may append parts. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const FIRST_VERSION_LENGTH = 55;

/** The place of a request in a trace that its caller has begun. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

/** The facts about one request that its log line and the metrics tell. Where a field may hold a caller's own text, its comment says so. */
export class RequestRecord {
  readonly id: string;
  readonly traceParent: TraceParent | undefined;
  readonly startedAt = performance.now();
  readonly receivedAt = new Date();
  readonly times = new RequestTimes();
  readonly method: string;
  /** The client's IP address. Forwarded addresses count only from trusted proxies. */
  readonly address: string;
  /** The header User-Agent: a text of the caller, which no log line, metric or span tells. */
  readonly userAgent: string;
  door: RequestDoor = 'none';
  /** The pattern of the path, which holds no part that a caller has chosen. */
  path = '*';
  /** The operation by a name from a fixed set: a path, a field of the schema or a trusted document. */
  label = '';
  /** The operation by its own name: as `label`, or as a member named it. */
  operation = '';
  /** The codes of the answer's errors. */
  readonly codes = new Set<string>();
  /** The cost of its GraphQL operation, in values. */
  cost = 0;
  /** The access of the request; undefined before a door has opened it. */
  access: RequestAccess | undefined;
  /** Counts the report's lines of the answer. */
  lines: LineCount | undefined;
  private readonly socket: Request['socket'];
  private readonly bytesBefore: number;

  constructor(request: Request) {
    const id = request.headers['x-request-id'];
    this.id = typeof id === 'string' && REQUEST_ID.test(id) && !isSecret(id, request) ? id : randomUUID();
    const traceParent = parseTraceParent(request.headers.traceparent);
    this.traceParent = traceParent && isSecret(traceParent.traceId, request) ? undefined : traceParent;
    this.method = request.method;
    this.address = request.ip ?? '';
    this.userAgent = request.headers['user-agent'] ?? '';
    this.socket = request.socket;
    this.bytesBefore = this.socket.bytesWritten;
  }

  /** Notes the door that answers the request, and the pattern of its path. */
  enter(door: RequestDoor, path: string, label = path): void {
    this.door = door;
    this.path = path;
    this.label = label;
    this.operation = label;
  }

  /** Bytes of the answer on the network, its head and compression included. */
  get bytes(): number {
    return this.socket.bytesWritten - this.bytesBefore;
  }

  get ms(): number {
    return performance.now() - this.startedAt;
  }

  /** Adds the codes of a GraphQL answer without data. Other texts in the places of codes are left out. */
  addCodes(answer: string): void {
    for (const [, code = ''] of answer.matchAll(/"code":"([A-Z_]+)"/g)) this.addCode(code);
  }

  addCode(code: unknown): void {
    if (typeof code === 'string' && (code in errorTable || code in requestFaultTable)) this.codes.add(code);
  }
}

/** True when the credentials or the address of a request contain an id. Such an id, written in any way, must not reach the log. */
function isSecret(id: string, { originalUrl, headers }: Request): boolean {
  const sought = toBare(id);
  return [originalUrl, headers.provision, headers.authorization, readBasicPassword(headers.authorization), headers.cookie].some((text) =>
    toBare(String(text ?? '')).includes(sought),
  );
}

const toBare = (text: string): string => text.replaceAll('-', '').toLowerCase();

function parseTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  const text = typeof header === 'string' ? header : '';
  const [, traceId, spanId, flags] = TRACE_PARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (text.startsWith('00') && text.length > FIRST_VERSION_LENGTH) return undefined;
  return { traceId, spanId, flags: parseInt(flags, 16) };
}

/** The record of a request, which its answer and its log lines share. */
export const recordOf = (response: Response): RequestRecord => response.locals.record as RequestRecord;

/** Notes the door of every request that passes, with a path that holds nothing of the caller. */
export const enterDoor =
  (door: RequestDoor, path: string): RequestHandler =>
  (_request, response, next) => {
    recordOf(response).enter(door, path);
    next();
  };
