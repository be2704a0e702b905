import { startDatabaseProxy, type DatabaseProxy } from './database-proxy';
import { graphql, startGateway, type TestGateway } from './gateway';
import { openGateway, type OpenGateway, type Opening } from './open-gateway';

/** A gateway that keeps nothing and reads the database of another one, the store, through a proxy that counts its statements. */
export interface WatchedGateway {
  readonly url: string;
  readonly proxy: DatabaseProxy;
  readonly store: OpenGateway;
  /** The provision of a server that was not granted the report. */
  readonly member: string;
  /** Sends a query with the provision of the organization's server, and resolves to the data of an answer without errors. */
  ask<Data = Record<string, unknown>>(query: string, variables?: object): Promise<Data>;
}

/** Opens a watched gateway before the tests of the file that calls it, and stops it after them. Its fields are for hooks and tests alone. */
export function openWatchedGateway(opening: Opening): WatchedGateway {
  let gateway: TestGateway;
  // Hooks run in the order in which they stand here: the gateway stops before the database that it reads.
  afterAll(async () => {
    await gateway.stop();
    await watched.proxy.close();
  });
  const store = openGateway({ countsStatements: true, ...opening });
  const ask = async <Data = Record<string, unknown>>(query: string, variables: object = {}): Promise<Data> => {
    const { body } = await graphql(watched.url, query, { provision: store.organization.apiProvision, variables });
    expect(body.errors).toBeUndefined();
    return body.data as Data;
  };
  const watched = { store, ask } as WatchedGateway;
  beforeAll(async () => {
    const proxy = await startDatabaseProxy(store.database.url);
    gateway = await startGateway({ DATABASE_URL: proxy.url, BOOK_MEMORY_MEGABYTES: '0' });
    const { provisions } = store.services;
    const member = await provisions.create({ organization: store.organization.name, kind: 'API', label: '', grants: [] });
    await store.database.client.query(`UPDATE provision SET last_used_at = 'infinity'`);
    Object.assign(watched, { proxy, member, url: gateway.url });
  });
  return watched;
}
