import type { ExecutionResult } from 'graphql';
import type { GraphiQLProps } from 'graphiql';

/** The form of answer that GraphiQL's stop button can cancel. */
type Stoppable = Extract<Awaited<ReturnType<GraphiQLProps['fetcher']>>, { subscribe: unknown }>;

interface Observer {
  readonly next: (answer: ExecutionResult) => void;
  readonly error: (fault: unknown) => void;
  readonly complete: () => void;
}

/** Sends one request. The stop button aborts its signal, and an answer that still arrives is dropped. */
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
  // The type asks for two more ways to subscribe, which GraphiQL does not use.
  return { subscribe } as Stoppable;
}
