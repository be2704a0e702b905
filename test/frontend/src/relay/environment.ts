import { Environment, Network, RecordSource, Store } from 'relay-runtime';

interface Answer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** Sends an operation by its text, or by the id that Relay's compiler gave a trusted document. */
export const createEnvironment = (url: string, provision: string): Environment => {
  let hasEnded = false;
  const network = Network.create(async ({ id, text }, variables) => {
    // A list must not ask for ever. The page loads anew after a login.
    if (hasEnded) throw new Error('The session has ended');
    const accept = 'application/graphql-response+json, application/json;q=0.9';
    const headers = { 'Content-Type': 'application/json', Accept: accept, Provision: provision };
    const body = JSON.stringify({ query: text, documentId: id, variables });
    const response = await fetch(url, { method: 'POST', headers, body, credentials: 'include' });
    const { data, errors = [] } = (await response.json()) as Answer;
    hasEnded ||= errors.some(({ extensions }) => extensions?.code === 'NOT_LOGGED_IN');
    // A page of a list does not ask for the viewer.
    if (hasEnded) environment.commitUpdate((store) => void store.getRoot().setValue(null, 'viewer'));
    // Relay would put null in the place of the list to which the page belongs.
    else if (errors[0] && Object.values(data ?? {}).every((value) => value === null)) throw new Error(errors[0].message);
    return { data: data ?? {}, errors: [...errors] };
  });
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  return environment;
};
