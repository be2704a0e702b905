import { lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react';
import type { EditorTexts } from './files/file-url';
import { FaultBoundary, ReloadButton } from './look/fault-boundary';
import { SkipLink } from './look/skip-link';
import { HOME_ADDRESS, NO_REPORT, usePageMode, type PageMode } from './reports/page-mode';
import { useSession } from './session/session-state';
import { SignInPage } from './session/sign-in-page';

// Each mode has a script of its own. That of the editors is a megabyte, which nobody else waits for. The library of the menus is not for
// the sign-in page either, which would take half as long again with it.
const AccountMenu = lazy(() => import('./session/account-menu'));
const ReportsPage = lazy(() => import('./reports/reports-page'));
const GraphqlPage = lazy(() => import('./editors/graphql-page'));

const modeTitles = { reports: 'Reports', graphql: 'GraphQL' } as const;
type ModeName = keyof typeof modeTitles;

const nameOf = (mode: PageMode): ModeName => (mode.kind === 'graphql' ? 'graphql' : 'reports');

/** The page: the login, and after it the home and the two modes under one bar. */
export function PlaygroundPage() {
  const session = useSession();
  const [mode, setMode] = usePageMode();
  const [toolsSlot, setToolsSlot] = useState<Element | null>(null);
  /** The query that Reports mode hands to GraphQL mode, which opens it in a tab. */
  const [textsToOpen, setTextsToOpen] = useState<EditorTexts>();
  const hand = useCallback(
    (texts: EditorTexts) => {
      setTextsToOpen(texts);
      setMode({ kind: 'graphql' });
    },
    [setMode],
  );
  const [lastReports, setLastReports] = useState<PageMode>(NO_REPORT);
  // A link to a saved report may lead on to GraphQL mode, and would do so each time that somebody comes back.
  const lasting = mode.kind === 'saved' && mode.name !== '' ? NO_REPORT : mode;
  if (lasting.kind !== 'graphql' && lasting.kind !== 'home' && lasting !== lastReports) setLastReports(lasting);
  const forgetTextsToOpen = useCallback(() => setTextsToOpen(undefined), []);
  const { provision, viewer, owner, problem, isBusy } = session;
  const shown = nameOf(mode);
  const isHome = mode.kind === 'home';
  const visited = useVisited(shown, owner);
  useEffect(() => {
    document.title = `${isHome ? 'Home' : modeTitles[shown]} · Deposit Gateway`;
  }, [shown, isHome]);

  // Nothing is shown until the gateway has said who is logged in.
  if (owner === undefined) return null;
  if (!viewer) {
    return <SignInPage {...{ provision, problem, isBusy }} onProvision={session.changeProvision} onLogin={session.login} />;
  }
  const pages: Readonly<Record<ModeName, ReactNode>> = {
    reports: <ReportsPage {...{ provision, viewer, mode, setMode }} onSessionChange={session.check} onShowGraphql={hand} />,
    graphql: <GraphqlPage {...{ provision, owner, textsToOpen, toolsSlot }} onSessionChange={session.check} onOpened={forgetTextsToOpen} />,
  };
  return (
    <>
      <header className="bar">
        <SkipLink />
        <h1 className="bar-name">
          <a href={HOME_ADDRESS} aria-current={isHome ? 'page' : undefined}>
            <svg className="bar-mark" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M8 3v6m-3-3 3 3 3-3M4 12h8" />
            </svg>
            <span className="bar-long">Deposit Gateway</span>
          </a>
        </h1>
        <nav aria-label="Modes">
          {(Object.keys(modeTitles) as ModeName[]).map((name) => (
            <button
              key={name}
              type="button"
              aria-current={shown === name && !isHome ? 'page' : undefined}
              // The button leads back to the report that was open, and from there to the list of all.
              onClick={() => setMode(name === 'graphql' ? { kind: 'graphql' } : shown === 'reports' && !isHome ? NO_REPORT : lastReports)}
            >
              {modeTitles[name]}
            </button>
          ))}
        </nav>
        <div className="bar-field" ref={setToolsSlot} hidden={shown !== 'graphql'} />
        <p className="bar-problem" role="alert">
          {problem}
        </p>
        <Suspense>
          <AccountMenu viewer={viewer} isBusy={isBusy} onLogout={session.logout} />
        </Suspense>
      </header>
      {/* A mode that was left keeps its state. Another user gets new pages: results of the one before are never shown. */}
      {visited.map((name) => (
        <div key={`${name} ${owner}`} className="mode" hidden={shown !== name}>
          <FaultBoundary part={`The mode ${modeTitles[name]}`} wayBack={<ReloadButton />}>
            <Suspense fallback={<p className="note mode-note">Loading…</p>}>{pages[name]}</Suspense>
          </FaultBoundary>
        </div>
      ))}
    </>
  );
}

/** The modes that this owner has been in. */
function useVisited(shown: ModeName, owner: string | undefined): readonly ModeName[] {
  const [visited, setVisited] = useState<{ readonly owner: string | undefined; readonly names: readonly ModeName[] }>({ owner, names: [] });
  const names = visited.owner === owner ? visited.names : [];
  const next = names.includes(shown) ? names : [...names, shown];
  useEffect(() => {
    if (visited.owner !== owner || visited.names.length !== next.length) setVisited({ owner, names: next });
  });
  return next;
}
