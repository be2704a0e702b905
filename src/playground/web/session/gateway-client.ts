import type { ExecutionResult, GraphQLFormattedError } from 'graphql';
import type { ViewerQuery } from '../../../generated/operations/graphql';
import type { OrganizationCalendar } from '../../../values/periods';
import { CLOSE_PRIVILEGE, REPORT_PRIVILEGE } from '../../../values/privileges';
import loginMutation from '../queries/login.graphql?raw';
import logoutMutation from '../queries/logout.graphql?raw';
import viewerQuery from '../queries/viewer.graphql?raw';
import { readEnds, type SessionEnds } from './session-end';
import { signalSession } from './session-signal';

export interface Viewer extends OrganizationCalendar {
  readonly username: string;
  readonly organization: string;
  readonly privileges: readonly string[];
  /** The ISO 4217 code of the currency of the organization's amounts; null where it has not said one. */
  readonly currency: string | null;
  /** The latest end of the session, in ISO 8601. */
  readonly sessionExpiresAt: string;
  readonly ends: SessionEnds;
  /** True where the Provision is no secret, so that this browser may remember it. */
  readonly hasPublicProvision: boolean;
}

/** True for a viewer with the privilege that shows donors and lines. */
export const mayReadDonors = ({ privileges }: Viewer): boolean => privileges.includes(REPORT_PRIVILEGE);
export const mayClose = ({ privileges }: Viewer): boolean => privileges.includes(CLOSE_PRIVILEGE);

export interface GraphQLRequest {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

/** A failed request. The message is for the page to show; the code is the gateway's `extensions.code`, if it sent one. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: string | undefined;

  constructor(message: string, options: { readonly code?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code;
  }
}

/** Messages by error code that replace the gateway's own where a reader needs to know what to do. */
const advice: Readonly<Record<string, string>> = {
  PROVISION_HEADER_MISSING: 'Enter a Provision first.',
  INVALID_PROVISION: 'This Provision is not valid. Check it for typing mistakes.',
  INCORRECT_HOST: 'This Provision is for another host name. Open the page at that host name.',
  PROVISION_MISMATCH: 'You are logged in under another Provision. Log in again to use this one.',
  UNAUTHORIZED: 'This account has been disabled. Ask your administrator.',
  LOGIN_FAILED: 'The username or password is not correct.',
  TOO_MANY_LOGIN_ATTEMPTS: 'Too many login attempts. Wait a little, then try again.',
  PRIVILEGE_NOT_FOUND: 'You may not read this, because it shows donors. Ask your administrator for the right.',
  UNDER_MAINTENANCE: 'The gateway is under maintenance. Try again later.',
};

const requestTimeoutMs = 30_000;
const TOO_LATE = 'The gateway takes too long to answer. Try again in a few minutes.';

/**
 * Fetches the logged-in user under this Provision; undefined when nobody is logged in. Throws a GatewayError that `isElsewhere` knows when
 * the login is under another Provision.
 */
export async function fetchViewer(provision: string): Promise<Viewer | undefined> {
  try {
    const { answer, sentAt } = await postVersioned(provision, { query: viewerQuery }, { signal: AbortSignal.timeout(requestTimeoutMs) });
    const { viewer, provision: used } = dataOf(answer) as ViewerQuery;
    return viewer ? { ...viewer, ends: readEnds(viewer, sentAt), hasPublicProvision: used?.kind !== 'API' } : undefined;
  } catch (error) {
    if (error instanceof GatewayError && isLoggedOut(error.code)) return undefined;
    throw error;
  }
}

export async function login(provision: string, username: string, password: string): Promise<Viewer> {
  await askGateway(provision, { query: loginMutation, variables: { username, password } });
  const viewer = await fetchViewer(provision);
  if (!viewer) throw new GatewayError('This browser does not keep the session. Allow cookies for this address, then log in again.');
  return viewer;
}

export async function logout(provision: string): Promise<void> {
  await askGateway(provision, { query: logoutMutation });
}

interface PostOptions {
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request and returns the gateway's answer, with its errors. Throws a GatewayError when no GraphQL answer comes. */
export async function postGraphQL(provision: string, request: GraphQLRequest, options: PostOptions = {}): Promise<ExecutionResult> {
  return (await postVersioned(provision, request, options)).answer;
}

interface VersionedAnswer {
  readonly answer: ExecutionResult;
  /** The version of the books that the answer is of; undefined when it holds nothing of them. */
  readonly version: number | undefined;
  /** The gateway's time of the answer, in milliseconds. */
  readonly sentAt: number;
}

/** As `postGraphQL`, with the version of the books that the answer is of. Tells all tabs what the answer says of the session. */
export async function postVersioned(provision: string, request: GraphQLRequest, options: PostOptions = {}): Promise<VersionedAnswer> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, String(value));
  // The Provision in the page's bar always wins, so that the bar tells the truth about the data.
  headers.set('Provision', provision);
  headers.set('content-type', 'application/json');
  headers.set('accept', 'application/graphql-response+json, application/json');

  let response: Response;
  try {
    response = await fetch('/graphql', {
      method: 'POST',
      credentials: 'same-origin',
      headers,
      body: JSON.stringify(request),
      signal: options.signal,
    });
  } catch (cause) {
    const isLate = (cause as Error).name === 'TimeoutError';
    throw new GatewayError(isLate ? TOO_LATE : 'The gateway cannot be reached. Check your connection and try again.', { cause });
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (!isExecutionResult(answer)) {
    const status = String(response.status);
    throw new GatewayError(
      response.status >= 502
        ? `The gateway is not ready (HTTP status ${status}). Try again in a minute.`
        : `The gateway gave no GraphQL answer (HTTP status ${status}).`,
    );
  }
  if (tellsSessionLoss(answer)) signalSession('lost');
  // A refused request, such as a login, need not have used a session.
  else if (!answer.errors) signalSession('used');
  const version = response.headers.get('X-Data-Version');
  const date = response.headers.get('Date');
  return { answer, version: version === null ? undefined : Number(version), sentAt: date === null ? Date.now() : Date.parse(date) };
}

/** An answer to nobody has no viewer, and no error for that. */
function tellsSessionLoss({ data, errors }: ExecutionResult): boolean {
  if (data?.viewer === null) return true;
  return errors?.some((error) => isLoggedOut(codeOf(error)) || codeOf(error) === ELSEWHERE) ?? false;
}

/** Sends a request and returns its data. Throws a GatewayError at the first error. `Data` must fit the query: nothing checks it here. */
export async function askGateway<Data>(
  provision: string,
  request: GraphQLRequest,
  signal?: AbortSignal,
  limitMs = requestTimeoutMs,
): Promise<Data> {
  const late = AbortSignal.timeout(limitMs);
  return dataOf(await postGraphQL(provision, request, { signal: signal ? AbortSignal.any([late, signal]) : late })) as Data;
}

/** The data of an answer. Throws a GatewayError at the first error. */
export function dataOf({ data, errors }: ExecutionResult): unknown {
  const [error] = errors ?? [];
  if (error) {
    const code = codeOf(error);
    throw new GatewayError(advice[code ?? ''] ?? error.message, { code });
  }
  return data;
}

function codeOf({ extensions }: GraphQLFormattedError): string | undefined {
  return typeof extensions?.code === 'string' ? extensions.code : undefined;
}

/** UNAUTHORIZED means that the session's user has been disabled. */
function isLoggedOut(code: string | undefined): boolean {
  return code === 'NOT_LOGGED_IN' || code === 'UNAUTHORIZED';
}

const ELSEWHERE = 'PROVISION_MISMATCH';

/** True for the error that tells of a login under another Provision, such as one in another tab. */
export const isElsewhere = (error: unknown): boolean => error instanceof GatewayError && error.code === ELSEWHERE;

function isExecutionResult(answer: unknown): answer is ExecutionResult {
  return typeof answer === 'object' && answer !== null && ('data' in answer || 'errors' in answer);
}
