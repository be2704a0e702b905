import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { OperatorError } from '../../errors';
import { decodeText } from '../../formats/import-format';
import type { RawLine } from '../../formats/import-line';
import { readResponse, type AnswerFrame } from '../../formats/response-reader';
import { SourceError } from '../../source/source-error';
import { findErrorText, passingTexts } from '../../source/v2-source';
import { readRetryAfter, withoutPages, type SourceCredentials, type V2Client } from '../../source/v2-client';
import { toCents, toMoney } from '../../values/money';
import { NoReport } from './line-pairs';
import { isReport, provisions, type Question } from './question';
import type { Side } from './verdict';

/** One of the two services. */
export interface Service {
  readonly client: V2Client;
  readonly credentials: SourceCredentials;
}

/** The headers whose values callers may rely on. */
const HEADERS = ['content-type', 'content-disposition', 'www-authenticate'] as const;
/** The statuses of a proxy, and of a service that asks to come again. */
const PASSING = [408, 425, 429, 502, 503, 504];
/** No answer without lines is longer. */
const MAX_BODY_BYTES = 1_000_000;

/** The answer of a service to one question. Its lines are read as they come. */
export interface Answer {
  readonly status: number;
  /** The headers that matter. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body of an answer without lines. The service's own provision in it has the same name for both. */
  readonly body: string;
  /** The lines of a report. */
  readonly lines: LineReader | undefined;
  readonly version: string | undefined;
  /** Leaves what has not been read. */
  drop(): void;
}

/** Asks a service. Throws a SourceError when there is no answer that could be compared. */
export async function ask({ client, credentials }: Service, question: Question): Promise<Answer> {
  const { path, query, provision, hasSession } = question;
  const limit = client.limit();
  const { signal } = limit;
  const sent = provision === 'given' ? credentials.provision : provisions[provision];
  try {
    const response = await client.ask({
      path: query === '' ? path : `${path}?${query}`,
      credentials: { ...(sent !== undefined && { provision: sent }), ...(hasSession && { cookie: credentials.cookie }) },
      signal,
    });
    const status = response.statusCode!;
    if (PASSING.includes(status)) {
      response.destroy();
      throw new SourceError(`The answer is ${status}`, { isPassing: true, retryAfterMs: readRetryAfter(response) });
    }
    const hasLines = isReport(question) && status === 200;
    const body = hasLines ? '' : await readBody(client.bodyOf(response));
    const passing = passingTexts.find((text) => findErrorText(body) === text);
    if (passing !== undefined) throw new SourceError(`The answer is ${status}: ${passing}`, { isPassing: true });
    const isAllowed = provision === 'given' && hasSession;
    if (status === 200 && isAllowed && body.trimStart().startsWith('<')) throw new SourceError(PAGE, { isPassing: false });
    const version = response.headers['x-data-version'];
    return {
      status,
      headers: Object.fromEntries(HEADERS.map((name) => [name, toHeader(response, name)])),
      body: withoutProvision(body, credentials.provision),
      lines: hasLines ? new LineReader(response, client, signal, isAllowed) : undefined,
      version: typeof version === 'string' ? version : undefined,
      // A short answer is complete before anybody has read it, and then holds its connection.
      drop: () => {
        limit.end();
        if (!response.readableEnded) response.destroy();
      },
    };
  } catch (error) {
    limit.end();
    throw client.toSourceError(error, signal);
  }
}

const PAGE = 'The answer is a web page, such as that of a login';

/** The body with one name in the place of the provision, which the services have different ones of, and another one where its letters differ. */
function withoutProvision(body: string, provision: string): string {
  return body
    .replaceAll(provision, '‹provision›')
    .replaceAll(new RegExp(provision.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi'), '‹provision in other letters›');
}

/** A header as callers read it: the letters and the white space of a content type do not matter. */
function toHeader({ headers }: IncomingMessage, name: (typeof HEADERS)[number]): string | undefined {
  const value = headers[name]?.toString();
  return name === 'content-type' ? value?.toLowerCase().replace(/\s+/g, '') : value;
}

async function readBody(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_BODY_BYTES) throw new SourceError('The answer is too long for one without lines', { isPassing: false });
  }
  const whole = Buffer.concat(pieces);
  // Other bytes must neither become one replacement character nor equal the same text in UTF-8.
  return isUtf8(whole) ? whole.toString() : `‹not UTF-8› ${whole.toString('latin1')}`;
}

/** The text of an answer around its lines. */
class Frame implements AnswerFrame {
  /** The text before `since` that is too long to keep. */
  private readonly hash = createHash('sha256');
  private isLong = false;
  /** The text before the first line, and that since the last one. */
  private head: string | undefined;
  private since = '';
  /** The texts between two lines, which mostly are one. */
  private readonly between = new Set<string>();

  add(character: string): void {
    this.since += character;
    if (this.since.length < MAX_FRAME_LENGTH) return;
    this.hash.update(this.since);
    this.since = '';
    this.isLong = true;
  }

  passLine(): void {
    if (this.head === undefined) this.head = this.since;
    else if (this.between.size < MAX_SEPARATORS) this.between.add(this.since);
    this.since = '';
  }

  /** The answer as if it had no lines; undefined where that is too long to compare. */
  get text(): string | undefined {
    return this.isLong ? undefined : `${this.head ?? ''}${this.since}`;
  }

  /** The SHA-256 of a text that is too long to compare. */
  get digest(): string {
    return this.hash
      .copy()
      .update(`${this.head ?? ''}${this.since}`)
      .digest('hex');
  }

  get separators(): string {
    return [...this.between].sort().join('|');
  }
}

/** The byte order marks of UTF-8 and UTF-16, byte by byte. */
const MARKS = ['\u00ef\u00bb\u00bf', '\u00ff\u00fe', '\u00fe\u00ff'];
const MARK_LENGTH = 3;
const MAX_FRAME_LENGTH = 65_536;
const MAX_SEPARATORS = 10;
/** The amount in the text of a line. No other text has a name between two bare quotation marks. */
const AMOUNT = /"amount"\s*:\s*"([^"]*)"/;

/** Reads the lines of a report as they come, and sums them up. */
export class LineReader {
  private readonly frame = new Frame();
  private readonly hash = createHash('sha256');
  private batches: AsyncIterator<readonly RawLine[]> | undefined;
  private batch: readonly RawLine[] = [];
  private at = 0;
  private cents: bigint | undefined = 0n;
  private start = Buffer.alloc(0);
  private ended: string | undefined;
  lines = 0;

  constructor(
    private readonly response: IncomingMessage,
    private readonly client: V2Client,
    private readonly signal: AbortSignal,
    /** True where a web page stands for the login of a session that has ended. */
    private readonly isAllowed: boolean,
  ) {}

  /**
   * True when another line stands next, which `take` then takes. Throws a SourceError for an answer that is not whole, and a NoReport for one
   * that is no report.
   */
  async fill(): Promise<boolean> {
    while (this.at === this.batch.length) {
      // The time of a stall begins with the reading: the other service may take long to its first byte.
      this.batches ??= readResponse(decodeText(this.hashed()), this.frame)[Symbol.asyncIterator]();
      const next = await this.batches.next().catch((error: unknown) => this.fail(error));
      if (next.done) {
        if (!this.response.complete) throw new SourceError('The answer breaks off', { isPassing: true });
        return false;
      }
      this.addUp(next.value);
      this.batch = next.value;
      this.at = 0;
    }
    return true;
  }

  /** True when `take` can take a line without waiting. */
  get isFilled(): boolean {
    return this.at < this.batch.length;
  }

  take(): RawLine {
    return this.batch[this.at++]!;
  }

  /** The text around the lines, after the last one; undefined where it is too long to compare. */
  get frameText(): string | undefined {
    return this.frame.text;
  }

  get frameDigest(): string {
    return this.frame.digest;
  }

  get separators(): string {
    return this.frame.separators;
  }

  /** The sums of all lines, after the last one. */
  get sums(): Required<Pick<Side, 'lines' | 'amount' | 'digest'>> {
    return { lines: this.lines, amount: this.cents === undefined ? null : toMoney(this.cents), digest: this.digest };
  }

  /** The mark of the encoding that the answer begins with; empty for plain UTF-8. */
  get mark(): string {
    return MARKS.find((mark) => this.start.toString('latin1').startsWith(mark)) ?? '';
  }

  /** The SHA-256 of the whole answer without its coding, after the last line. */
  get digest(): string {
    return (this.ended ??= this.hash.digest('hex'));
  }

  private async *hashed(): AsyncGenerator<Buffer> {
    const body = this.client.bodyOf(this.response);
    for await (const piece of (this.isAllowed ? withoutPages(body, false) : body) as AsyncIterable<Buffer>) {
      if (this.start.length < MARK_LENGTH)
        this.start = Buffer.concat([this.start, piece.subarray(0, MARK_LENGTH)]).subarray(0, MARK_LENGTH);
      this.hash.update(piece);
      yield piece;
    }
  }

  private addUp(batch: readonly RawLine[]): void {
    this.lines += batch.length;
    if (batch.length === 0) return;
    if (batch.some(({ text }) => text === undefined)) throw new NoReport('The answer has a line that is no object');
    for (const { text } of batch) {
      if (this.cents === undefined) return;
      const cents = toCents(AMOUNT.exec(text!)?.[1] ?? '');
      this.cents = cents === undefined ? undefined : this.cents + cents;
    }
  }

  private fail(error: unknown): never {
    const isOfText = error instanceof OperatorError && !(error instanceof SourceError);
    // Without a length, a connection that breaks off looks like the end of a text.
    if (isOfText && !CUT.test(error.message)) throw new NoReport(error.message.replace(/^The file/, 'The answer'), { cause: error });
    throw this.client.toSourceError(error, this.signal);
  }
}

const CUT = /breaks off|ends within/;
