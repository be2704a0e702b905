import { parse } from 'graphql';
import { isViewParameter, type ViewParameters } from '../tables/view-link';
import type { EditorTexts } from '../files/file-url';

/** Mail and chat programs may cut a longer link. */
const MAX_LENGTH = 16_000;

/** The rows that a link shows of a list of the answer. */
export interface LinkedTable {
  /** The path of the list in the answer. */
  readonly list: string;
  readonly parameters: ViewParameters;
}

/** A link leads to a query, and to the rows of its answer where they are not all, or in another order. */
export interface SharedQuery extends EditorTexts {
  readonly table: LinkedTable | undefined;
}

const LIST = 'list';

/**
 * Builds the page's address with the two editors' texts and what narrows the table of the answer after #: browsers never send that part.
 * Throws an Error whose message the page shows.
 */
export function toShareLink({ query, variables, table }: SharedQuery): string {
  if (/password/i.test(query + variables)) throw new Error('This query mentions a password: no link was made.');
  const rows = table && table.parameters.length > 0 ? [[LIST, table.list], ...table.parameters.map(([name, value]) => [name, value])] : [];
  const fragment = new URLSearchParams([['query', query], ['variables', variables], ...rows]).toString();
  if (fragment.length > MAX_LENGTH) throw new Error('This query is too long for a link.');
  return `${location.origin}${location.pathname}#${fragment}`;
}

/** Reads what stands after # of an address; undefined when it has no query. Throws an Error whose message the page shows. */
export function readShareLink(hash: string): SharedQuery | undefined {
  if (!hash.startsWith('#query=')) return undefined;
  const fragment = new URLSearchParams(hash.slice(1));
  const [query, variables] = [fragment.get('query') ?? '', fragment.get('variables') ?? ''];
  try {
    if (hash.length > MAX_LENGTH + 1) throw new Error('too long');
    parse(query);
    if (variables.trim() !== '') JSON.parse(variables);
  } catch (cause) {
    throw new Error('The link holds no query that can be read. It was ignored.', { cause });
  }
  const parameters = [...fragment].filter(([name]) => isViewParameter(name));
  return { query, variables, table: parameters.length > 0 ? { list: fragment.get(LIST) ?? '', parameters } : undefined };
}

/** Leaves only the mode in the address, so that the query is not in the browser's history and a reload does not open it again. */
export function clearShareLink(): void {
  history.replaceState(null, '', '#graphql');
}
