import { Router, type Request } from 'express';
import { AppError, toAppError } from '../errors';
import { isUtf8Body, NoObjectError, readOperation } from '../http/operation-request';
import { enterDoor, recordOf } from '../http/request-record';
import { MEDIA_TYPES, PARTIAL_SUCCESS, RESPONSE_JSON, UNPROCESSABLE, wantsResponseJson } from './answers/answer-status';
import { formatError, toCause } from './answers/error-format';
import { noteBody } from './answers/kept-answers';
import { loopTurns, strangerTurns } from './answers/loop-turns';
import { OperationRun, type RunParts } from './operation-run';
import { FailedRows } from './answers/ready-answer';

/** The door at /graphql. */
export function createGraphqlRoute(parts: RunParts): Router {
  const { kit } = parts;
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/', enterDoor('graphql', '/graphql'));
  router.all('/', async (request, response) => {
    const run = new OperationRun(request, response, parts);
    const endSpan = run.context.times.spans?.resolve();
    try {
      // Nothing is parsed for a caller without a valid provision.
      // Nothing takes effect for a client that cannot take the answer.
      const refusal = await run.context.access
        .authorizeProvision()
        .then(() => (request.accepts(MEDIA_TYPES) === false ? new AppError('NOT_ACCEPTABLE') : undefined), toAppError);
      // The operation of a provision that is bound to reports is not parsed, and has no name.
      if (refusal) await kit.audit.recordRefusal(run.context, { door: 'graphql', name: '', hash: null }, refusal);
      if (refusal?.cause !== undefined) kit.logFailure(refusal, run.context.requestId);
      if (!refusal) {
        // A login asks for no books, so that nothing else would look at the number.
        run.context.access.readLeastVersion();
        assertJson(request);
        const body = await readOperation(request, response);
        if (body) noteBody(request, body);
      }
      await (refusal ? strangerTurns : loopTurns).next();
      await run.answer(refusal);
    } finally {
      endSpan?.(recordOf(response).label);
      await run.context.books.close();
    }
  });

  router.use(kit.createErrorHandler({ toCause: (error) => toCause(error instanceof FailedRows ? error.cause : error), toAnswer }));
  return router;
}

/** The GraphQL answer to an error outside Apollo: one before the operation, or a report that fails before its first row. */
function toAnswer(appError: AppError, error: unknown, requestId: string, request: Request) {
  const isResponseJson = wantsResponseJson(request);
  const type = isResponseJson ? RESPONSE_JSON : MEDIA_TYPES[0]!;
  if (!(error instanceof FailedRows)) {
    const body = { errors: [formatError({ message: '' }, appError, requestId)] };
    const own = isResponseJson && error instanceof NoObjectError ? UNPROCESSABLE : appError.status;
    return { status: appError.graphqlStatus ?? own, type, body };
  }
  const { errors = [], ...rest } = error.readRest();
  const failures = error.paths.map((path) => formatError({ message: '', path }, appError, requestId));
  const status = isResponseJson ? PARTIAL_SUCCESS : (appError.graphqlStatus ?? error.status);
  return { status, type, body: { errors: [...errors, ...failures], ...rest } };
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

/**
 * Refuses a body in any form but JSON in UTF-8, the one between systems (RFC 8259 section 8.1). The parser would pass other types by and
 * would take UTF-7.
 */
function assertJson(request: Request): void {
  const { method, headers } = request;
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  // Apollo Server refuses the other types of a GET, and the lack of a body.
  if (isEmpty || method !== 'POST') return;
  if (JSON_TYPE.test(headers['content-type'] ?? '') && isUtf8Body(request)) return;
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', { fault: 'write "Content-Type: application/json", and the body in UTF-8' });
}
