import { parse } from 'graphql';
import type { EditorTexts } from './editors';

/** Mail and chat programs may cut a longer link. */
const MAX_LENGTH = 16_000;

/**
 * Builds the page's address with the two editors' texts, and nothing else, after #: browsers never send that part. Throws an Error whose
 * message the page shows.
 */
export function toShareLink({ query, variables }: EditorTexts): string {
  if (/password/i.test(query + variables)) throw new Error('This query mentions a password: no link was made.');
  const fragment = new URLSearchParams({ query, variables }).toString();
  if (fragment.length > MAX_LENGTH) throw new Error('This query is too long for a link.');
  return `${location.origin}${location.pathname}#${fragment}`;
}

/** Reads the query and variables after # of an address; undefined when it has none. Throws an Error whose message the page shows. */
export function readShareLink(hash: string): EditorTexts | undefined {
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
  return { query, variables };
}

/** Leaves only the mode in the address, so that the query is not in the browser's history and a reload does not open it again. */
export function clearShareLink(): void {
  history.replaceState(null, '', '#graphql');
}
