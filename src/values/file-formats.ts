/** The formats of files. `json` has the form of a v2 answer, `ndjson` has one JSON object in each line, `csv` is RFC 4180 with a header. */
export const fileFormats = ['csv', 'ndjson', 'json'] as const;
export type FileFormat = (typeof fileFormats)[number];
