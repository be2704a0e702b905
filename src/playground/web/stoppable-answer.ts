import type { ExecutionResult } from 'graphql';
import type { GraphiQLProps } from 'graphiql';

/** The form of an answer that GraphiQL's stop button can call off. */
type Stoppable = Extract<Awaited<ReturnType<GraphiQLProps['fetcher']>>, { subscribe: unknown }>;

interface Observer {
  readonly next: (answer: ExecutionResult) => void;
  readonly error: (fault: unknown) => void;
  readonly complete: () => void;
}

/** Asks once. Stop aborts the signal, and nothing is told of an answer that comes all the same. */
export function toStoppable(ask: (signal: AbortSignal) => Promise<ExecutionResult>): Stoppable {
  const subscribe = ({ next, error, complete }: Observer) => {
    const stopping = new AbortController();
    ask(stopping.signal).then(
      (answer) => {
        if (stopping.signal.aborted) return;
        next(answer);
        complete();
      },
      (fault: unknown) => {
        if (!stopping.signal.aborted) error(fault);
      },
    );
    return { unsubscribe: () => stopping.abort() };
  };
  // Its type has two more ways to subscribe, which GraphiQL does not use.
  return { subscribe } as Stoppable;
}
