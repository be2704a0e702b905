import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchViewer, login, logout, type Viewer } from './gateway-client';
import { loadProvision, saveProvision } from './provision-setting';

interface SessionState {
  readonly provision: string;
  /** Who is logged in under the Provision; undefined also while that is being asked. */
  readonly viewer: Viewer | undefined;
  /** Whose results the page may show: empty for nobody, undefined until the gateway answered for the first time. */
  readonly owner: string | undefined;
  /** What went wrong last, in plain words. */
  readonly problem: string | undefined;
}

interface Session extends SessionState {
  readonly isBusy: boolean;
  readonly changeProvision: (provision: string) => void;
  readonly login: (username: string, password: string) => void;
  readonly logout: () => void;
  /** Asks the gateway again, after something may have changed the session behind the page's back. */
  readonly refresh: () => void;
}

type Outcome = Partial<Omit<SessionState, 'provision'>>;
type Transition = (before: SessionState) => Outcome;

/** The Provision in use and the login under it. The session itself is the browser's HttpOnly cookie, which the page cannot see. */
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

  // One at a time, in order: a slow answer to an earlier question must not undo a login.
  const enqueue = useCallback(
    (request: () => Promise<Transition>) => {
      const run = async (): Promise<void> => {
        const transition = await request().catch(toProblem);
        setState((before) => (before.provision === provision ? { ...before, ...transition(before) } : before));
        setPending((count) => count - 1);
      };
      setPending((count) => count + 1);
      queue.current = queue.current.then(run);
    },
    [provision],
  );

  useEffect(() => {
    saveProvision(provision);
    enqueue(async () => {
      // Without a Provision the gateway refuses every question.
      const viewer = provision === '' ? undefined : await fetchViewer(provision);
      return (before) => (viewer ? loggedIn(viewer) : { owner: before.owner ?? '' });
    });
  }, [provision, enqueue]);

  const refresh = useCallback(() => {
    enqueue(async () => {
      const viewer = await fetchViewer(provision);
      if (viewer) return () => loggedIn(viewer);
      // The rows that the session was good for go with it.
      return (before) => ({ viewer, owner: '', problem: before.viewer ? 'Your session has ended. Log in again.' : before.problem });
    });
  }, [provision, enqueue]);
  const isLoggedIn = state.viewer !== undefined;
  useEffect(() => {
    if (!isLoggedIn) return undefined;
    // The cookie is all tabs': in another one somebody else may have logged in meanwhile.
    window.addEventListener('focus', refresh);
    return () => window.removeEventListener('focus', refresh);
  }, [isLoggedIn, refresh]);

  return {
    ...state,
    isBusy: pending > 0,
    // The viewer goes in the same step: the schema must not be asked for under a Provision before its login is known.
    changeProvision: (next) => {
      setState((before) => (before.provision === next ? before : { ...before, provision: next, viewer: undefined, problem: undefined }));
    },
    login: (username, password) => {
      enqueue(async () => {
        const viewer = await login(provision, username, password);
        return () => loggedIn(viewer);
      });
    },
    logout: () => {
      enqueue(async () => {
        await logout(provision);
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
