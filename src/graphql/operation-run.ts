import { HeaderMap, type ApolloServer, type HTTPGraphQLResponse } from '@apollo/server';
import type { Request, Response } from 'express';
import { GraphQLError, Kind, OperationTypeNode } from 'graphql';
import { AppError, toAppError } from '../errors';
import { nameDataVersion, setDataVersion, setServerTiming, type DoorKit } from '../http/door-kit';
import { recordOf, type RequestRecord } from '../http/request-record';
import { sendRows, toContentCoding, type AnswerPiece } from '../http/row-sender';
import type { CheckedDocuments } from './checked-documents';
import { writeRequestId } from './error-format';
import { Insertions, type InsertedRows, type Path } from './insertions';
import { loopTurns } from './loop-turns';
import { toReadRange } from './operation-range';
import type { GraphqlContext } from './row-field';
import { toApolloBody, toApolloSearch } from './trusted-documents';

const RESPONSE_JSON = 'application/graphql-response+json';
const MEDIA_TYPES = ['application/json', RESPONSE_JSON];

/** The label of an operation that asks for several fields, or for fragments. */
const SEVERAL = 'several';
/** The longest part of an operation's name in the log. */
const MAX_NAME_LENGTH = 64;

/**
 * The most times that an operation runs again because the books have changed under it, or because a replica has failed. When its rows break
 * off before any of the answer has left, it runs once more.
 */
const MAX_RERUNS = 2;

interface RunParts {
  readonly apollo: ApolloServer<GraphqlContext>;
  readonly documents: CheckedDocuments;
  readonly kit: DoorKit;
}

/**
 * The run of one request's operation. Apollo Server makes the answer, again until its statements have seen one data version, and the rows
 * of a report are written into it as it is sent.
 */
export class OperationRun {
  private opened: GraphqlContext;

  constructor(
    private readonly request: Request,
    private readonly response: Response,
    private readonly parts: RunParts,
  ) {
    this.opened = { ...parts.kit.openRequest(request, response), insertions: new Insertions(), outcome: {} };
  }

  /** The context of the present try. Its books must be closed in the end. */
  get context(): GraphqlContext {
    return this.opened;
  }

  /** Executes the operation and sends its answer, or the answer to a caller who is refused. */
  async answer(refusal: AppError | undefined): Promise<void> {
    const { response } = this;
    let answer = await this.execute(refusal);
    for (let again = 1; again <= MAX_RERUNS && (this.opened.books.haveSeveralVersions || this.opened.books.areBroken); again++) {
      // Nothing is written twice, because no mutation reads the books. The first time the books have most likely come to rest. The last
      // time all is read from one snapshot, which takes a lane.
      answer = await this.executeAgain(again === MAX_RERUNS, refusal);
    }
    // Rows that broke off before any of the answer has left are read again with it.
    const runsAgain = (): boolean => this.opened.books.areBroken && !response.headersSent && !response.destroyed;
    await this.send(answer, runsAgain).catch(async (error: unknown) => {
      if (!runsAgain()) throw error;
      await this.send(await this.executeAgain(true, refusal), () => false);
    });
  }

  private async execute(refusal: AppError | undefined): Promise<HTTPGraphQLResponse> {
    const { request, opened: context } = this;
    const answer = await this.parts.apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: toApolloRequest(request),
      context: async () => {
        if (refusal) throw toRequestError(refusal, request);
        await this.parts.documents.assertShort(textOf(request));
        return context;
      },
    });
    const { books, insertions } = context;
    // Some versions show only at the end of a run: the one of its rows, and on a distributed database one that came meanwhile.
    await (insertions?.haveRows && books.haveVersion ? books.openForRows() : books.confirm());
    return answer;
  }

  private async executeAgain(isHeld: boolean, refusal: AppError | undefined): Promise<HTTPGraphQLResponse> {
    const { books, outcome } = this.opened;
    await books.close();
    await loopTurns.next();
    const again = this.parts.kit.openRequest(this.request, this.response, isHeld, books.areBroken);
    this.opened = { ...again, insertions: new Insertions(), outcome: { budget: outcome.budget } };
    return this.execute(refusal);
  }

  private async send(answer: HTTPGraphQLResponse, runsAgain: () => boolean): Promise<void> {
    const { request, response, opened: context } = this;
    // Only rows that go on moving between the nodes of a database can have an answer come here.
    if (context.books.haveSeveralVersions) throw new AppError('NO_DATA_SOURCE_CONNECTION', { retryAfterSeconds: 1 });
    noteOperation(recordOf(response), context);
    if (!context.outcome.asked) recordOf(response).addCodes(answer.body.kind === 'complete' ? answer.body.string : '');
    await this.audited(runsAgain, (ready) =>
      sendRows(response, toPieces(answer, context), {
        setHeaders: () => {
          const isChange = context.outcome.asked?.operation.operation === OperationTypeNode.MUTATION;
          (isChange ? nameDataVersion : setDataVersion)(response, context);
          setServerTiming(response);
          setHead(response, answer);
        },
        ready,
        readerPace: this.parts.kit.readerPace,
        signal: context.books.signal,
        coding: toContentCoding(request),
      }),
    );
  }

  /** Sends the answer while the audit notes that the operation reads personal data, and that a privilege was missing. */
  private async audited(runsAgain: () => boolean, send: (ready?: Promise<void>) => Promise<void>): Promise<void> {
    const { request, opened: context } = this;
    const { audit } = this.parts.kit;
    const { asked, refusal } = context.outcome;
    if (!asked) return send();
    const operation = { door: 'graphql', name: asked.name, hash: asked.hash } as const;
    if (refusal) await audit.recordRefusal(context, operation, refusal);
    const facts = { range: () => toReadRange(asked), lines: () => context.insertions?.rowCount() };
    await audit.accompany({ context, request, runsAgain }, operation, facts, send);
  }
}

/**
 * Notes the operation of a request. Anybody may write anything as the name of an operation, a donor's name too: the names of trusted
 * documents alone become labels of metrics, and only members, whom an operator has let in, have theirs in the log. Others are named by the
 * field of the schema that they ask for.
 */
function noteOperation(record: RequestRecord, { outcome, access }: GraphqlContext): void {
  const { asked, budget, cost, codes = [] } = outcome;
  record.cost = budget?.refusal ? 0 : (cost?.cost ?? 0);
  for (const code of codes) record.addCode(code);
  if (!asked) return;
  const { name, isTrusted, operation } = asked;
  const fields = new Set(operation.selectionSet.selections.map((each) => (each.kind === Kind.FIELD ? each.name.value : SEVERAL)));
  const [field = SEVERAL] = fields.size === 1 ? fields : [];
  record.label = isTrusted && name !== '' ? name : field;
  record.operation = access.caller.identity?.isMember && name !== '' ? name.slice(0, MAX_NAME_LENGTH) : record.label;
}

/** A report that failed before its first row. Nothing of the answer has been sent, so the rest of it can still be. */
export class FailedRows extends Error {
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

/** The error of a whole request. Its status is sent only with the newer media type (GraphQL over HTTP, section 6.4). */
function toRequestError(error: AppError, request: Request): GraphQLError {
  const status = error.graphqlStatus ?? (request.accepts(MEDIA_TYPES) === RESPONSE_JSON ? error.status : 200);
  const headers = new HeaderMap();
  if (error.retryAfterSeconds !== undefined) headers.set('retry-after', String(error.retryAfterSeconds));
  return new GraphQLError(error.message, { originalError: error, extensions: { http: { status, headers } } });
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
