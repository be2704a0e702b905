import { useCallback, useState } from 'react';
import { QueryExplorer } from './query-explorer';
import type { ReportQuery } from './report-file';
import { ResultView, resultViewKinds, type ResultViewKind } from './result-view';
import { SessionBar } from './session-bar';
import { useSession } from './session-state';
import { TotalsBar } from './totals-bar';

const viewTitles: Readonly<Record<ResultViewKind, string>> = { table: 'Table', chart: 'Chart' };

export function PlaygroundPage() {
  const [examplesSlot, setExamplesSlot] = useState<Element | null>(null);
  const [downloadSlot, setDownloadSlot] = useState<Element | null>(null);
  const { provision, viewer, owner, problem, isBusy, changeProvision, login, logout, refresh } = useSession();
  const isSettled = owner !== undefined;
  // What another user saw is never shown.
  const [answer, setAnswer] = useState<{ readonly owner: string | undefined; readonly data: unknown; readonly query: ReportQuery }>();
  const [view, setView] = useState<ResultViewKind>();
  const onAnswer = useCallback((data: unknown, query: ReportQuery) => setAnswer({ owner, data, query }), [owner]);
  const shown = answer?.owner === owner ? answer : undefined;

  return (
    <>
      <SessionBar {...{ provision, viewer, problem, isSettled, isBusy }} onProvision={changeProvision} onLogin={login} onLogout={logout}>
        <div className="bar-field" ref={setExamplesSlot} />
      </SessionBar>
      <main className="explorer">
        {isSettled && (
          // A new owner starts with new editors: queries return from storage, results and headers of another user do not.
          <QueryExplorer
            key={owner}
            provision={provision}
            isLoggedIn={viewer !== undefined}
            onSessionChange={refresh}
            onAnswer={onAnswer}
            examplesSlot={examplesSlot}
            downloadSlot={downloadSlot}
          />
        )}
      </main>
      {viewer && view && <ResultView kind={view} data={shown?.data} />}
      <footer>
        {viewer && <TotalsBar provision={provision} shown={shown?.query} />}
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
