import type { HTTPGraphQLResponse } from '@apollo/server';
import type { Request } from 'express';
import type { ReadRange } from '../../domain/audit/audit-service';
import { toAppError } from '../../errors';
import type { AnswerPiece } from '../../http/row-sender';
import { toStatus } from './answer-status';
import { writeRequestId } from './error-format';
import type { InsertedRows, Path } from './insertions';
import { toFacts, toReadRange, type OperationFacts } from '../documents/operation-facts';
import type { GraphqlContext } from './row-field';

/** An answer that is ready to be sent. */
export interface ReadyAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly pieces: readonly AnswerPiece[];
  /** Undefined when no operation was found. */
  readonly facts: OperationFacts | undefined;
  /** The range of the operation. It is asked for when the operation reads personal data. */
  readonly range: () => ReadRange;
}

/** A report that failed before its first row. Nothing of the answer has been sent, so the rest of it can still be. */
export class FailedRows extends Error {
  constructor(
    override readonly cause: unknown,
    /** The paths of the lists that are null now. */
    readonly paths: readonly Path[],
    /** The status of the answer without this failure. */
    readonly status: number,
    /** The answer with null in place of each of them. */
    readonly readRest: () => { readonly data: object; readonly errors?: readonly object[] },
  ) {
    super('The rows broke off', { cause });
  }
}

/** Apollo's answer, with the lists that the gateway writes itself in their places. */
export function toReadyAnswer(
  { status = 200, headers, body }: HTTPGraphQLResponse,
  { insertions, requestId, outcome }: GraphqlContext,
  request: Request,
): ReadyAnswer {
  if (body.kind !== 'complete') throw new Error('The answer of an operation is one piece');
  const text = writeRequestId(body.string, requestId);
  const { asked, codes = codesOf(text), data } = outcome;
  const answerStatus = toStatus(status, request, { codes, data });
  const paths: Path[] = [];
  const readRest = () => JSON.parse(insertions!.fill(text, () => ['null']).join('')) as ReturnType<FailedRows['readRest']>;
  const pieces = insertions!.fill(text, ({ path, content }): AnswerPiece[] => {
    paths.push(path);
    return ['[', readRows(content, (error) => new FailedRows(error, paths, answerStatus, readRest)), ']'];
  });
  return {
    status: answerStatus,
    headers: [...headers].filter(([name]) => name !== 'content-length'),
    pieces,
    facts: asked && toFacts(asked),
    range: () => toReadRange(asked!),
  };
}

/** The code of an answer to a request that was refused before an operation was looked for. */
const codesOf = (text: string): string[] => /"code":"([A-Z_]+)"/.exec(text)?.slice(1) ?? [];

/** The rows of a field, with the error that `toFailure` makes of one that they throw. */
async function* readRows({ rows, template }: InsertedRows, toFailure: (error: unknown) => FailedRows): AsyncGenerator<Buffer> {
  try {
    yield* rows.bytes(template);
  } catch (error) {
    throw toFailure(toAppError(error));
  }
}
