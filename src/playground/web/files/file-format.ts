/** The formats of the gateway's files. */
export const fileFormats = ['csv', 'ndjson', 'json'] as const;
export type FileFormat = (typeof fileFormats)[number];

/** The formats that the page itself writes. */
export type WrittenFormat = FileFormat | 'xlsx';

export const formatTitles: Readonly<Record<WrittenFormat, string>> = { xlsx: 'XLSX', csv: 'CSV', ndjson: 'NDJSON', json: 'JSON' };
