import { useId, useRef, useState, type SubmitEvent } from 'react';
import { forgetOrganization, loadOrganization, toProvision } from './provision-setting';

interface SignInPageProps {
  readonly provision: string;
  readonly onProvision: (provision: string) => void;
  /** The last error's message. */
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  readonly onLogin: (provision: string, username: string, password: string) => void;
}

/** The page before the login. It reads the password from its field at the login only: it is never part of the page's state. */
export function SignInPage({ provision, onProvision, problem, isBusy, onLogin }: SignInPageProps) {
  const [known, setKnown] = useState(loadOrganization);
  const fields = useRef<HTMLFormElement>(null);
  const [provisionId, usernameId, passwordId] = [useId(), useId(), useId()];
  const isKnown = known !== undefined && known.provision === provision;
  const textOf = (name: string): string => {
    const text = new FormData(fields.current ?? undefined).get(name);
    return typeof text === 'string' ? text : '';
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onLogin(isKnown ? provision : toProvision(textOf('provision')), textOf('username'), textOf('password'));
  };
  const change = (): void => {
    forgetOrganization();
    setKnown(undefined);
    onProvision('');
  };
  return (
    <main className="sign-in">
      <h1>Deposit Gateway</h1>
      <p>Reports on the money that came in, exact to the cent. Your administrator gives you the three things to log in with.</p>
      <form ref={fields} onSubmit={submit}>
        {isKnown ? (
          <p className="sign-in-organization">
            <span>
              Organization: <strong>{known.name}</strong>
            </span>
            <button type="button" onClick={change}>
              Change
            </button>
          </p>
        ) : (
          <>
            <label htmlFor={provisionId}>Provision</label>
            <input
              id={provisionId}
              name="provision"
              defaultValue={provision}
              autoComplete="off"
              spellCheck={false}
              required
              placeholder="xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx"
            />
          </>
        )}
        <label htmlFor={usernameId}>Username</label>
        <input id={usernameId} name="username" autoComplete="username" autoCapitalize="none" spellCheck={false} required />
        <label htmlFor={passwordId}>Password</label>
        <input id={passwordId} name="password" type="password" autoComplete="current-password" required />
        <button type="submit" className="main-button" disabled={isBusy}>
          Log in
        </button>
        <p className="problem" role="alert">
          {problem}
        </p>
      </form>
      <p className="sign-in-note">
        The provision says which organization you belong to. To look around with invented gifts, ask for the organization Demo.
      </p>
    </main>
  );
}
