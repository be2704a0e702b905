import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchViewer, isElsewhere, login, logout, type Viewer } from './gateway-client';
import { loadProvision, saveOrganization, saveProvision } from './provision-setting';
import { isOver } from './session-end';
import { SESSION_CHANNEL, type SessionSignal } from './session-signal';

interface SessionState {
  readonly provision: string;
  /** The user who is logged in under the Provision; undefined for nobody, and until the gateway has answered. */
  readonly viewer: Viewer | undefined;
  /** A key of the user whose results the page may show: empty for nobody, undefined until the gateway's first answer. */
  readonly owner: string | undefined;
  /** The last error's message, for the page to show. */
  readonly problem: string | undefined;
}

interface Session extends SessionState {
  readonly isBusy: boolean;
  readonly changeProvision: (provision: string) => void;
  /** Logs in under a Provision, which becomes that of the page. */
  readonly login: (provision: string, username: string, password: string) => void;
  readonly logout: () => void;
  /**
   * Asks the gateway who is logged in, after a request that has failed: the session may have ended. The part of the page that sent the request
   * has told of the failure, which is not told again.
   */
  readonly check: () => void;
}

/** Hears what any tab learns of the session. A message that is sent by it goes to the other tabs alone. */
const otherTabs = new BroadcastChannel(SESSION_CHANNEL);
const tellOtherTabs = (signal: SessionSignal): void => otherTabs.postMessage(signal);

/** The pause between two looks at the clock. A timer until the end would stand still while a computer sleeps. */
const TICK_MS = 1_000;
const ENDED = 'Your session has ended. Log in again.';

type Outcome = Partial<SessionState>;
type Transition = (before: SessionState) => Outcome;

/** Keeps the Provision and the login under it. The session itself is an HttpOnly cookie, which the page cannot read. */
export function useSession(): Session {
  const [state, setState] = useState<SessionState>(() => ({
    provision: loadProvision(),
    viewer: undefined,
    owner: undefined,
    problem: undefined,
  }));
  const [pending, setPending] = useState(0);
  const queue = useRef(Promise.resolve());
  const { provision } = state;

  // Requests run one at a time, in order: the slow answer to an earlier request must not undo a login.
  const enqueue = useCallback(
    (request: () => Promise<Transition>, onFault = toProblem) => {
      const run = async (): Promise<void> => {
        const transition = await request().catch(onFault);
        setState((before) => (before.provision === provision ? { ...before, ...transition(before) } : before));
      };
      queue.current = queue.current.then(run);
      return queue.current;
    },
    [provision],
  );
  // The page is busy with a login or a logout only. A browser ignores Enter in a form whose button is disabled, so the button stays enabled
  // while the gateway is asked who is logged in.
  const act = (request: () => Promise<Transition>): void => {
    setPending((count) => count + 1);
    void enqueue(request).then(() => setPending((count) => count - 1));
  };

  useEffect(() => {
    saveProvision(provision);
    void enqueue(async () => {
      // The gateway refuses every request without a Provision.
      const user = provision === '' ? undefined : await fetchViewer(provision);
      return (before) => (user ? loggedIn(user) : { owner: before.owner ?? '' });
    });
  }, [provision, enqueue]);

  const ask = useCallback(
    (onFault?: typeof toProblem) => {
      void enqueue(async () => {
        const user = await fetchViewer(provision);
        if (user) return () => loggedIn(user);
        // An empty owner removes the rows that the ended session had loaded.
        return (before) => ({ viewer: undefined, owner: '', problem: before.viewer ? ENDED : before.problem });
      }, onFault);
    },
    [provision, enqueue],
  );
  // The session may change without this page, for instance in another tab.
  const refresh = useCallback(() => ask(), [ask]);
  const check = useCallback(() => ask((error) => (isElsewhere(error) ? toProblem(error) : () => ({}))), [ask]);
  const { viewer } = state;
  const isLoggedIn = viewer !== undefined;
  const lastUse = useRef(0);
  useEffect(() => {
    if (!isLoggedIn) return undefined;
    // Rows must leave a tab that is in sight as soon as somebody logs out in another one, or an answer says that the session has ended.
    const hear = ({ data }: MessageEvent<SessionSignal>): void => {
      if (data === 'used') lastUse.current = Date.now();
      else refresh();
    };
    otherTabs.addEventListener('message', hear);
    window.addEventListener('focus', refresh);
    return () => {
      otherTabs.removeEventListener('message', hear);
      window.removeEventListener('focus', refresh);
    };
  }, [isLoggedIn, refresh]);
  useEffect(() => {
    if (!viewer) return undefined;
    lastUse.current = Date.now();
    const timer = setInterval(() => {
      if (!isOver(viewer.ends, lastUse.current)) return;
      // The gateway is not asked: it may be out of reach, and a question would prolong a session that has a moment left.
      setState((before) => ({ ...before, viewer: undefined, owner: '', problem: ENDED }));
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [viewer]);

  return {
    ...state,
    isBusy: pending > 0,
    // This removes the viewer too: the schema must not be fetched under a new Provision before its login is known.
    changeProvision: (next) => {
      setState((before) => (before.provision === next ? before : { ...before, provision: next, viewer: undefined, problem: undefined }));
    },
    login: (next, username, password) => {
      act(async () => {
        const user = await login(next, username, password);
        tellOtherTabs('login');
        if (user.hasPublicProvision) saveOrganization({ name: user.organization, provision: next });
        return () => ({ provision: next, ...loggedIn(user) });
      });
    },
    logout: () => {
      act(async () => {
        await logout(provision);
        tellOtherTabs('logout');
        return () => ({ viewer: undefined, owner: '', problem: undefined });
      });
    },
    check,
  };
}

function loggedIn(viewer: Viewer): Outcome {
  return { viewer, owner: JSON.stringify([viewer.organization, viewer.username]), problem: undefined };
}

function toProblem(error: unknown): Transition {
  const problem = error instanceof Error ? error.message : String(error);
  // A login under another Provision has ended the one whose rows the page shows.
  if (isElsewhere(error)) return () => ({ viewer: undefined, owner: '', problem });
  return (before) => ({ owner: before.owner ?? '', problem });
}
