/** The channel of all tabs, which share the session's cookie. */
export const SESSION_CHANNEL = 'deposit-gateway.session';

/**
 * `used`: a request has moved the idle end of the session. `lost`: an answer says that nobody is logged in under its Provision.
 * `login` and `logout`: another tab has changed the session.
 */
export type SessionSignal = 'used' | 'lost' | 'login' | 'logout';

let channel: BroadcastChannel | undefined;

/** Tells every tab, this one too. Workers send requests of their own, so they tell as well. */
export function signalSession(signal: SessionSignal): void {
  channel ??= new BroadcastChannel(SESSION_CHANNEL);
  channel.postMessage(signal);
}
