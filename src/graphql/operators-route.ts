import { createHash, timingSafeEqual } from 'node:crypto';
import { Router, type RequestHandler, type Response } from 'express';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { createHandler } from 'graphql-http/lib/use/express';
import { AppError, describeError, OperatorError, toAppError } from '../errors';
import { readOperation } from '../http/operation-request';
import { enterDoor, recordOf } from '../http/request-record';
import { withoutSecrets } from './answers/error-format';

/** graphql-js gives a fault of the syntax no mark but its text. */
const SYNTAX_ERROR = /^Syntax Error:/;

interface OperatorsRouteOptions {
  /** The token that every request carries as `Authorization: Bearer TOKEN`. */
  readonly token: string;
  /** Answers a request while its client's address counts as the operator's. */
  readonly during: <Answer>(address: string, answer: () => Answer) => Answer;
  /** Logs a failure whose cause the caller does not see. */
  readonly onInternalError: (error: AppError, requestId: string) => void;
}

/** The operators' door at /graphql of their own port. It tells nothing without the token, not even the schema. */
export function createOperatorsRoute(schema: GraphQLSchema, { token, during, onInternalError }: OperatorsRouteOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/graphql', enterDoor('admin', '/graphql'));
  router.all('/graphql', requireToken(token), async (request, response, next) => {
    // graphql-http knows one spelling of the charset alone; the body has been read by now.
    if (await readOperation(request, response)) request.headers['content-type'] = 'application/json';
    const handle = createHandler({ schema, formatError: (error) => toFault(error, response, onInternalError) });
    return during(request.ip ?? '', () => handle(request, response, next));
  });
  return router;
}

/** Refuses a request without the token. Tokens are compared as hashes, so that the time tells nothing of them. */
function requireToken(token: string): RequestHandler {
  const expected = hash(token);
  return ({ headers }, response, next) => {
    const [, given = ''] = /^Bearer ([\x21-\x7e]+)$/i.exec(headers.authorization ?? '') ?? [];
    if (!timingSafeEqual(hash(given), expected)) {
      response.set('WWW-Authenticate', 'Bearer');
      throw new AppError('UNAUTHORIZED');
    }
    next();
  };
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The error that an operator sees. The message of an OperatorError is for operators as it is; the cause of any other goes to the log. */
function toFault(error: Error, response: Response, onInternalError: OperatorsRouteOptions['onInternalError']): GraphQLError {
  const record = recordOf(response);
  const { nodes, path, originalError } = error instanceof GraphQLError ? error : new GraphQLError(error.message);
  const [code, message] = describeFault(error, originalError);
  if (originalError && !(originalError instanceof OperatorError || originalError instanceof GraphQLError)) {
    const appError = toAppError(originalError);
    if (appError.cause !== undefined) onInternalError(appError, record.id);
  }
  record.addCode(code);
  return new GraphQLError(message, { nodes, path, extensions: { code, requestId: record.id } });
}

/**
 * The code and the text of a fault. An error that graphql-js itself has found has no original, or that of a scalar, and graphql-http's are
 * plain.
 */
function describeFault(error: Error, originalError: Error | undefined): readonly [code: string, message: string] {
  if (!(error instanceof GraphQLError)) return ['BAD_REQUEST', error.message];
  const message = withoutSecrets(error.message);
  if (!originalError) return [SYNTAX_ERROR.test(message) ? 'GRAPHQL_PARSE_FAILED' : 'GRAPHQL_VALIDATION_FAILED', message];
  if (originalError instanceof GraphQLError) return ['BAD_USER_INPUT', message];
  if (originalError instanceof OperatorError) return ['BAD_USER_INPUT', originalError.message];
  const appError = toAppError(originalError);
  return [appError.code, describeError(appError)];
}
