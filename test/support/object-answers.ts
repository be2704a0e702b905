import { createApolloServer } from '../../src/graphql/apollo-server';
import { RequestTimes } from '../../src/data/postgres/request-times';
import { CheckedDocuments } from '../../src/graphql/documents/checked-documents';
import { RequestEntities } from '../../src/domain/reports/entity-service';
import { SealedPlaces } from '../../src/domain/paging/sealed-places';
import { writeRequestId } from '../../src/graphql/answers/error-format';
import type { GraphqlContext } from '../../src/graphql/answers/row-field';
import { createSchema } from '../../src/graphql/schema';
import { LineCount } from '../../src/resolvers/request/request-context';
import { createResolvers } from '../../src/resolvers/resolver-set';
import type { Services } from '../../src/services';

/** The answers that graphql-js makes of objects, without any door and without streamed rows. */
export interface ObjectAnswers {
  answer(operation: { readonly query: string; readonly variables?: Record<string, unknown> | undefined }): Promise<string>;
  stop(): Promise<void>;
}

export function createObjectAnswers(services: Services, as: { readonly provision: string; readonly cookie: string }): ObjectAnswers {
  const apollo = createApolloServer(createSchema(createResolvers(services)), {
    documents: new CheckedDocuments(),
    introspection: 'session',
    budgets: services.budgets,
    onInternalError: () => undefined,
  });
  return {
    answer: async ({ query, variables }) => {
      const sent = { bearerToken: undefined, cookieTokens: [as.cookie.split('=')[1]!] };
      const credentials = { provision: as.provision, host: 'localhost', address: '127.0.0.1', ...sent };
      const access = services.access.open(credentials);
      const times = new RequestTimes();
      const books = services.books.open({
        ...{ signal: new AbortController().signal, caller: () => access.caller.forQueue(), checkedState: () => access.bookState, times },
        ...{ isHeld: false, isPrimary: true },
      });
      const sealed = new SealedPlaces(services.keys);
      const contextValue: GraphqlContext = {
        requestId: '',
        receivedAt: new Date(),
        access,
        books,
        entities: new RequestEntities(books, sealed),
        sealed,
        refused: new Set(),
        lines: new LineCount(),
        times,
        address: '',
        outcome: {},
        sessionCookie: { set: () => undefined, clear: () => undefined },
      };
      try {
        const { body } = await apollo.executeOperation({ query, variables: variables ?? {} }, { contextValue });
        return `${writeRequestId(JSON.stringify(body.kind === 'single' ? body.singleResult : undefined), '')}\n`;
      } finally {
        await books.close();
      }
    },
    stop: () => apollo.stop(),
  };
}
