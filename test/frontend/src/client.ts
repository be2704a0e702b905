import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, type FieldPolicy } from '@apollo/client';
import { forConnections } from './connections';
import { endWithSession } from './session-link';

interface Page {
  readonly edges?: readonly unknown[];
  readonly nodes?: readonly unknown[];
  readonly pageInfo?: { readonly endCursor?: string | null };
}
interface Pages extends Page {
  /** The lengths that the list had at the ends of its pages, by their cursors. */
  readonly ends?: readonly (readonly [endCursor: string | null | undefined, length: number])[];
}

/**
 * Puts a page behind the page whose cursor it was asked after. A page without a cursor begins the list again. A late page, whose cursor the
 * list no longer knows, leaves the list as it is.
 */
const pages: FieldPolicy<Pages | null, Page | null> = {
  keyArgs: (args) => Object.keys(args ?? {}).filter((name) => !['first', 'after', 'last', 'before'].includes(name)),
  merge: (list, page, { args }) => {
    const shapes = (['edges', 'nodes'] as const).filter((shape) => page?.[shape]);
    if (!page || shapes.length === 0) return page && { ...list, ...page };
    const ends = list?.ends ?? [];
    const known = args?.after == null ? 0 : ends.find(([cursor]) => cursor === args.after)?.[1];
    if (known === undefined && list) return list;
    const start = known ?? 0;
    const items = Object.fromEntries(shapes.map((shape) => [shape, [...(list?.[shape] ?? []).slice(0, start), ...(page[shape] ?? [])]]));
    const end = [page.pageInfo?.endCursor, start + page[shapes[0]!]!.length] as const;
    const { edges: _edges, nodes: _nodes, ...others } = list ?? {};
    return { ...others, ...page, ...items, ends: [...ends.filter(([, length]) => length <= start), end] };
  },
};
const typePolicies = Object.fromEntries(Object.entries(forConnections(pages)).map(([type, fields]) => [type, { fields }]));

/** Sends the user's cookie along, also from another origin, and tells of the end of the session. */
export const createClient = (uri: string, provision: string, onEnd: () => void): ApolloClient =>
  new ApolloClient({
    cache: new InMemoryCache({ typePolicies }),
    link: ApolloLink.from([endWithSession(onEnd), new HttpLink({ uri, headers: { Provision: provision }, credentials: 'include' })]),
  });
