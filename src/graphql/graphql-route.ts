import { Router } from 'express';
import { AppError, toAppError } from '../errors';
import { assertUtf8Body, readOperation } from '../http/operation-request';
import { enterDoor, recordOf } from '../http/request-record';
import { formatError, toCause } from './error-format';
import { noteBody } from './kept-answers';
import { loopTurns, strangerTurns } from './loop-turns';
import { MEDIA_TYPES, OperationRun, type RunParts } from './operation-run';
import { FailedRows } from './ready-answer';

/** The door at /graphql. */
export function createGraphqlRoute(parts: RunParts): Router {
  const { kit } = parts;
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/', enterDoor('graphql', '/graphql'));
  router.use((request, _response, next) => {
    assertUtf8Body(request);
    next();
  });
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
      const body = refusal ? undefined : await readOperation(request, response);
      if (body) noteBody(request, body);
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
function toAnswer(appError: AppError, error: unknown, requestId: string) {
  if (!(error instanceof FailedRows)) {
    const body = { errors: [formatError({ message: '' }, appError, requestId)] };
    return { status: appError.graphqlStatus ?? appError.status, body };
  }
  const { errors = [], ...rest } = error.readRest();
  const failures = error.paths.map((path) => formatError({ message: '', path }, appError, requestId));
  return { status: appError.graphqlStatus ?? 200, body: { errors: [...errors, ...failures], ...rest } };
}
