import type { UsageCounter } from '../domain/access/usage-counter';
import type { RequestObserver } from './request-log';

const FIRST_ERROR = 400;

/** Counts v2 requests whose provision was valid, when their answers have ended. */
export const countUsage =
  (counter: UsageCounter): RequestObserver =>
  ({ door, path, userAgent, lines, access, receivedAt }, { status = FIRST_ERROR, isWhole }) => {
    const provisionId = door === 'v2' ? access?.caller.identity?.provisionId : undefined;
    if (provisionId === undefined) return;
    const isError = status >= FIRST_ERROR || !isWhole;
    counter.count({ provisionId, path, userAgent, lines: lines?.total ?? 0, isError, at: receivedAt.getTime() });
  };
