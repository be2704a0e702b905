import { StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { ErrorBoundary } from 'react-error-boundary';
import { RelayEnvironmentProvider } from 'react-relay';
import { usePlace } from '../place';
import { gateway, provision } from '../settings';
import '../style.css';
import { periodOf } from '../values';
import { createEnvironment } from './environment';
import { Deposits } from './deposits';

const environment = createEnvironment(gateway, provision);

function App() {
  const { year } = usePlace();
  return (
    <main>
      <h1>Deposits of {year}</h1>
      <ErrorBoundary fallback={<p role="alert">The deposits cannot be shown.</p>}>
        <Suspense fallback={<p>Loading…</p>}>
          <Deposits {...periodOf(year)} />
        </Suspense>
      </ErrorBoundary>
    </main>
  );
}

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <RelayEnvironmentProvider environment={environment}>
      <App />
    </RelayEnvironmentProvider>
  </StrictMode>,
);
