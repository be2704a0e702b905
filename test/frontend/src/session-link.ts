import { ApolloLink } from '@apollo/client';
import { of, tap } from 'rxjs';

/**
 * Tells the app once that its session has ended, whichever screen or list has learned of it. Nothing is sent any more then, and whoever
 * asks gets the same error: a list that asks again after each failed page would ask the gateway for ever.
 */
export const endWithSession = (onEnd: () => void): ApolloLink => {
  let ended: ApolloLink.Result | undefined;
  return new ApolloLink((operation, forward) => {
    if (ended) return of(ended);
    return forward(operation).pipe(
      tap(({ errors }) => {
        if (ended || !errors?.some(({ extensions }) => extensions?.code === 'NOT_LOGGED_IN')) return;
        ended = { data: null, errors };
        onEnd();
      }),
    );
  });
};
