import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { FaultBoundary } from './look/fault-boundary';
import type { ShownAnswer } from './editors/query-explorer';
import { ResultView, resultViewKinds, type ResultViewKind } from './editors/result-view';
import { SessionBar } from './session/session-bar';
import { useSession } from './session/session-state';
import { TotalsBar } from './editors/totals-bar';

/** The editors are a megabyte of script, which the login does not wait for. */
const QueryExplorer = lazy(() => import('./editors/query-explorer'));

const viewTitles: Readonly<Record<ResultViewKind, string>> = { table: 'Table', chart: 'Chart' };

/** The newest answer of each of GraphiQL's tabs, and the owner of the session that got them. */
interface Answers {
  readonly owner: string | undefined;
  readonly byTab: ReadonlyMap<string, ShownAnswer | undefined>;
}

export function PlaygroundPage() {
  const [examplesSlot, setExamplesSlot] = useState<Element | null>(null);
  const [downloadSlot, setDownloadSlot] = useState<Element | null>(null);
  const { provision, viewer, owner, problem, isBusy, changeProvision, login, logout, refresh } = useSession();
  const isSettled = owner !== undefined;
  const [answers, setAnswers] = useState<Answers>();
  const [tab, setTab] = useState('');
  const [view, setView] = useState<ResultViewKind>();
  const onAnswer = useCallback(
    (of: string, answer: ShownAnswer | undefined) =>
      setAnswers((before) => ({ owner, byTab: new Map(before?.owner === owner ? before?.byTab : []).set(of, answer) })),
    [owner],
  );
  useEffect(() => {
    // Answers end with the session. The same user's next session does not see them either.
    if (owner === '') setAnswers(undefined);
  }, [owner]);
  // Answers of another user or of another tab are never shown.
  const shown = answers?.owner === owner ? answers?.byTab.get(tab) : undefined;
  const closeView = (
    <button type="button" onClick={() => setView(undefined)}>
      Close
    </button>
  );

  return (
    <>
      <SessionBar {...{ provision, viewer, problem, isSettled, isBusy }} onProvision={changeProvision} onLogin={login} onLogout={logout}>
        <div className="bar-field" ref={setExamplesSlot} />
      </SessionBar>
      <main className="explorer">
        {isSettled && (
          // A new owner gets new editors. Queries come back from storage; another user's results and headers do not.
          <Suspense fallback={<p className="explorer-note">Loading the editors…</p>}>
            <QueryExplorer
              key={owner}
              provision={provision}
              isLoggedIn={viewer !== undefined}
              onSessionChange={refresh}
              onAnswer={onAnswer}
              onTab={setTab}
              examplesSlot={examplesSlot}
              downloadSlot={downloadSlot}
            />
          </Suspense>
        )}
      </main>
      {viewer && view && (
        <FaultBoundary part="These results" resetKeys={[view, shown]} wayBack={closeView}>
          <ResultView kind={view} data={shown?.data} />
        </FaultBoundary>
      )}
      <footer>
        {viewer && (
          <FaultBoundary part="The totals" resetKeys={[shown]}>
            {/* A query that failed has no totals, and may have a null for each of its fields. */}
            <TotalsBar
              provision={provision}
              shown={shown && Object.values(shown.data ?? {}).some((value) => value !== null) ? shown.query : undefined}
            />
          </FaultBoundary>
        )}
        <div className="footer-slot" ref={setDownloadSlot} />
        {viewer &&
          resultViewKinds.map((kind) => (
            <button key={kind} type="button" aria-pressed={view === kind} onClick={() => setView(view === kind ? undefined : kind)}>
              {viewTitles[kind]}
            </button>
          ))}
      </footer>
    </>
  );
}
