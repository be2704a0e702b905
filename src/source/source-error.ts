import { OperatorError } from '../errors';

/** The reason why a v2 service gave no report. The message repeats no credential and no line. */
export class SourceError extends OperatorError {
  constructor(
    message: string,
    readonly options: {
      /** True when the same request may succeed later. */
      readonly isPassing: boolean;
      /** The milliseconds that the service asks to wait. */
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
  }
}
