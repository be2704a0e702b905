import type { ReactNode } from 'react';
import { ErrorBoundary, getErrorMessage } from 'react-error-boundary';

interface FaultBoundaryProps {
  /** The part's name in the message, a plural such as “The totals”. */
  readonly part: string;
  /** A change of any of these values clears the fault, because another answer may be shown without one. */
  readonly resetKeys?: unknown[];
  /** A second button, next to “Try again”. */
  readonly wayBack?: ReactNode;
  readonly children: ReactNode;
}

/** The last way back: parts that never came are loaded again. */
export function ReloadButton() {
  return (
    <button type="button" onClick={() => location.reload()}>
      Reload the page
    </button>
  );
}

/** Shows a message in place of a part that throws, so that the rest of the page stays. */
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
