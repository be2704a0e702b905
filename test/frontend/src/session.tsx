import { useMutation, useQuery } from '@apollo/client/react';
import { useEffect, useState, type ReactNode } from 'react';
import { LoginDocument, LogoutDocument, ViewerDocument, type SessionFragment } from './gql/graphql';

/** Shows the app to a user who is logged in, and the login to everybody else. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { data, error } = useQuery(ViewerDocument);
  const [user, setUser] = useState<string>();
  const [isUnsure, setUnsure] = useState(false);
  const current = data?.viewer ? `${data.viewer.username} of ${data.viewer.organization}` : undefined;
  if (current !== undefined && user === undefined) setUser(current);
  // Every query asks for the viewer. It is null when the session has ended, and another user when somebody logged in through another tab.
  // A page that loads anew holds nothing of what the first user has read, and has the same address.
  const hasEnded = data !== undefined && user !== undefined && current !== user;
  useEffect(() => {
    if (hasEnded) location.reload();
  }, [hasEnded]);
  if (error) return <p role="alert">{error.message}</p>;
  if (!data || hasEnded) return <p>Loading…</p>;
  if (!data.viewer) return <Login />;
  return (
    <>
      <SessionBar viewer={data.viewer} onDoubt={setUnsure} />
      {isUnsure ? <p role="alert">The session may have ended, and the gateway does not answer. The app goes on asking.</p> : children}
    </>
  );
}

interface SessionProps {
  readonly viewer: SessionFragment;
  /** Takes true when the gateway could not say after the countdown that the session goes on. */
  readonly onDoubt: (isUnsure: boolean) => void;
}

function SessionBar({ viewer, onDoubt }: SessionProps) {
  const [logOut, { error }] = useMutation(LogoutDocument, { refetchQueries: [ViewerDocument] });
  return (
    <header>
      <h1>{viewer.organization}</h1>
      <Countdown viewer={viewer} onDoubt={onDoubt} />
      <button onClick={() => void logOut()}>Log out</button>
      {error && <p role="alert">{error.message}</p>}
    </header>
  );
}

/** Tells how long the session lasts without another request. Each answer moves the end. */
function Countdown({ viewer, onDoubt }: SessionProps) {
  const { refetch } = useQuery(ViewerDocument, { fetchPolicy: 'cache-only' });
  const end = Math.min(Date.parse(viewer.sessionIdleExpiresAt), Date.parse(viewer.sessionExpiresAt));
  const [now, setNow] = useState(Date.now);
  const isOver = now >= end;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  // Each tick asks again after a failure. After an answer the countdown is not over, or the page loads anew.
  const [hasFailed, setHasFailed] = useState(false);
  const attempt = hasFailed ? now : undefined;
  useEffect(() => {
    if (!isOver) return;
    refetch().then(
      () => {
        setHasFailed(false);
        onDoubt(false);
      },
      () => {
        setHasFailed(true);
        onDoubt(true);
      },
    );
  }, [isOver, attempt, refetch, onDoubt]);
  const seconds = Math.max(0, Math.ceil((end - now) / 1000));
  return (
    <p role="timer">
      {viewer.username}, {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')} left
    </p>
  );
}

function Login() {
  // The viewer of a second request shows that the browser has kept the cookie. The app then takes the place of this form.
  const [logIn, { data, loading, error }] = useMutation(LoginDocument, { refetchQueries: [ViewerDocument], awaitRefetchQueries: true });
  return (
    <main>
      <h1>Log in</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          const variables = { username: fields.get('username') as string, password: fields.get('password') as string };
          logIn({ variables }).catch(() => undefined);
        }}
      >
        <label>
          Username
          <input name="username" autoComplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        <button disabled={loading}>Log in</button>
      </form>
      {error && <p role="alert">{error.message}</p>}
      {data && !loading && (
        <p role="alert">You have logged in, but your browser kept no session. The gateway is on another site than this page.</p>
      )}
    </main>
  );
}
