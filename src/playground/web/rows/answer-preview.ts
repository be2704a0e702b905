import type { ExecutionResult } from 'graphql';
import { createCellFormat, formatRows } from '../values/cell-format';

/** GraphiQL's editor takes seconds to show tens of thousands of rows, and stalls at every scroll. */
const MAX_ROWS = 2_000;

/** Cuts lists longer than MAX_ROWS for GraphiQL's editor, and says so in `extensions.preview`. */
export function toPreview(answer: ExecutionResult, locales: readonly string[]): ExecutionResult {
  let longest = 0;
  const data = JSON.parse(
    JSON.stringify(answer.data ?? null, (_key, value: unknown) => {
      if (!Array.isArray(value) || value.length <= MAX_ROWS) return value;
      longest = Math.max(longest, value.length);
      return value.slice(0, MAX_ROWS) as unknown;
    }),
  ) as ExecutionResult['data'];
  if (longest === 0) return answer;
  const first = createCellFormat(locales).format(MAX_ROWS, 'count');
  const preview = `Only the first ${first} of ${formatRows(longest, locales)} are shown here. Table shows all of them, Download saves them to a file.`;
  return { ...answer, data, extensions: { ...answer.extensions, preview } };
}
