import type { ErrorCode } from '../errors';
import type { Privilege } from '../values/privileges';

/** The names of the three v2 paths, which are those of the privileges (contract section 4). */
export type V2Path = Exclude<Privilege, 'audit_records' | 'close_periods' | 'agent'>;

/** The credentials that a path accepts: the provision alone, the provision with a session, or either. */
type V2Access = 'system' | 'session' | 'either';

interface V2Operation {
  /** The name of the GraphQL field that answers the same. */
  readonly field: string;
  readonly tag: 'Credentials' | 'Report';
  readonly summary: string;
  readonly description: string;
  readonly access: V2Access;
  /** The name of the schema of its answer. */
  readonly answer: 'AuthenticationTest' | 'Report';
  /** The parameters of this path alone. */
  readonly parameters: readonly ('start_date' | 'end_date' | 'include_pending' | 'If-None-Match')[];
  /** The errors of this path alone. */
  readonly codes: readonly ErrorCode[];
}

/** The v2 paths, as the OpenAPI document describes them. */
export const v2Operations: Readonly<Record<V2Path, V2Operation>> = {
  authenticated_test_system: {
    field: 'authenticatedTestSystem',
    tag: 'Credentials',
    summary: 'Check a provision',
    description: 'Answers when the header `Provision` is accepted. Every new provision has the privilege of this path.',
    access: 'system',
    answer: 'AuthenticationTest',
    parameters: [],
    codes: [],
  },
  authenticated_test_session: {
    field: 'authenticatedTestSession',
    tag: 'Credentials',
    summary: 'Check a provision and a session',
    description:
      'Answers when the header `Provision` and the session of a logged-in user are accepted. Every new user has the privilege of this path.',
    access: 'session',
    answer: 'AuthenticationTest',
    parameters: [],
    codes: ['NOT_LOGGED_IN', 'PROVISION_MISMATCH'],
  },
  deposit_detail_designation_detail_with_contact_info: {
    field: 'depositDetails',
    tag: 'Report',
    summary: 'Read the lines of a period',
    description:
      "The lines of all deposits of a period, in the order of deposit date, deposit, transaction and allocation. They hold donors' personal data, so that the privilege of the report must be granted: to an API provision, or to a logged-in user. An answer that broke off ends with a reset connection and without its closing `]}`: no part of it is JSON.",
    access: 'either',
    answer: 'Report',
    parameters: ['start_date', 'end_date', 'include_pending', 'If-None-Match'],
    codes: ['NOT_LOGGED_IN', 'PROVISION_MISMATCH', 'START_DATE_AFTER_END_DATE', 'TOO_MANY_REQUESTS'],
  },
};

export const v2Paths = Object.keys(v2Operations) as readonly V2Path[];

/** The errors of every path, once the request can be read. The contract names 401 for each, without a reason (section 7). */
export const COMMON_CODES: readonly ErrorCode[] = [
  ...(['UNAUTHORIZED', 'DATA_SOURCE_QUERY_FAILED', 'PROVISION_HEADER_MISSING', 'UNDER_MAINTENANCE', 'INVALID_PROVISION'] as const),
  ...(['INCORRECT_HOST', 'ESTABLISHING_SESSION_FAILED', 'PRIVILEGE_NOT_FOUND', 'INVALID_PARAMETERS'] as const),
  ...(['NO_DATA_SOURCE_CONNECTION', 'INTERNAL_SERVER_ERROR'] as const),
];

/** The errors of bytes that are no proper request. */
export const REQUEST_CODES: readonly ErrorCode[] = ['BAD_REQUEST', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE'];

/** The errors of requests for another path, and by another method. */
export const ROUTE_CODES: readonly ErrorCode[] = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'];
