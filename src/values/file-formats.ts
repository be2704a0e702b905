interface FormatRow {
  readonly mediaType: string;
  /** The name and the use for people. */
  readonly title: string;
  readonly use: string;
  /** False for a format that only leaves the gateway. */
  readonly isImported: boolean;
}

const formats = {
  /** RFC 4180 with a header record. */
  csv: { mediaType: 'text/csv; charset=utf-8', title: 'CSV', use: 'Text for any spreadsheet or program.', isImported: true },
  /** One JSON object in each line. */
  ndjson: { mediaType: 'application/x-ndjson', title: 'NDJSON', use: 'For programs: one JSON object in each line.', isImported: true },
  /** The form of a v2 answer. */
  json: { mediaType: 'application/json; charset=utf-8', title: 'JSON', use: 'For programs.', isImported: true },
} as const satisfies Readonly<Record<string, FormatRow>>;

export type FileFormat = keyof typeof formats;
/** The formats that imports read. */
export type ImportFormat = { [Format in FileFormat]: (typeof formats)[Format]['isImported'] extends true ? Format : never }[FileFormat];

/** The formats of files. */
export const fileFormats: Readonly<Record<FileFormat, FormatRow>> = formats;
export const fileFormatNames = Object.keys(formats) as readonly FileFormat[];
export const importFormatNames = fileFormatNames.filter((name): name is ImportFormat => fileFormats[name].isImported);
