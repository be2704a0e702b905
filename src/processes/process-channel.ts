import { AppError, type ErrorCode } from '../errors';

/** A message between the primary and a worker: a notice, a question with the number of its answer, or an answer. All are JSON. */
type ChannelMessage =
  | { readonly channel: 'notice'; readonly topic: string; readonly body: unknown }
  | { readonly channel: 'question'; readonly topic: string; readonly body: unknown; readonly number: number }
  | { readonly channel: 'answer'; readonly number: number; readonly value?: unknown; readonly error?: SentError };

/** An error that the other process has thrown: a row of the table of errors, and the reason for the log. */
interface SentError {
  readonly code: ErrorCode | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly reason: string;
}

/** A question that is not answered yet. */
interface OpenQuestion {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A function that takes the body of a message, of the type that its sender gives it. */
type Handler = (body: never) => unknown;

/** The reason of an error of the other process. Its name tells it from errors of this one. */
class OtherProcessError extends Error {
  override readonly name = 'OtherProcessError';
}

/**
 * One end of the channel between the primary and a worker. Either end sends notices and asks questions, in the order in which they are
 * sent. A channel that is closed rejects all questions that are open.
 */
export class ProcessChannel {
  private readonly handlers = new Map<string, Handler>();
  private readonly questions = new Map<number, OpenQuestion>();
  private readonly closing = new AbortController();
  private lastNumber = 0;

  constructor(private readonly send: (message: object) => void) {}

  /** Aborts when the channel is closed. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Sets the handler of the notices or the questions of a topic. The value that is returned, or its promise, is the answer. */
  handle(topic: string, handler: Handler): void {
    this.handlers.set(topic, handler);
  }

  /** Sends a message that has no answer. Nothing happens on a closed channel. */
  tell(topic: string, body: unknown = null): void {
    this.sendMessage({ channel: 'notice', topic, body });
  }

  /** Resolves to the other end's answer. Throws the AppError that it threw, or an Error when the channel is closed. */
  ask<Answer>(topic: string, body: unknown = null): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.closed.aborted) {
        reject(this.closed.reason as Error);
        return;
      }
      const number = ++this.lastNumber;
      this.questions.set(number, { resolve: resolve as (value: unknown) => void, reject });
      this.sendMessage({ channel: 'question', topic, body, number });
    });
  }

  /** Handles a message of the other process. One that is of no channel is left to others. */
  receive(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('channel' in message)) return;
    const received = message as ChannelMessage;
    if (received.channel === 'answer') this.settle(received);
    else if (received.channel === 'question') void this.answer(received);
    else this.handlers.get(received.topic)?.(received.body as never);
  }

  /** Closes this end, because the other process has ended or does not answer, as the reason says. */
  close(why: string): void {
    if (this.closed.aborted) return;
    const reason = new Error(why);
    this.closing.abort(reason);
    for (const { reject } of this.questions.values()) reject(reason);
    this.questions.clear();
  }

  private async answer({ topic, body, number }: Extract<ChannelMessage, { channel: 'question' }>): Promise<void> {
    try {
      const value = await this.handlers.get(topic)?.(body as never);
      this.sendMessage({ channel: 'answer', number, value: value ?? null });
    } catch (error) {
      this.sendMessage({ channel: 'answer', number, error: toSentError(error) });
    }
  }

  private settle({ number, value, error }: Extract<ChannelMessage, { channel: 'answer' }>): void {
    const question = this.questions.get(number);
    this.questions.delete(number);
    if (error) question?.reject(toError(error));
    else question?.resolve(value);
  }

  private sendMessage(message: ChannelMessage): void {
    if (!this.closed.aborted) this.send(message);
  }
}

function toSentError(error: unknown): SentError {
  const { code, retryAfterSeconds } = error instanceof AppError ? error : { code: undefined, retryAfterSeconds: undefined };
  const cause = error instanceof AppError ? error.cause : error;
  return { code, retryAfterSeconds, reason: cause instanceof Error ? cause.message : '' };
}

function toError({ code, retryAfterSeconds, reason }: SentError): Error {
  const cause = new OtherProcessError(reason);
  return code === undefined ? cause : new AppError(code, { cause, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
}
