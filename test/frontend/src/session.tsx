import { useMutation, useQuery } from '@apollo/client/react';
import { useEffect, useState, type ReactNode } from 'react';
import { LoginDocument, LogoutDocument, ViewerDocument, type SessionFragment } from './gql/graphql';

/** Shows the app to a user who is logged in, and the login to everybody else. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { data, previousData, error } = useQuery(ViewerDocument);
  // Every query asks for the viewer, and the answer is null when the session has ended. A page that loads anew holds nothing of what the
  // user has read, and has the same address.
  const hasEnded = data?.viewer === null && previousData?.viewer != null;
  useEffect(() => {
    if (hasEnded) location.reload();
  }, [hasEnded]);
  if (error) return <p role="alert">{error.message}</p>;
  if (!data || hasEnded) return <p>Loading…</p>;
  if (!data.viewer) return <Login />;
  return (
    <>
      <SessionBar viewer={data.viewer} />
      {children}
    </>
  );
}

function SessionBar({ viewer }: { readonly viewer: SessionFragment }) {
  const [logOut, { error }] = useMutation(LogoutDocument, { refetchQueries: [ViewerDocument] });
  return (
    <header>
      <h1>{viewer.organization}</h1>
      <Countdown viewer={viewer} />
      <button onClick={() => void logOut()}>Log out</button>
      {error && <p role="alert">{error.message}</p>}
    </header>
  );
}

/** Tells how long the session lasts without another request. Each answer moves the end. */
function Countdown({ viewer }: { readonly viewer: SessionFragment }) {
  const { refetch } = useQuery(ViewerDocument, { fetchPolicy: 'cache-only' });
  const end = Math.min(Date.parse(viewer.sessionIdleExpiresAt), Date.parse(viewer.sessionExpiresAt));
  const [now, setNow] = useState(Date.now);
  const isOver = now >= end;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (isOver) void refetch();
  }, [isOver, refetch]);
  const seconds = Math.max(0, Math.ceil((end - now) / 1000));
  return (
    <p role="timer">
      {viewer.username}, {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')} left
    </p>
  );
}

function Login() {
  const [logIn, { loading, error }] = useMutation(LoginDocument, {
    update: (cache, { data }) => void cache.writeQuery({ query: ViewerDocument, data: { viewer: data!.login.viewer } }),
  });
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
    </main>
  );
}
