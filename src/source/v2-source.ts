import type { IncomingMessage } from 'node:http';
import { errorTable } from '../errors';
import { readImportLines } from '../formats/import-format';
import type { RawLine } from '../formats/import-line';
import type { PeriodDates } from '../values/periods';
import { SourceError } from './source-error';
import { readRetryAfter, V2Client, withoutPages, type ClientOptions, type SourceCredentials } from './v2-client';

export interface SourceOptions extends SourceCredentials, ClientOptions {}

export interface ReportQuery extends PeriodDates {
  readonly includePending: boolean;
}

export const REPORT = 'deposit_detail_designation_detail_with_contact_info';
/** The length of an error's body that is read. */
const MAX_ERROR_BYTES = 16_384;
/** The statuses after which the same request may succeed: those of the contract for a data source that is away, and of proxies. */
const PASSING = [404, 408, 425, 429, 500, 502, 503, 504];
/** The texts of errors that are repeated. Another one may have a credential or a donor's data. */
export const knownTexts: readonly string[] = Object.values(errorTable).map(({ text }) => text);
/** The texts of the contract for parameters that are wrong (section 4.3). */
export const parameterTexts: readonly string[] = [errorTable.INVALID_PARAMETERS.text, errorTable.START_DATE_AFTER_END_DATE.text];
/** The texts of the contract that come with status 422 and pass (section 7). */
export const passingTexts: readonly string[] = [errorTable.UNDER_MAINTENANCE.text, errorTable.ESTABLISHING_SESSION_FAILED.text];

/** The report of an old service that answers v2. */
export class V2Source {
  private readonly client: V2Client;

  constructor(private readonly options: SourceOptions) {
    this.client = new V2Client(options);
  }

  /**
   * Asks for the report, and again when that may help: after a while that doubles, or as long as the service asks for. `use` gets the lines
   * of each attempt from the first on. Throws a SourceError.
   */
  async read<Result>(query: ReportQuery, use: (lines: AsyncIterable<readonly RawLine[]>) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await use(this.lines(query));
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        await this.waitAfter(error, attempt);
      }
    }
  }

  /** Waits before another attempt. Throws the error when none may help, or when there were enough. */
  waitAfter(error: SourceError, attempt: number): Promise<void> {
    return this.client.waitAfter(error, attempt);
  }

  /** The lines of one answer, as they come. Throws a SourceError when the answer is not whole. */
  async *lines(query: ReportQuery): AsyncGenerator<readonly RawLine[]> {
    const { signal, end } = this.client.limit();
    try {
      const response = await this.client.ask({ path: toReportPath(query), credentials: this.options, signal });
      if (response.statusCode !== 200) throw await this.toRefusal(response);
      yield* readImportLines('json', withoutPages(this.client.bodyOf(response)));
      if (!response.complete) throw new SourceError('The answer breaks off', { isPassing: true });
    } catch (error) {
      throw this.client.toSourceError(error, signal);
    } finally {
      end();
    }
  }

  close(): void {
    this.client.close();
  }

  private async toRefusal(response: IncomingMessage): Promise<SourceError> {
    const status = response.statusCode!;
    // A refusal whose body cannot be read is one all the same.
    const text = await this.readErrorText(response).catch(() => undefined);
    const isPassing = PASSING.includes(status) || (text !== undefined && passingTexts.includes(text));
    return new SourceError(`The answer is ${status}${text === undefined ? '' : `: ${text}`}`, {
      isPassing,
      retryAfterMs: readRetryAfter(response),
    });
  }

  /** The text of an error of the contract (sections 2.3 and 7); undefined for any other body. */
  private async readErrorText(response: IncomingMessage): Promise<string | undefined> {
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of this.client.bodyOf(response) as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length > MAX_ERROR_BYTES) return undefined;
    }
    const text = findErrorText(Buffer.concat(pieces).toString());
    return text !== undefined && knownTexts.includes(text) ? text : undefined;
  }
}

export function toReportPath({ startDate, endDate, includePending }: ReportQuery): string {
  const query = new URLSearchParams({ start_date: startDate, end_date: endDate, include_pending: String(includePending) });
  return `${REPORT}?${query.toString()}`;
}

/** The text of the first error in a body of the contract; undefined for any other body. */
export function findErrorText(body: string): string | undefined {
  try {
    const { errors } = JSON.parse(body) as { errors?: readonly { error?: unknown }[] };
    const text = errors?.[0]?.error;
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
