import type { ErrorLike } from '@apollo/client';
import { useState } from 'react';
import { Fault } from './faults';

interface MoreProps {
  readonly loading: boolean;
  readonly loadMore: () => Promise<{ readonly error?: ErrorLike }>;
}

/** Loads the next page of a list, and says why it did not come. Give it the list's end as its key, so that another list begins anew. */
export function More({ loading, loadMore }: MoreProps) {
  const [error, setError] = useState<ErrorLike>();
  const load = () =>
    loadMore().then(
      (answer) => setError(answer.error),
      (reason: unknown) => setError(reason as ErrorLike),
    );
  return (
    <>
      <button disabled={loading} onClick={() => void load()}>
        More
      </button>
      <Fault error={error} />
    </>
  );
}
