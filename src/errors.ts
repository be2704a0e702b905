/**
 * Every error that the gateway answers with. The code is GraphQL's `extensions.code`; the status and the text are v2's (contract sections
 * 2.3 and 7), and the contract's texts are literal. A test holds the table in docs/errors.md equal to this one. GraphQL answers with errors
 * have GraphQL's own status, mostly 200, unless the row has a `graphqlStatus`.
 */
export const errorTable = {
  BAD_REQUEST: { status: 400, text: 'Bad request' },
  UNAUTHORIZED: { status: 401, text: 'Unauthorized' },
  INTROSPECTION_DISABLED: { status: 403, text: 'Introspection is switched off' },
  UNTRUSTED_DOCUMENT: { status: 403, text: 'This provision may send trusted documents only', graphqlStatus: 403 },
  AGENT_PRIVILEGE_MISSING: { status: 403, text: 'This provision lacks the privilege agent' },
  FOREIGN_ORIGIN: { status: 403, text: 'The origin of this page is not allowed' },
  INVALID_LINK: { status: 403, text: 'The link is not valid' },
  DATA_SOURCE_QUERY_FAILED: { status: 404, text: 'Data source query failed' },
  NOT_FOUND: { status: 404, text: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, text: 'Method not allowed' },
  NOT_ACCEPTABLE: { status: 406, text: 'Not acceptable', graphqlStatus: 406 },
  REQUEST_TIMEOUT: { status: 408, text: 'Request timeout' },
  REPORT_CONFLICT: { status: 409, text: 'The saved report is another than expected' },
  PERIOD_CLOSED: { status: 409, text: 'The months are closed' },
  BOOKS_CHANGING: { status: 409, text: 'The books are being changed' },
  ACCOUNTS_CONFLICT: { status: 409, text: 'The accounts are others than expected' },
  BUDGET_CONFLICT: { status: 409, text: 'The budget is another than expected' },
  SCHEDULE_CONFLICT: { status: 409, text: 'The schedule is another than expected' },
  JOURNAL_REFUSED: { status: 409, text: 'The journal cannot be written' },
  VERSION_PRUNED: { status: 410, text: 'The state is no longer kept' },
  PAYLOAD_TOO_LARGE: { status: 413, text: 'Payload too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, text: 'Unsupported media type' },
  PROVISION_HEADER_MISSING: { status: 422, text: 'Provision header missing' },
  UNDER_MAINTENANCE: { status: 422, text: 'Under maintenance' },
  INVALID_PROVISION: { status: 422, text: 'Invalid provision' },
  INCORRECT_HOST: { status: 422, text: 'Incorrect host for provision' },
  ESTABLISHING_SESSION_FAILED: { status: 422, text: 'Establishing session failed' },
  NOT_LOGGED_IN: { status: 422, text: 'Not logged in' },
  PROVISION_MISMATCH: { status: 422, text: 'Provision does not match logged in provision' },
  PRIVILEGE_NOT_FOUND: { status: 422, text: 'Privilege to perform the action was not found' },
  INVALID_PARAMETERS: { status: 422, text: 'Invalid parameter(s)' },
  START_DATE_AFTER_END_DATE: { status: 422, text: 'Start date cannot be greater than the end date.' },
  LOGIN_FAILED: { status: 422, text: 'Username or password is not correct' },
  TOO_MANY_LOGIN_ATTEMPTS: { status: 429, text: 'Too many login attempts', graphqlStatus: 429 },
  TOO_MANY_PROVISIONS: { status: 429, text: 'Too many unknown provisions from this address', graphqlStatus: 429 },
  TOO_MANY_REQUESTS: { status: 429, text: 'Too many of your requests are waiting', graphqlStatus: 429 },
  BUDGET_EXCEEDED: { status: 429, text: 'The budget of this minute is used up', graphqlStatus: 429 },
  HEADERS_TOO_LARGE: { status: 431, text: 'Request header fields too large' },
  NO_DATA_SOURCE_CONNECTION: { status: 500, text: 'No connection to data source', graphqlStatus: 503 },
  INTERNAL_SERVER_ERROR: { status: 500, text: 'Internal server error' },
  NOT_IMPLEMENTED: { status: 501, text: 'Not implemented' },
} as const satisfies Record<string, ErrorRow>;

/**
 * The codes that GraphQL and Apollo give to faulty requests, with the status of an answer in application/graphql-response+json (GraphQL over
 * HTTP, section Status Codes). The texts here say what the messages of each code tell. The table in docs/errors.md has these rows after the
 * others.
 */
export const requestFaultTable = {
  PERSISTED_QUERY_NOT_FOUND: { status: 200, text: 'The hash is not known here: send the query with it' },
  BAD_USER_INPUT: { status: 422, text: 'Which value is wrong, and why' },
  GRAPHQL_PARSE_FAILED: { status: 400, text: 'Where the query cannot be read' },
  GRAPHQL_VALIDATION_FAILED: { status: 422, text: 'What the schema or a limit refuses in the query' },
  OPERATION_RESOLUTION_FAILURE: { status: 422, text: 'Which operation of the query to run is not clear' },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  readonly status: number;
  readonly text: string;
  readonly graphqlStatus?: number;
}

export type ErrorCode = keyof typeof errorTable;

interface AppErrorOptions {
  readonly cause?: unknown;
  /** The seconds after which the caller should try again, sent as Retry-After (RFC 9110 section 10.2.3). */
  readonly retryAfterSeconds?: number;
  /** The particular fault, in words for the caller. */
  readonly fault?: string;
  /** The name of the argument at fault, and the way to the value within it: `filter.amount`. GraphQL tells it apart from the text. */
  readonly argument?: string;
}

/** A failure that callers may see. They see its code and its fault, when it has one; the cause is for the log. */
export class AppError extends Error {
  readonly retryAfterSeconds: number | undefined;
  readonly fault: string | undefined;
  readonly argument: string | undefined;

  constructor(
    readonly code: ErrorCode,
    options: AppErrorOptions = {},
  ) {
    super(errorTable[code].text, options);
    this.name = 'AppError';
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.fault = options.fault;
    this.argument = options.argument;
  }

  get status(): number {
    return errorTable[this.code].status;
  }

  get graphqlStatus(): number | undefined {
    const row: ErrorRow = errorTable[this.code];
    return row.graphqlStatus;
  }
}

/** A fault in a caller's input, in words for the caller. v2 answers all such faults with one text (contract section 7). */
export class InputError extends AppError {
  constructor(
    override readonly fault: string,
    argument?: string,
  ) {
    super('INVALID_PARAMETERS', { fault, ...(argument !== undefined && { argument }) });
  }
}

/** A failure of an operator's command. The operator sees its message as it is. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** The part of Prisma's messages that quotes our code, before the reason. */
const QUOTED = /^\s*Invalid `.*` invocation[^]*\n/;

/**
 * The reason that an error of the system or of a library gives, in one line. Node gives no message when all addresses of a host have failed,
 * but an error for each of them.
 */
export function reasonOf(error: Error & { readonly code?: string; readonly errors?: readonly Error[] }): string {
  const line = error.message.replace(QUOTED, '').trim().split('\n').at(-1)!;
  if (line !== '') return line;
  const each = (error.errors ?? []).map(reasonOf).join(', ');
  return each === '' ? (error.code ?? error.name) : each;
}

/** The codes for errors of the body parser and the router, which carry an HTTP status. */
const REQUEST_FAULTS: Readonly<Record<number, ErrorCode>> = { 400: 'BAD_REQUEST', 413: 'PAYLOAD_TOO_LARGE', 415: 'UNSUPPORTED_MEDIA_TYPE' };

/** Turns any thrown value into an error that callers may see. An unknown one is masked as INTERNAL_SERVER_ERROR and kept as the cause. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 0;
  const code = REQUEST_FAULTS[status];
  return code ? new AppError(code) : new AppError('INTERNAL_SERVER_ERROR', { cause: error });
}

/** The text of an error, followed by its fault when it has one. */
export const describeError = ({ message, fault }: AppError): string =>
  fault === undefined ? message : `${message.replace(/\.$/, '')}: ${fault}`;

/** The body of an error answer of all doors but GraphQL (contract section 2.3). v2's own errors have no `fault`. */
export function toErrorBody(error: AppError): object {
  return { errors: [{ error: describeError(error), status: error.status }] };
}
