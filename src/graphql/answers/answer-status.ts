import type { Request } from 'express';
import { requestFaultTable } from '../../errors';

export const RESPONSE_JSON = 'application/graphql-response+json; charset=utf-8';
/** The media types of answers, as Apollo Server offers them: a client may ask for them with their charset or without. */
export const MEDIA_TYPES = ['application/json; charset=utf-8', RESPONSE_JSON];

/** True for a client that wants an answer in the media type whose statuses GraphQL over HTTP defines. */
export const wantsResponseJson = (request: Request): boolean => request.accepts(MEDIA_TYPES) === RESPONSE_JSON;

/**
 * True for a client that accepts application/json and not the newer media type. It takes any status but 200 for a failure of the transport,
 * and does not read the errors then.
 */
const wantsPlainJsonAlone = ({ headers: { accept = '' } }: Request): boolean =>
  /\bapplication\/json\b/i.test(accept) && !accept.includes('graphql-response+json');

const OK = 200;
const BAD_REQUEST = 400;
export const UNPROCESSABLE = 422;
/** "Partial Success" has data and errors. GraphQL over HTTP has chosen the number itself, for its own media type alone. */
export const PARTIAL_SUCCESS = 294;

const faultStatuses: Readonly<Record<string, { readonly status: number }>> = requestFaultTable;

/** The parts of an answer by which its status is chosen. */
interface AnswerContent {
  /** The codes of its errors. */
  readonly codes: readonly unknown[];
  /** Undefined for an answer to a request of which nothing was executed. */
  readonly data: unknown;
}

/** Chooses the status of an answer for its client, where Apollo Server has chosen one for all (GraphQL over HTTP, section Status Codes). */
export function toStatus(chosen: number, request: Request, { codes, data }: AnswerContent): number {
  if (codes.length === 0) return chosen;
  const fault = data == null ? faultStatuses[String(codes[0])] : undefined;
  if (!wantsResponseJson(request)) return fault && wantsPlainJsonAlone(request) ? OK : chosen;
  // An error of the whole request that has a status for every client, such as 429, keeps it while there is no data.
  if (data !== undefined) return data !== null || chosen === OK ? PARTIAL_SUCCESS : chosen;
  // JSON that is no request, such as variables in a list. The parser of bodies has refused what is no JSON.
  if (codes[0] === 'BAD_REQUEST' && chosen === BAD_REQUEST) return UNPROCESSABLE;
  return fault?.status ?? chosen;
}
