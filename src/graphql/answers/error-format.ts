import { randomUUID } from 'node:crypto';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { AppError, describeError, InputError, requestFaultTable, toAppError } from '../../errors';

/** The codes that GraphQL and Apollo give to a faulty request. Any other code is the gateway's own or is masked. */
const REQUEST_ERRORS: ReadonlySet<unknown> = new Set(['BAD_REQUEST', ...Object.keys(requestFaultTable)]);
const MAX_MESSAGE_LENGTH = 300;
const BAD_REQUEST_STATUS = 400;
const NULL_ARGUMENT = /^Argument "(\w+)" of non-null type "[\w![\]]+" must not be null\.$/;
/** graphql-js ends a message with the names that it takes for meant. */
const SUGGESTION = / ?Did you mean .*$/s;

/**
 * The faults of graphql-js that quote a value, which may hold a password: a value that is no text, an object that lacks a field or has one
 * too many, a value in the place of an input object, and a word in the place of another one.
 */
const QUOTED: readonly (readonly [RegExp, string])[] = [
  [
    /^(Variable "\$\w+") got invalid value .*; (Field "[^"]*" (?:of required type "[^"]*" was not provided|is not defined by type "[^"]*")\.(?: Did you mean .*)?|Expected type "[^"]*" to be an object\.|String cannot represent a non string value).*$/s,
    '$1 got an invalid value; $2',
  ],
  [/^(Variable "\$\w+") got invalid value .*; Field .*$/s, '$1 got an invalid value'],
  [/^(String cannot represent a non string value): .*$/s, '$1'],
  [/^(Expected value of type "\w*Input!?"), found .*$/s, '$1'],
  [/^(Syntax Error: (?:Unexpected (?:Block)?String|Expected .*, found (?:Name|Int|Float|(?:Block)?String))) ".*$/s, '$1'],
];

/** A message of graphql-js without a value that may hold a password. Clients keep messages in consoles and logs. */
export const withoutSecrets = (message: string): string => QUOTED.reduce((text, [quoted, plain]) => text.replace(quoted, plain), message);

/**
 * Stands for the request's id in the errors of an answer. Apollo formats errors without telling of which request they are, so the id is
 * written when the answer is. The mark is random, so that no text of a caller can match it.
 */
const ID_MARK: string = randomUUID();

/** Writes a request's id into the errors of an answer, which come before its data. */
export const writeRequestId = (answer: string, requestId: string): string =>
  answer.startsWith('{"errors":') ? answer.replaceAll(ID_MARK, requestId) : answer;

/** True for an error of graphql-js or Apollo that tells what is wrong with the request. */
export const isRequestError = (error: unknown, code: unknown): boolean => !(error instanceof AppError) && REQUEST_ERRORS.has(code);

/** The whole of an error that a caller sees: its code, its text, its place in the operation and the id of the request. */
export function formatError(
  { message, locations, path, extensions }: GraphQLFormattedError,
  error: unknown,
  requestId = ID_MARK,
): GraphQLFormattedError {
  const place = { ...(locations && { locations }), ...(path && { path }) };
  if (isRequestError(error, extensions?.code)) {
    const { code, cost, limit, field, argument, path: variable } = extensions ?? {};
    const size = cost === undefined ? {} : { cost, limit, field };
    const fault = { ...(argument !== undefined && { argument }), ...(variable !== undefined && { path: variable }) };
    return { message: withoutSecrets(message).slice(0, MAX_MESSAGE_LENGTH), ...place, extensions: { code, ...fault, ...size, requestId } };
  }
  const appError = toAppError(error);
  const argument = extensions?.argument ?? appError.argument;
  const fault = { ...(argument !== undefined && { argument }), requestId };
  if (appError instanceof InputError) {
    return { message: appError.fault.slice(0, MAX_MESSAGE_LENGTH), ...place, extensions: { code: 'BAD_USER_INPUT', ...fault } };
  }
  return { message: describeError(appError), ...place, extensions: { code: appError.code, ...fault } };
}

/** An error without the names that graphql-js takes for meant, which would tell a stranger the schema. */
export const withoutSuggestion = (error: GraphQLFormattedError): GraphQLFormattedError => ({
  ...error,
  message: error.message.replace(SUGGESTION, ''),
});

/** The error that was thrown first, without the GraphQLErrors that graphql-js and Apollo wrap around it. */
export function toCause(error: unknown): unknown {
  if (!(error instanceof GraphQLError) || REQUEST_ERRORS.has(error.extensions.code)) return error;
  if (error.originalError) return toCause(error.originalError);
  const { code, http } = error.extensions as { readonly code?: string; readonly http?: { readonly status?: number } };
  // Apollo marks some faulty requests by their status alone, without a code.
  if (code === undefined && http?.status === BAD_REQUEST_STATUS) return new AppError('BAD_REQUEST');
  // graphql-js gives no code to an argument that a variable makes null.
  const argument = code === undefined ? NULL_ARGUMENT.exec(error.message)?.[1] : undefined;
  return argument === undefined ? error : new InputError(error.message, argument);
}
