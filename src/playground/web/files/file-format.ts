import type { FileFormat } from '../../../values/file-formats';

/** The formats that the page itself writes. */
export type WrittenFormat = FileFormat | 'xlsx';

export const formatTitles: Readonly<Record<WrittenFormat, string>> = { xlsx: 'XLSX', csv: 'CSV', ndjson: 'NDJSON', json: 'JSON' };
