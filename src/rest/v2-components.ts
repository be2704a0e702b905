import { LEAST_VERSION } from '../domain/books/least-version';
import { AppError, errorTable, toErrorBody, type ErrorCode } from '../errors';
import { PLAIN_COOKIE, SECURE_COOKIE } from '../http/request-credentials';
import { lineFields, v2Names, type FieldType, type V2Name } from '../line/line-fields';

/** Finds the GraphQL schema's description of a field of a type. */
export type DescribeField = (type: string, field: string) => string;

const text = { type: 'string' };
const WHOLE_NUMBER = { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** The JSON Schema of each type of field that v2 has. */
const TYPES: Readonly<Record<Exclude<FieldType, 'status' | 'boolean'>, object>> = {
  ...{ text, name: text, code: text, id: { type: 'string', minLength: 1 }, number: WHOLE_NUMBER },
  date: { type: 'string', format: 'date' },
  money: { type: 'string', pattern: String.raw`^-?(?:0|[1-9][0-9]*)\.[0-9]{2}$` },
};

/** The first line of the gift by which the glossary explains its words. */
const EXAMPLE: Readonly<Record<V2Name, string | number>> = {
  ...{ deposit_id: 'D1', transaction_date: '2026-01-02', deposit_date: '2026-01-02', transaction_id: 'T1', allocation_id: 'A1' },
  ...{ donor_id: 7, donor_first_name: 'Ada', donor_last_name: 'Lovelace', address1: '12 St James Square', address2: '', address3: '' },
  ...{ city: 'London', state: '', zip: 'SW1Y 4JH', phone: '555-0100', email_address: 'ada@example.org' },
  ...{ amount: '100.00', fee_amount: '2.50', net_amount: '97.50', status: 'Complete', account_type: '', payment_type: 'Card' },
  ...{ designation_id: 1, designation: 'General Fund', designation_memo: '', main_memo: '' },
};

const toObject = <Key extends string, Value>(keys: readonly Key[], toValue: (key: Key) => Value): Record<string, Value> =>
  Object.fromEntries(keys.map((key) => [key, toValue(key)]));

const reference = (kind: string, name: string): object => ({ $ref: `#/components/${kind}/${name}` });
export const schemaOf = (name: string): object => reference('schemas', name);
export const headersOf = (names: readonly string[]): object => toObject(names, (name) => reference('headers', name));
export const examplesOf = (codes: readonly ErrorCode[]): object => toObject(codes, (code) => reference('examples', code));
export const parametersOf = (names: readonly string[]): object[] => names.map((name) => reference('parameters', name));

/** An object that has all of these properties and no others: v2 answers never change. */
const closedObject = (properties: Readonly<Record<string, object>>): object => ({
  ...{ type: 'object', required: Object.keys(properties), properties, additionalProperties: false },
});

function schemaOfLine(describe: DescribeField): object {
  const properties = toObject(v2Names, (name) => {
    const { field, type } = lineFields[name];
    return { description: describe('DepositDetail', field), ...TYPES[type as keyof typeof TYPES] };
  });
  return {
    description: 'One allocation with its transaction, deposit, designation and donor. A text without a value is empty; none is null.',
    ...closedObject(properties),
    examples: [EXAMPLE],
  };
}

/** The schemas of all bodies (contract sections 2.1 to 2.3). Descriptions of fields are those of the GraphQL schema. */
export function createSchemas(describe: DescribeField): object {
  const fieldOfTest = (name: string): object => ({ type: 'string', description: describe('AuthenticationTest', name) });
  const error = closedObject({
    error: { type: 'string', description: 'The reason, a text that stays as it is. Programs may tell errors apart by it.' },
    status: { type: 'integer', description: 'The HTTP status of the answer.' },
  });
  return {
    AuthenticationTest: closedObject({ data: closedObject(toObject(['message', 'provision'], fieldOfTest)) }),
    Report: closedObject({ response: { type: 'array', items: schemaOf('Line') } }),
    Line: schemaOfLine(describe),
    ErrorAnswer: closedObject({ errors: { type: 'array', minItems: 1, items: error } }),
  };
}

/** An example of each error of a list, under its code in GraphQL. */
export const createExamples = (codes: readonly ErrorCode[]): object =>
  toObject(codes, (code) => ({ summary: errorTable[code].text, value: toErrorBody(new AppError(code)) }));

const queryOf = (name: string, required: boolean, description: string, schema: object): object => ({
  ...{ name, in: 'query', required, description, schema },
});

export const parameters = {
  start_date: queryOf('start_date', true, 'First deposit date, `YYYY-MM-DD`', TYPES.date),
  end_date: queryOf('end_date', true, 'Last deposit date, `YYYY-MM-DD`', TYPES.date),
  include_pending: queryOf(
    ...(['include_pending', false, '`true` includes pending deposits; `false`, the default, leaves them out'] as const),
    { type: 'string', enum: ['true', 'false'], default: 'false' },
  ),
  'If-None-Match': {
    ...{ name: 'If-None-Match', in: 'header', schema: text },
    description: 'The `ETag` of a whole answer that the caller has kept. It is answered 304 while it would get the same bytes.',
  },
  [LEAST_VERSION]: {
    ...{ name: LEAST_VERSION, in: 'header', schema: { ...WHOLE_NUMBER, maximum: 999_999_999_999_999 } },
    description: 'The `X-Data-Version` of an answer that the caller has seen. An older answer is refused with 422.',
  },
};

export const headers = {
  'X-Request-Id': {
    schema: text,
    description: 'The id of the request in the log of the gateway. Answers to bytes that are no proper request have none.',
  },
  'X-Data-Version': { schema: WHOLE_NUMBER, description: 'The version of the books that the answer is of.' },
  'Provision-Expires': {
    schema: { type: 'string', format: 'date-time' },
    description: 'The time at which the provision, or the UUID that was sent, will be refused. Absent when no end is set.',
  },
  Deprecation: {
    schema: { type: 'string', pattern: '^@-?[0-9]+$' },
    description:
      'The time since which v2 is deprecated, in seconds of the Unix time (RFC 9745). It may be to come. Absent when none is set.',
  },
  Sunset: { schema: text, description: 'The time from which v2 may be gone, as an HTTP date (RFC 8594). Absent when none is set.' },
  Link: { schema: text, description: 'The page that says how to leave v2, with `rel="deprecation"`. Absent when none is set.' },
  ETag: { schema: text, description: 'The tag of the bytes of the answer, for `If-None-Match`. Compressed bytes have a tag of their own.' },
  'Retry-After': { schema: WHOLE_NUMBER, description: 'The seconds after which to try again.' },
  Allow: { schema: text, description: 'The methods that the path has.' },
};

/** The credentials. The session's cookie has another name over https, where browsers insist on that name's conditions. */
export const securitySchemes = {
  provision: { type: 'apiKey', in: 'header', name: 'Provision', description: 'The UUID of the application.' },
  sessionCookie: { type: 'apiKey', in: 'cookie', name: SECURE_COOKIE, description: 'The session, by the cookie of a login over https.' },
  plainSessionCookie: { type: 'apiKey', in: 'cookie', name: PLAIN_COOKIE, description: 'The session, by the cookie of a login over http.' },
  sessionToken: { type: 'http', scheme: 'bearer', description: 'The session, by the token of `openSession`. A cookie counts before it.' },
};
