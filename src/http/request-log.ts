import { BlockList, isIPv6 } from 'node:net';
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { UnwrittenRows } from '../data/audit/audit-writer';
import { findSqlFault, MISSING_GRANT } from '../data/postgres/sql-fault';
import type { UnwrittenUsage } from '../domain/access/usage-counter';
import type { AppError } from '../errors';
import { listPlaces } from '../stack-positions';
import { RequestRecord } from './request-record';

/** The most places of a failure's stack that are logged. */
const MAX_PLACES = 6;

/** The reason of a report that was stopped because its reader left. It is not a failure. */
export class ReaderLeft extends Error {
  override readonly name = 'ReaderLeft';
}

/** Sees a request when its answer has ended. */
export type RequestObserver = (record: RequestRecord, end: RequestEnd) => void;

/** Those who see each request beside the log. */
export interface RequestWatch {
  readonly observe?: RequestObserver | undefined;
  /** Begins a trace, and returns the observer that ends it. */
  readonly trace?: ((record: RequestRecord) => RequestObserver) | undefined;
}

export interface RequestEnd {
  /** Undefined when the headers were not sent: nobody received the status of such a response. */
  readonly status: number | undefined;
  /** False when the answer broke off. */
  readonly isWhole: boolean;
}

/**
 * Gives every request an id and logs one line for it. The line holds no header, no parameter, no address of a file and no text of a caller
 * but the id, and the name of a member's operation.
 */
export function logRequests(log: Logger, { observe, trace }: RequestWatch = {}): RequestHandler {
  return (request, response, next) => {
    const record = new RequestRecord(request);
    response.locals.record = record;
    const endTrace = trace?.(record);
    response.set('X-Request-Id', record.id);
    const finish = (): void => {
      const end = { status: response.headersSent ? response.statusCode : undefined, isWhole: response.writableFinished };
      const text = end.isWhole ? 'request completed' : 'request broken off';
      // 501 answers what a client asks for beyond the subset of a protocol, and clients try.
      if (end.status !== undefined && end.status >= 500 && end.status !== 501) log.error(toLine(record, end), text);
      else log.info(toLine(record, end), text);
      observe?.(record, end);
      endTrace?.(record, end);
    };
    // The door counts the lines when the last of them has left, which is when the response closes.
    response.once('close', () => setImmediate(finish));
    next();
  };
}

function toLine(record: RequestRecord, { status }: RequestEnd): object {
  const { id, traceParent, method, path, door, operation, codes, access, address, bytes, lines, times, ms } = record;
  const { organizationId, provisionStart, userId } = access?.caller.identity ?? {};
  return {
    requestId: id,
    ...(traceParent && { traceId: traceParent.traceId }),
    method,
    path,
    status,
    door,
    ...(operation !== '' && operation !== path && { operation }),
    ...(codes.size > 0 && { codes: [...codes] }),
    ...(organizationId !== undefined && { organization: organizationId, provision: provisionStart }),
    ...(userId !== undefined && { user: userId }),
    address,
    bytes,
    ...(lines?.total != null && { lines: lines.total }),
    ms: toMs(ms),
    queueMs: toMs(times.queue.ms),
    databaseMs: toMs(times.database.ms),
  };
}

/** Tenths of a millisecond are enough to tell a wait from none. */
const toMs = (ms: number): number => Math.round(ms * 10) / 10;

/**
 * Warns of a proxy that TRUST_PROXY does not name: behind it every caller has the proxy's address, and https looks like http. Anybody can
 * send such headers, so the warning is logged at most twice: once for a peer in a private network, whose address it names, and once for a
 * peer with a public address, which it leaves out because the address may be a person's.
 */
export function warnOfProxies(log: Logger): RequestHandler {
  const said = new Set<string>();
  const warn = (request: Request): void => {
    const header = FORWARDED.find((name) => request.headers[name] !== undefined);
    const { remoteAddress: peer } = request.socket;
    if (header === undefined || peer === undefined) return;
    const isTrusted = request.app.get('trust proxy fn') as (address: string, hop: number) => boolean;
    const kind = isPrivate(peer) ? 'private' : 'public';
    if (said.has(kind) || isTrusted(peer, 0)) return;
    said.add(kind);
    log.warn(
      { header, peer: kind === 'private' ? peer : 'a public address' },
      'TRUST_PROXY does not name a peer that forwards requests: all callers behind it count as one address at login, and as plain http',
    );
  };
  return (request, _response, next) => {
    warn(request);
    next();
  };
}

const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-forwarded-proto'];

/** Loopback, private and link-local networks (RFC 6890). */
const PRIVATE = new BlockList();
for (const network of [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]) {
  const [address = '', bits] = network.split('/');
  PRIVATE.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
}

function isPrivate(peer: string): boolean {
  const [address = ''] = peer.split('%');
  return PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * Logs a failure whose cause the caller does not see. All doors log here. The message of a database error may repeat a donor's data, so
 * only its kind and its place in the code are logged.
 */
export function logFailure(log: Logger, { code, cause }: AppError, id: string): void {
  if (cause instanceof ReaderLeft) {
    log.debug({ requestId: id }, 'the reader has left');
    return;
  }
  if (code === 'TOO_MANY_REQUESTS') {
    log.warn({ requestId: id, code, reason: cause instanceof Error ? cause.message : undefined }, 'turned away');
    return;
  }
  const fault = cause instanceof Error ? cause : new Error('Something else than an error was thrown');
  const at = listPlaces(fault, MAX_PLACES);
  const sqlFault = findSqlFault(cause);
  log.error(
    { requestId: id, code, name: fault.name, ...(sqlFault ?? ('code' in fault && { reason: fault.code })), at },
    sqlFault?.sqlState === MISSING_GRANT ? 'request failed: the database user lacks a grant' : 'request failed',
  );
}

/** Logs rows of the audit that nobody waits for and that cannot be written. No caller gets an error for them. */
export function logUnwritten(log: Logger, { organizationId: organization, rows, isLost, error }: UnwrittenRows): void {
  const facts = { organization, rows, code: error.code, ...findSqlFault(error.cause) };
  if (isLost) log.error(facts, 'audit rows were lost');
  else log.warn(facts, 'audit rows wait for the database');
}

/** Logs counts of v2 requests that cannot be written. No caller waits for them. */
export function logUnwrittenUsage(log: Logger, { requests, isLost, error }: UnwrittenUsage): void {
  const facts = { requests, code: error.code, ...findSqlFault(error.cause) };
  if (isLost) log.error(facts, 'counts of v2 requests were lost');
  else log.warn(facts, 'counts of v2 requests wait for the database');
}
