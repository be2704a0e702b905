import type { ReactNode } from 'react';
import { ErrorBoundary, getErrorMessage } from 'react-error-boundary';

interface FaultBoundaryProps {
  /** What cannot be shown after a fault, as the subject of a sentence in the plural. */
  readonly part: string;
  /** The fault is over when one of them changes: another answer may have none. */
  readonly resetKeys?: unknown[];
  /** One more way back beside trying again. */
  readonly wayBack?: ReactNode;
  readonly children: ReactNode;
}

/** Keeps a fault of a part of the page from taking the rest of it away. */
export function FaultBoundary({ part, resetKeys, wayBack, children }: FaultBoundaryProps) {
  return (
    <ErrorBoundary
      resetKeys={resetKeys}
      fallbackRender={({ error, resetErrorBoundary }) => (
        <div className="fault" role="alert">
          <p>
            {part} cannot be shown because of a fault of this page. Your queries are kept. <small>{getErrorMessage(error)}</small>
          </p>
          <button type="button" onClick={resetErrorBoundary}>
            Try again
          </button>
          {wayBack}
        </div>
      )}
    >
      {children}
    </ErrorBoundary>
  );
}
