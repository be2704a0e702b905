import { Environment, Network, RecordSource, Store, type GraphQLResponse } from 'relay-runtime';

/** Sends an operation by its text, or by the id that Relay's compiler gave a trusted document. */
export const createEnvironment = (url: string, provision: string): Environment => {
  const network = Network.create(async ({ id, text }, variables) => {
    const headers = { 'Content-Type': 'application/json', Provision: provision };
    const body = JSON.stringify({ query: text, documentId: id, variables });
    const response = await fetch(url, { method: 'POST', headers, body, credentials: 'include' });
    return (await response.json()) as GraphQLResponse;
  });
  return new Environment({ network, store: new Store(new RecordSource()) });
};
