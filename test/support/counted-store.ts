import { startDatabaseProxy, type DatabaseProxy } from './database-proxy';
import { graphql, withGateway, type RunningGateway } from './gateway';
import type { OpenGateway } from './open-gateway';

/** The statements of a request for its access. */
export const ACCESS = 1;

/** The database of a gateway, and a proxy that counts the statements of other gateways over it. */
export interface CountedStore {
  readonly proxy: DatabaseProxy;
  /** Runs work with a gateway over the proxy, which then stops. */
  readonly withReader: (settings: Readonly<Record<string, string>>, work: (reader: RunningGateway) => Promise<void>) => Promise<void>;
  readonly countStatements: (work: () => Promise<unknown>) => Promise<number>;
}

/** Opens a proxy before the tests of the file that calls it, and closes it after them. It is for hooks and tests alone. */
export function openCountedStore(store: OpenGateway): CountedStore {
  const counted = {
    withReader: (settings, work) => withGateway({ DATABASE_URL: counted.proxy.url, ...settings }, work),
    countStatements: async (work) => {
      const before = counted.proxy.statements();
      await work();
      return counted.proxy.statements() - before;
    },
  } as CountedStore;
  beforeAll(async () => {
    Object.assign(counted, { proxy: await startDatabaseProxy(store.database.url) });
  });
  afterAll(() => counted.proxy.close());
  return counted;
}

let asked = 0;

/** Sends a query with a text that no request before had, so that no kept answer is sent. */
export const askAnew: typeof graphql = (url, query, options) => graphql(url, `${query} # ${++asked}`, options);
