import { HeaderMap, type ApolloServer, type HTTPGraphQLResponse } from '@apollo/server';
import { GraphQLError, Kind, OperationTypeNode } from 'graphql';
import express, { Router, type Request, type Response } from 'express';
import { AppError, toAppError } from '../errors';
import { nameDataVersion, setDataVersion, setServerTiming, type DoorKit } from '../http/door-kit';
import { enterDoor, recordOf, type RequestRecord } from '../http/request-record';
import { sendRows, toContentCoding, type AnswerPiece } from '../http/row-sender';
import type { CheckedDocuments } from './checked-documents';
import { formatError, toCause, writeRequestId } from './error-format';
import { Insertions, type InsertedRows, type Path } from './insertions';
import { loopTurns, strangerTurns } from './loop-turns';
import { toReadRange } from './operation-range';
import type { GraphqlContext } from './row-field';
import { toApolloBody, toApolloSearch } from './trusted-documents';

const RESPONSE_JSON = 'application/graphql-response+json';
const MEDIA_TYPES = ['application/json', RESPONSE_JSON];
const MAX_BODY = '100kb';
/** Compressed bodies are refused, because 100 kB can expand to 100 MB. */
const parseJson = express.json({ limit: MAX_BODY, inflate: false });

/** The label of an operation that asks for several fields, or for fragments. */
const SEVERAL = 'several';
/** The longest part of an operation's name in the log. */
const MAX_NAME_LENGTH = 64;

/**
 * The most times that an operation runs again because the books have changed under it, or because a replica has failed. When its rows break
 * off before any of the answer has left, it runs once more.
 */
const MAX_RERUNS = 2;

/** The door at /graphql. Apollo Server makes the answer, and the rows of a report are written into it. */
export function createGraphqlRoute(apollo: ApolloServer<GraphqlContext>, documents: CheckedDocuments, kit: DoorKit): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/', enterDoor('graphql', '/graphql'));
  router.use((request, _response, next) => {
    // JSON between systems is UTF-8 (RFC 8259 section 8.1); the parser would also take UTF-7.
    const charset = /charset\s*=\s*"?([^\s;"]+)/i.exec(request.get('Content-Type') ?? '')?.[1] ?? 'utf-8';
    if (charset.toLowerCase() !== 'utf-8') throw new AppError('UNSUPPORTED_MEDIA_TYPE');
    next();
  });
  router.all('/', async (request, response) => {
    let context: GraphqlContext = { ...kit.openRequest(request, response), insertions: new Insertions(), account: {} };
    const endSpan = context.times.spans?.resolve();
    try {
      // Nothing is parsed for a caller without a valid provision.
      const refusal = await context.access.authorizeProvision().then(() => undefined, toAppError);
      // The operation of a provision that is bound to reports is not parsed, and has no name.
      if (refusal) await kit.audit.recordRefusal(context, { door: 'graphql', name: '', hash: null }, refusal);
      if (refusal?.cause !== undefined) kit.logFailure(refusal, context.requestId);
      if (!refusal) await readBody(request, response);
      await (refusal ? strangerTurns : loopTurns).next();
      const execute = () =>
        apollo.executeHTTPGraphQLRequest({
          httpGraphQLRequest: toApolloRequest(request),
          context: async () => {
            if (refusal) throw toRequestError(refusal, request);
            await documents.assertShort(textOf(request));
            return context;
          },
        });
      let answer = await execute();
      await noteVersions(context);
      const runAgain = async (isHeld: boolean): Promise<void> => {
        await context.snapshot.close();
        await loopTurns.next();
        const account = { budget: context.account?.budget };
        context = { ...kit.openRequest(request, response, isHeld, context.source.isBroken), insertions: new Insertions(), account };
        answer = await execute();
        await noteVersions(context);
      };
      for (let again = 1; again <= MAX_RERUNS && (sawSeveralVersions(context) || context.source.isBroken); again++) {
        // The first time the books have most likely come to rest. The last time all is read from one snapshot, which takes a lane.
        await runAgain(again === MAX_RERUNS);
      }
      const send = async (runsAgain: () => boolean): Promise<void> => {
        // Only rows that go on moving between the nodes of a database can have an answer come here.
        if (sawSeveralVersions(context)) throw new AppError('NO_DATA_SOURCE_CONNECTION', { retryAfterSeconds: 1 });
        noteOperation(recordOf(response), context);
        if (!context.account?.asked) recordOf(response).addCodes(answer.body.kind === 'complete' ? answer.body.string : '');
        await audited({ context, request, runsAgain }, kit, (ready) =>
          sendRows(response, toPieces(answer, context), {
            setHeaders: () => {
              const isChange = context.account?.asked?.operation.operation === OperationTypeNode.MUTATION;
              (isChange ? nameDataVersion : setDataVersion)(response, context);
              setServerTiming(response);
              setHead(response, answer);
            },
            ready,
            readerPace: kit.readerPace,
            signal: context.snapshot.signal,
            coding: toContentCoding(request),
          }),
        );
      };
      // Rows that broke off before any of the answer has left are read again with it.
      const runsAgain = (): boolean => context.source.isBroken && !response.headersSent && !response.destroyed;
      await send(runsAgain).catch(async (error: unknown) => {
        if (!runsAgain()) throw error;
        await runAgain(true);
        await send(() => false);
      });
    } finally {
      endSpan?.(recordOf(response).label);
      await context.snapshot.close();
    }
  });

  router.use(kit.createErrorHandler({ toCause: (error) => toCause(error instanceof FailedRows ? error.cause : error), toAnswer }));
  return router;
}

/**
 * Notes the operation of a request. Anybody may write anything as the name of an operation, a donor's name too: the names of trusted
 * documents alone become labels of metrics, and only members, whom an operator has let in, have theirs in the log. Others are named by the
 * field of the schema that they ask for.
 */
function noteOperation(record: RequestRecord, { account, access }: GraphqlContext): void {
  record.cost = account?.budget?.refusal ? 0 : (account?.cost ?? 0);
  for (const code of account?.codes ?? []) record.addCode(code);
  const asked = account?.asked;
  if (!asked) return;
  const { name, isTrusted, operation } = asked;
  const fields = new Set(operation.selectionSet.selections.map((each) => (each.kind === Kind.FIELD ? each.name.value : SEVERAL)));
  const [field = SEVERAL] = fields.size === 1 ? fields : [];
  record.label = isTrusted && name !== '' ? name : field;
  record.operation = access.identity?.isMember && name !== '' ? name.slice(0, MAX_NAME_LENGTH) : record.label;
}

/**
 * True when the statements of an operation saw several data versions, because the books changed between them. The operation is then run
 * again. No mutation reads the books, so nothing is written twice.
 */
const sawSeveralVersions = ({ reader }: GraphqlContext): boolean => reader.versions.length > 1;

/** Sees the data versions that only the end of a run can show: the one of its rows, and on a distributed database one that came meanwhile. */
async function noteVersions({ reader, snapshot, insertions }: GraphqlContext): Promise<void> {
  // Rows are read after everything else, and their snapshot must be of the same version. When it cannot be opened, the rows fail with the
  // same error, at the path of their field.
  if (insertions?.haveRows && reader.versions.length > 0) await snapshot.open().catch(() => undefined);
  else await snapshot.confirm().catch(() => undefined);
}

/** A report that failed before its first row. Nothing of the answer has been sent, so the rest of it can still be. */
class FailedRows extends Error {
  constructor(
    override readonly cause: unknown,
    /** The paths of the lists that are null now. */
    readonly paths: readonly Path[],
    /** The answer with null in place of each of them. */
    readonly readRest: () => { readonly data: object; readonly errors?: readonly object[] },
  ) {
    super('The rows broke off', { cause });
  }
}

/**
 * Sends the answer of an operation while the audit notes that it reads personal data, and that a privilege was missing. After a failure,
 * `runsAgain` tells whether the operation runs again.
 */
async function audited(
  attempt: { readonly context: GraphqlContext; readonly request: Request; readonly runsAgain: () => boolean },
  { audit }: DoorKit,
  send: (ready?: Promise<void>) => Promise<void>,
): Promise<void> {
  const { context } = attempt;
  const { asked, refusal } = context.account ?? {};
  if (!asked) return send();
  const operation = { door: 'graphql', name: asked.name, hash: asked.hash } as const;
  if (refusal) await audit.recordRefusal(context, operation, refusal);
  await audit.accompany(attempt, operation, { range: () => toReadRange(asked), lines: () => context.insertions?.rowCount() }, send);
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

/** The error of a whole request. Its status is sent only with the newer media type (GraphQL over HTTP, section 6.4). */
function toRequestError(error: AppError, request: Request): GraphQLError {
  const status = error.graphqlStatus ?? (request.accepts(MEDIA_TYPES) === RESPONSE_JSON ? error.status : 200);
  const headers = new HeaderMap();
  if (error.retryAfterSeconds !== undefined) headers.set('retry-after', String(error.retryAfterSeconds));
  return new GraphQLError(error.message, { originalError: error, extensions: { http: { status, headers } } });
}

async function readBody(request: Request, response: Response): Promise<void> {
  const fault = await new Promise<Error | undefined>((resolve) => parseJson(request, response, resolve));
  if (fault) throw fault;
}

/** The operation's text, from the address of a GET or the body of a POST. */
const textOf = (request: Request): unknown =>
  request.method === 'GET'
    ? new URLSearchParams(searchOf(request)).get('query')
    : (request.body as { readonly query?: unknown } | undefined)?.query;

/** The query string of the address as Apollo reads it. Express would end it at a `#`. */
function searchOf({ originalUrl }: Request): string {
  const query = originalUrl.indexOf('?');
  return query < 0 ? '' : originalUrl.slice(query);
}

function toApolloRequest(request: Request) {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return { method: request.method.toUpperCase(), headers, search: toApolloSearch(searchOf(request)), body: toApolloBody(request.body) };
}

/** Gives a response the status and the headers of Apollo's answer. */
function setHead(response: Response, { status, headers }: HTTPGraphQLResponse): void {
  response.status(status ?? 200);
  for (const [name, value] of headers) if (name !== 'content-length') response.set(name, value);
}

function toPieces({ body }: HTTPGraphQLResponse, { insertions, requestId }: GraphqlContext): AnswerPiece[] {
  if (body.kind !== 'complete') throw new Error('The answer of an operation is one piece');
  const text = writeRequestId(body.string, requestId);
  const paths: Path[] = [];
  const readRest = () => JSON.parse(insertions!.fill(text, () => ['null']).join('')) as ReturnType<FailedRows['readRest']>;
  return insertions!.fill(text, ({ path, content }) => {
    paths.push(path);
    return ['[', readRows(content, (error) => new FailedRows(error, paths, readRest)), ']'];
  });
}

/** The rows of a field, with the error that `toFailure` makes of one that they throw. */
async function* readRows({ rows, template }: InsertedRows, toFailure: (error: unknown) => FailedRows): AsyncGenerator<Buffer> {
  try {
    yield* rows.bytes(template);
  } catch (error) {
    throw toFailure(toAppError(error));
  }
}
