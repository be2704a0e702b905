import { parse } from 'graphql';
import type { EditorTexts } from './editors';

/** As long as mail and chat leave a link whole. */
const MAX_LENGTH = 16_000;

/** The page's address with the texts of the two editors, and nothing else, behind #, which browsers never send. Throws what to tell the person at the page. */
export function toShareLink({ query, variables }: EditorTexts): string {
  if (/password/i.test(query + variables)) throw new Error('This query mentions a password: no link was made.');
  const fragment = new URLSearchParams({ query, variables }).toString();
  if (fragment.length > MAX_LENGTH) throw new Error('This query is too long for a link.');
  return `${location.origin}${location.pathname}#${fragment}`;
}

/** What the address carries behind #, if anything. Throws what to tell the person at the page where it is no query. */
export function readShareLink(hash: string): EditorTexts | undefined {
  if (hash.length <= 1) return undefined;
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

/** The query stays out of the browser's history, and a reload does not open it again. */
export function clearShareLink(): void {
  history.replaceState(null, '', location.pathname + location.search);
}
