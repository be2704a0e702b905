import type { ExecutionResult } from 'graphql';
import { formatCount } from '../values/figures';

/** GraphiQL's editor takes seconds to show tens of thousands of rows, and stalls at every scroll. */
const MAX_ROWS = 2_000;

/** Cuts lists longer than MAX_ROWS for GraphiQL's editor, and says so in `extensions.preview`. */
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
  const preview = `Only the first ${formatCount(MAX_ROWS)} of ${formatCount(longest)} rows are shown here. Table shows all of them, Download saves them to a file.`;
  return { ...answer, data, extensions: { ...answer.extensions, preview } };
}
