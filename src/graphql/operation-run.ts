import { HeaderMap, type ApolloServer } from '@apollo/server';
import type { Request, Response } from 'express';
import { GraphQLError } from 'graphql';
import type { RequestAccess } from '../domain/access/access-service';
import type { BudgetService } from '../domain/access/budget-service';
import { AppError, InputError } from '../errors';
import { nameDataVersion, setDataVersion, setServerTiming, type DoorKit } from '../http/door-kit';
import { searchOf } from '../http/operation-request';
import { recordOf, type RequestRecord } from '../http/request-record';
import { sendRows, toContentCoding, type AnswerPiece } from '../http/row-sender';
import { wantsResponseJson } from './answers/answer-status';
import type { CheckedDocuments } from './documents/checked-documents';
import { Insertions } from './answers/insertions';
import { repeatAnswer, type KeptAnswers } from './answers/kept-answers';
import { loopTurns } from './answers/loop-turns';
import { spendBudget } from './answers/operation-budget';
import type { OperationFacts } from './documents/operation-facts';
import { FailedRows, toReadyAnswer, type ReadyAnswer } from './answers/ready-answer';
import { NO_RANGE, type ReadRange } from '../domain/audit/audit-service';
import type { RequestContext } from '../resolvers/request/request-context';
import type { GraphqlContext } from './answers/row-field';
import { toApolloBody, toApolloSearch } from './documents/trusted-documents';

const JSON_TYPE = 'application/json';

/** The longest part of an operation's name in the log. */
const MAX_NAME_LENGTH = 64;

/**
 * The most times that an operation runs again because the books have changed under it, or because a replica has failed. When its rows break
 * off before any of the answer has left, it runs once more.
 */
const MAX_RERUNS = 2;

export interface RunParts {
  readonly apollo: ApolloServer<GraphqlContext>;
  readonly documents: CheckedDocuments;
  readonly kit: DoorKit;
  readonly budgets: BudgetService;
  /** Undefined where no answers are kept. */
  readonly keptAnswers: KeptAnswers | undefined;
}

/** An operation that another door asks for, in the place of its request's own. */
export interface GivenOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Makes the door's own checks, which hold for as long as the operation runs. Throws an AppError. */
  readonly authorize: (access: RequestAccess) => Promise<unknown>;
}

/** The whole answer to an operation, for the door that sends it. */
export interface CollectedAnswer {
  /** The answer as JSON. */
  readonly text: string;
  readonly context: RequestContext;
  /** SHA-256 of the document's text; null when no operation was found. */
  readonly hash: string | null;
  readonly range: () => ReadRange;
  /** The first refusal for lack of a privilege. */
  readonly refusal: AppError | undefined;
  /** The seconds after which the caller should try again; undefined where waiting does not help. */
  readonly retryAfterSeconds: number | undefined;
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
    private readonly given?: GivenOperation,
  ) {
    this.opened = { ...parts.kit.openRequest(request, response), insertions: new Insertions(), outcome: {} };
  }

  /** The context of the present try. Its books must be closed in the end. */
  get context(): GraphqlContext {
    return this.opened;
  }

  /** Sends the answer to the operation, or the answer to a caller who is refused. */
  async answer(refusal: AppError | undefined): Promise<void> {
    const kept = refusal ? undefined : await this.findKept();
    if (kept) return this.send(kept, () => false);
    const answer = await this.settle(refusal);
    await this.parts.keptAnswers?.keep(this.request, this.opened, answer);
    await this.use(answer, refusal, (ready, runsAgain) => this.send(ready, runsAgain));
  }

  /**
   * Reads the whole answer to the operation. The door that sends it also notes it in the audit. Throws INVALID_PARAMETERS for an answer of
   * more bytes than these.
   */
  async collect(mostBytes: number): Promise<CollectedAnswer> {
    return this.use(await this.settle(undefined), undefined, async ({ pieces, facts, range, headers }) => {
      const text = await readText(pieces, mostBytes);
      const { opened: context } = this;
      if (context.books.haveSeveralVersions) throw new AppError('NO_DATA_SOURCE_CONNECTION', { retryAfterSeconds: 1 });
      const record = recordOf(this.response);
      noteOperation(record, context, facts);
      if (!facts) record.addCodes(text);
      const [, seconds] = headers.find(([name]) => name === 'retry-after') ?? [];
      return {
        ...{ text, context, hash: facts?.hash ?? null, refusal: context.outcome.refusal },
        range: facts ? range : () => NO_RANGE,
        retryAfterSeconds: seconds === undefined ? undefined : Number(seconds),
      };
    });
  }

  /** Closes the books of the present try. */
  close(): Promise<void> {
    return this.opened.books.close();
  }

  /** Uses an answer. Rows that broke off before any of it has left are read again with it, once. */
  private use<Value>(
    answer: ReadyAnswer,
    refusal: AppError | undefined,
    use: (answer: ReadyAnswer, runsAgain: () => boolean) => Promise<Value>,
  ): Promise<Value> {
    const { response } = this;
    const runsAgain = (): boolean => this.opened.books.areBroken && !response.headersSent && !response.destroyed;
    return use(answer, runsAgain).catch(async (error: unknown) => {
      if (!runsAgain()) throw error;
      return use(await this.executeAgain(true, refusal), () => false);
    });
  }

  /** Executes the operation until its answer is of one version of the books. */
  private async settle(refusal: AppError | undefined): Promise<ReadyAnswer> {
    let answer = await this.execute(refusal);
    for (let again = 1; again <= MAX_RERUNS && this.mustRunAgain; again++) {
      // Nothing is written twice, because no mutation reads the books. The first time the books have most likely come to rest. The last
      // time all is read from one snapshot of the primary, which takes a lane.
      answer = await this.executeAgain(again === MAX_RERUNS, refusal);
    }
    return answer;
  }

  /** True when the answer is not of one version, or its replica has failed, and somebody still waits for it. */
  private get mustRunAgain(): boolean {
    const { haveSeveralVersions, areBroken } = this.opened.books;
    return (haveSeveralVersions || areBroken) && !this.response.destroyed;
  }

  /** Returns the answer that is kept for the request. Its caller was then let in, has paid, and counts as a reader of its lines. */
  private async findKept(): Promise<ReadyAnswer | undefined> {
    const { request, response, opened: context } = this;
    const { budgets, keptAnswers } = this.parts;
    const { access, outcome, lines } = context;
    const kept = await keptAnswers?.find(request, access);
    if (!kept) return undefined;
    await spendBudget(context, { ...kept.cost, isMutation: false }, budgets, response).catch((error: unknown) => {
      if (!outcome.budget?.refusal) throw error;
    });
    // Apollo Server answers a caller who cannot pay, and who is then not asked to pay again.
    if (outcome.budget?.refusal) return undefined;
    await (kept.range ? access.authorizeDonors() : access.authorizeMember());
    outcome.cost = kept.cost;
    if (kept.lines !== null) lines.add(kept.lines);
    keptAnswers?.countRepeated();
    return repeatAnswer(kept);
  }

  private async execute(refusal: AppError | undefined): Promise<ReadyAnswer> {
    const { request, opened: context } = this;
    await this.given?.authorize(context.access);
    const answer = await this.parts.apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: toApolloRequest(request, this.given),
      context: async () => {
        if (refusal) throw toRequestError(refusal, request);
        await this.parts.documents.assertShort(this.given?.query ?? textOf(request));
        return context;
      },
    });
    const { books, insertions } = context;
    // Some versions show only at the end of a run: the one of its rows, and on a distributed database one that came meanwhile.
    if (!insertions?.haveRows) await books.end();
    else if (books.haveVersion) await books.openForRows();
    return toReadyAnswer(answer, context, request);
  }

  private async executeAgain(isHeld: boolean, refusal: AppError | undefined): Promise<ReadyAnswer> {
    const { books, outcome } = this.opened;
    await books.close();
    await loopTurns.next();
    const again = this.parts.kit.openRequest(this.request, this.response, isHeld, isHeld || books.areBroken);
    this.opened = { ...again, insertions: new Insertions(), outcome: { budget: outcome.budget } };
    return this.execute(refusal);
  }

  private async send(answer: ReadyAnswer, runsAgain: () => boolean): Promise<void> {
    const { request, response, opened: context } = this;
    const { facts } = answer;
    // Only rows that go on moving between the nodes of a database can have an answer come here.
    if (context.books.haveSeveralVersions) throw new AppError('NO_DATA_SOURCE_CONNECTION', { retryAfterSeconds: 1 });
    noteOperation(recordOf(response), context, facts);
    if (!facts) recordOf(response).addCodes(answer.pieces.filter((piece) => typeof piece === 'string').join(''));
    const setHeaders = (): void => {
      (facts?.isChange ? nameDataVersion : setDataVersion)(response, context);
      setServerTiming(response);
      response.status(answer.status);
      for (const [name, value] of answer.headers) response.set(name, value);
    };
    await this.audited(answer, (ready) =>
      sendRows(response, answer.pieces, {
        setHeaders,
        ready,
        readerPace: this.parts.kit.readerPace,
        signal: context.books.signal,
        coding: toContentCoding(request),
      }).catch(async (error: unknown) => {
        // The rest of the answer is sent with the error, and may be personal too.
        if (error instanceof FailedRows && !runsAgain()) {
          await ready;
          setHeaders();
        }
        throw error;
      }),
    );
  }

  /** Sends the answer while the audit notes that the operation reads personal data, and that a privilege was missing. */
  private async audited({ facts, range }: ReadyAnswer, send: (ready?: Promise<void>) => Promise<void>): Promise<void> {
    const { request, response, opened: context } = this;
    const { audit } = this.parts.kit;
    const { refusal } = context.outcome;
    if (!facts) return send();
    const operation = { door: 'graphql', name: facts.name, hash: facts.hash } as const;
    if (refusal) await audit.recordRefusal(context, operation, refusal);
    const lines = (): number | undefined => context.insertions?.rowCount();
    await audit.accompany({ context, request, response }, { operation, range, lines }, (reading) => send(reading?.written));
  }
}

/**
 * Notes the operation of a request. Only members, whom an operator has let in, have the name that they gave it in the log. Others are named
 * by the label.
 */
function noteOperation(record: RequestRecord, { outcome, access }: GraphqlContext, facts: OperationFacts | undefined): void {
  const { budget, cost, codes = [] } = outcome;
  record.cost = budget?.refusal ? 0 : (cost?.cost ?? 0);
  for (const code of codes) record.addCode(code);
  if (!facts) return;
  const { name, label } = facts;
  record.label = label;
  record.operation = access.caller.identity?.isMember && name !== '' ? name.slice(0, MAX_NAME_LENGTH) : label;
}

/** The error of a whole request. The status of the table is sent only with the newer media type. */
function toRequestError(error: AppError, request: Request): GraphQLError {
  const status = error.graphqlStatus ?? (wantsResponseJson(request) ? error.status : 200);
  const headers = new HeaderMap();
  if (error.retryAfterSeconds !== undefined) headers.set('retry-after', String(error.retryAfterSeconds));
  return new GraphQLError(error.message, { originalError: error, extensions: { http: { status, headers } } });
}

/** The operation's text, from the address of a GET or the body of a POST. */
const textOf = (request: Request): unknown =>
  request.method === 'GET'
    ? new URLSearchParams(searchOf(request)).get('query')
    : (request.body as { readonly query?: unknown } | undefined)?.query;

/** Reads an answer whose rows need not be sent at their reader's pace. Throws INVALID_PARAMETERS for one of more bytes than these. */
async function readText(pieces: readonly AnswerPiece[], mostBytes: number): Promise<string> {
  const read: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > mostBytes) throw new InputError(`the answer has more than ${mostBytes} bytes: ask for fewer rows`);
    read.push(part);
  };
  try {
    for (const piece of pieces) {
      if (typeof piece === 'string') add(Buffer.from(piece));
      else for await (const rows of piece) add(rows);
    }
  } catch (error) {
    throw error instanceof FailedRows ? error.cause : error;
  }
  return Buffer.concat(read).toString();
}

function toApolloRequest(request: Request, given: GivenOperation | undefined) {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (given) return { method: 'POST', headers: headers.set('accept', JSON_TYPE), search: '', body: given };
  return { method: request.method.toUpperCase(), headers, search: toApolloSearch(searchOf(request)), body: toApolloBody(request.body) };
}
