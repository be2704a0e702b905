import { createFileLayout } from './file-format';
import { v2Columns } from './file-columns';

/** The layouts of a file with all v2 fields. `json` is the v2 answer (contract section 4.3). */
export const v2Layouts = {
  json: createFileLayout('json', v2Columns),
  ndjson: createFileLayout('ndjson', v2Columns),
  csv: createFileLayout('csv', v2Columns),
} as const;
