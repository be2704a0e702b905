import { useRef, type ReactNode, type SubmitEvent } from 'react';
import type { Viewer } from './gateway-client';
import { toProvision } from './provision-setting';

interface SessionBarProps {
  readonly provision: string;
  readonly onProvision: (provision: string) => void;
  readonly viewer: Viewer | undefined;
  readonly problem: string | undefined;
  /** True once the gateway has said who is logged in. Until then the bar offers neither login nor logout. */
  readonly isSettled: boolean;
  readonly isBusy: boolean;
  readonly onLogin: (username: string, password: string) => void;
  readonly onLogout: () => void;
  /** The slot for the examples, which render into it once the editors are loaded. */
  readonly children: ReactNode;
}

export function SessionBar({ provision, onProvision, viewer, problem, isSettled, isBusy, onLogin, onLogout, children }: SessionBarProps) {
  return (
    <header className="bar">
      <h1 className="bar-name">Deposit Gateway</h1>
      <ProvisionField provision={provision} onProvision={onProvision} />
      {children}
      <div className="bar-session">
        {viewer ? (
          <>
            <ViewerBadge viewer={viewer} />
            <button type="button" onClick={onLogout} disabled={isBusy}>
              Log out
            </button>
          </>
        ) : (
          isSettled && <LoginForm isBusy={isBusy} onLogin={onLogin} />
        )}
      </div>
      <p className="bar-problem" role="alert">
        {problem}
      </p>
    </header>
  );
}

/** Changes the Provision on Enter or on leaving the field, not at every key: each change sends a request to the gateway. */
function ProvisionField({ provision, onProvision }: Pick<SessionBarProps, 'provision' | 'onProvision'>) {
  const field = useRef<HTMLInputElement>(null);
  const commit = (): void => {
    if (!field.current) return;
    field.current.value = toProvision(field.current.value);
    onProvision(field.current.value);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    commit();
  };
  return (
    <form className="bar-field" onSubmit={submit}>
      <label htmlFor="provision">Provision</label>
      <input
        id="provision"
        ref={field}
        defaultValue={provision}
        onBlur={commit}
        size={36}
        autoComplete="off"
        spellCheck={false}
        placeholder="Your administrator gives you one"
      />
    </form>
  );
}

/** Reads the password from its field at the login only: it is never part of the page's state. */
function LoginForm({ isBusy, onLogin }: Pick<SessionBarProps, 'isBusy' | 'onLogin'>) {
  const username = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onLogin(username.current?.value ?? '', password.current?.value ?? '');
  };
  return (
    <form className="bar-login" onSubmit={submit}>
      <div className="bar-field">
        <label htmlFor="username">Username</label>
        <input id="username" ref={username} autoComplete="username" autoCapitalize="none" spellCheck={false} required />
      </div>
      <div className="bar-field">
        <label htmlFor="password">Password</label>
        <input id="password" ref={password} type="password" autoComplete="current-password" required />
      </div>
      <button type="submit" disabled={isBusy}>
        Log in
      </button>
    </form>
  );
}

const privilegeTitles: Readonly<Record<string, string>> = {
  deposit_detail_designation_detail_with_contact_info: 'Deposit report',
  authenticated_test_system: 'System test',
  authenticated_test_session: 'Session test',
};

function ViewerBadge({ viewer: { username, organization, privileges, sessionExpiresAt } }: { readonly viewer: Viewer }) {
  return (
    <div className="bar-viewer">
      <span title={`The session ends at ${new Date(sessionExpiresAt).toLocaleString()}, or earlier if you send no requests.`}>
        <strong>{username}</strong> of {organization}
      </span>
      <ul aria-label="Granted privileges">
        {privileges.length === 0 && <li>No privileges</li>}
        {privileges.map((privilege) => (
          <li key={privilege} title={privilege}>
            {privilegeTitles[privilege] ?? privilege}
          </li>
        ))}
      </ul>
    </div>
  );
}
