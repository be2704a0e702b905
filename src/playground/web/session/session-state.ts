import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchViewer, login, logout, type Viewer } from './gateway-client';
import { loadProvision, saveOrganization, saveProvision } from './provision-setting';

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
  /** Asks the gateway who is logged in. The session may change without this page, for instance in another tab. */
  readonly refresh: () => void;
}

/** All tabs share the session's cookie. A message says that it has changed; the tab that sends it does not get it. */
const otherTabs = new BroadcastChannel('deposit-gateway.session');

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
    (request: () => Promise<Transition>) => {
      const run = async (): Promise<void> => {
        const transition = await request().catch(toProblem);
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
      const viewer = provision === '' ? undefined : await fetchViewer(provision);
      return (before) => (viewer ? loggedIn(viewer) : { owner: before.owner ?? '' });
    });
  }, [provision, enqueue]);

  const refresh = useCallback(() => {
    void enqueue(async () => {
      const viewer = await fetchViewer(provision);
      if (viewer) return () => loggedIn(viewer);
      // An empty owner removes the rows that the ended session had loaded.
      return (before) => ({ viewer, owner: '', problem: before.viewer ? 'Your session has ended. Log in again.' : before.problem });
    });
  }, [provision, enqueue]);
  const isLoggedIn = state.viewer !== undefined;
  useEffect(() => {
    if (!isLoggedIn) return undefined;
    // Rows must leave a tab that is in sight as soon as somebody logs out in another one.
    otherTabs.addEventListener('message', refresh);
    window.addEventListener('focus', refresh);
    return () => {
      otherTabs.removeEventListener('message', refresh);
      window.removeEventListener('focus', refresh);
    };
  }, [isLoggedIn, refresh]);

  return {
    ...state,
    isBusy: pending > 0,
    // This removes the viewer too: the schema must not be fetched under a new Provision before its login is known.
    changeProvision: (next) => {
      setState((before) => (before.provision === next ? before : { ...before, provision: next, viewer: undefined, problem: undefined }));
    },
    login: (next, username, password) => {
      act(async () => {
        const viewer = await login(next, username, password);
        otherTabs.postMessage('login');
        if (viewer.hasPublicProvision) saveOrganization({ name: viewer.organization, provision: next });
        return () => ({ provision: next, ...loggedIn(viewer) });
      });
    },
    logout: () => {
      act(async () => {
        await logout(provision);
        otherTabs.postMessage('logout');
        return () => ({ viewer: undefined, owner: '', problem: undefined });
      });
    },
    refresh,
  };
}

function loggedIn(viewer: Viewer): Outcome {
  return { viewer, owner: JSON.stringify([viewer.organization, viewer.username]), problem: undefined };
}

function toProblem(error: unknown): Transition {
  const problem = error instanceof Error ? error.message : String(error);
  return (before) => ({ owner: before.owner ?? '', problem });
}
