import { useState } from 'react';
import { QueryExplorer } from './query-explorer';
import { SessionBar } from './session-bar';
import { useSession } from './session-state';

export function PlaygroundPage() {
  const [examplesSlot, setExamplesSlot] = useState<Element | null>(null);
  const [downloadSlot, setDownloadSlot] = useState<Element | null>(null);
  const { provision, viewer, owner, problem, isBusy, changeProvision, login, logout, refresh } = useSession();
  const isSettled = owner !== undefined;

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
            examplesSlot={examplesSlot}
            downloadSlot={downloadSlot}
          />
        )}
      </main>
      <footer ref={setDownloadSlot} />
    </>
  );
}
