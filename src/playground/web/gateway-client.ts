import type { ExecutionResult, GraphQLFormattedError } from 'graphql';
import loginMutation from './queries/login.graphql?raw';
import logoutMutation from './queries/logout.graphql?raw';
import viewerQuery from './queries/viewer.graphql?raw';

export interface Viewer {
  readonly username: string;
  readonly organization: string;
  readonly privileges: readonly string[];
  /** ISO 8601; without requests the session ends earlier. */
  readonly sessionExpiresAt: string;
}

export interface GraphQLRequest {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

/** What went wrong, in words for the person at the page. The code is the gateway's, where it gave one. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: string | undefined;

  constructor(message: string, options: { readonly code?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code;
  }
}

/** Where the gateway's own text states a fact only, these say what to do about it. */
const advice: Readonly<Record<string, string>> = {
  PROVISION_HEADER_MISSING: 'Enter a Provision first.',
  INVALID_PROVISION: 'This Provision is not valid. Check it for typing mistakes.',
  INCORRECT_HOST: 'This Provision belongs to another host name.',
  PROVISION_MISMATCH: 'You are logged in under another Provision. Log in again to use this one.',
  UNAUTHORIZED: 'This account has been disabled.',
  LOGIN_FAILED: 'The username or password is not correct.',
  TOO_MANY_LOGIN_ATTEMPTS: 'Too many login attempts. Wait a little, then try again.',
  UNDER_MAINTENANCE: 'The gateway is under maintenance. Try again later.',
};

const requestTimeoutMs = 30_000;

/** Who is logged in under this Provision, if anybody. */
export async function fetchViewer(provision: string): Promise<Viewer | undefined> {
  try {
    return (await askGateway<{ viewer: Viewer }>(provision, { query: viewerQuery })).viewer;
  } catch (error) {
    if (error instanceof GatewayError && isSessionLoss(error.code)) return undefined;
    throw error;
  }
}

export async function login(provision: string, username: string, password: string): Promise<Viewer> {
  return (await askGateway<{ login: Viewer }>(provision, { query: loginMutation, variables: { username, password } })).login;
}

export async function logout(provision: string): Promise<void> {
  await askGateway(provision, { query: logoutMutation });
}

/** Sends any request and returns the gateway's answer, errors included. Fails with a GatewayError where there is no answer. */
export async function postGraphQL(
  provision: string,
  request: GraphQLRequest,
  options: { readonly headers?: Readonly<Record<string, unknown>>; readonly signal?: AbortSignal } = {},
): Promise<ExecutionResult> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, String(value));
  // The page's own: whose data is shown stands in its bar.
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
    throw new GatewayError('The gateway cannot be reached. Check your connection and try again.', { cause });
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (!isExecutionResult(answer)) throw new GatewayError(`The gateway gave no GraphQL answer (HTTP status ${String(response.status)}).`);
  return answer;
}

/** Whether the answer says that nobody is logged in. */
export function tellsSessionLoss({ errors }: ExecutionResult): boolean {
  return errors?.some((error) => isSessionLoss(codeOf(error))) ?? false;
}

/** The data's shape is the gateway's schema's promise for the query that is sent. */
export async function askGateway<Data>(provision: string, request: GraphQLRequest, signal?: AbortSignal): Promise<Data> {
  const late = AbortSignal.timeout(requestTimeoutMs);
  const { data, errors } = await postGraphQL(provision, request, { signal: signal ? AbortSignal.any([late, signal]) : late });
  const [error] = errors ?? [];
  if (error) {
    const code = codeOf(error);
    throw new GatewayError(advice[code ?? ''] ?? error.message, { code });
  }
  return data as Data;
}

function codeOf({ extensions }: GraphQLFormattedError): string | undefined {
  return typeof extensions?.code === 'string' ? extensions.code : undefined;
}

/** UNAUTHORIZED is the gateway's word for a session whose user has been disabled. */
function isSessionLoss(code: string | undefined): boolean {
  return code === 'NOT_LOGGED_IN' || code === 'UNAUTHORIZED';
}

function isExecutionResult(answer: unknown): answer is ExecutionResult {
  return typeof answer === 'object' && answer !== null && ('data' in answer || 'errors' in answer);
}
