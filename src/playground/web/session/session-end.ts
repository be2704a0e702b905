const MS_PER_MINUTE = 60_000;

/** The gateway tells its time in whole seconds, and the database may be a little ahead of it. */
const TOLERANCE_MS = 2_000;

/** The ends of a session by the clock of this browser, whatever time that shows. */
export interface SessionEnds {
  /** The time without a request after which the session ends. */
  readonly idleMs: number;
  /** The latest end, in milliseconds as Date.now() has them. */
  readonly latestEnd: number;
}

/** Reads the ends from an answer that the gateway sent at a time of its own clock. */
export function readEnds(
  { sessionIdleExpiresAt, sessionExpiresAt }: { readonly sessionIdleExpiresAt: string; readonly sessionExpiresAt: string },
  sentAt: number,
): SessionEnds {
  // The gateway notes a use once a minute at most, so the rest is up to a minute short of the whole time. A page that asks before the end
  // would move it, and the session would never end.
  const rest = Date.parse(sessionIdleExpiresAt) - sentAt - TOLERANCE_MS;
  return {
    idleMs: Math.ceil(rest / MS_PER_MINUTE) * MS_PER_MINUTE,
    latestEnd: Date.now() + Date.parse(sessionExpiresAt) - sentAt,
  };
}

/** True when a session that was last used at a time has ended. */
export const isOver = ({ idleMs, latestEnd }: SessionEnds, lastUse: number): boolean => Date.now() >= Math.min(lastUse + idleMs, latestEnd);
