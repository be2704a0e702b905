import type { ExecutionResult } from 'graphql';
import { formatCount } from './figures';

/** GraphiQL's editor needs seconds for a text of many times as many rows, and more of its time with every scroll. */
const MAX_ROWS = 2_000;

/** The answer as GraphiQL shows it: of a longer list the first rows, and in `extensions` a sentence that says so. */
export function toPreview(answer: ExecutionResult): ExecutionResult {
  let longest = 0;
  const data = JSON.parse(
    JSON.stringify(answer.data ?? null, (_key, value: unknown) => {
      if (!Array.isArray(value) || value.length <= MAX_ROWS) return value;
      longest = Math.max(longest, value.length);
      return value.slice(0, MAX_ROWS) as unknown;
    }),
  ) as ExecutionResult['data'];
  if (longest === 0) return answer;
  const preview = `Only the first ${formatCount(MAX_ROWS)} of ${formatCount(longest)} rows stand here. Table shows them all, Download takes them home.`;
  return { ...answer, data, extensions: { ...answer.extensions, preview } };
}
