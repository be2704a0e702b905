import { fileFormats, type FileFormat } from '../../../values/file-formats';

/** The formats that the page itself writes. */
export type WrittenFormat = FileFormat | 'xlsx';

/** The name and the use of each format, in words. */
export const writtenFormats: Readonly<Record<WrittenFormat, { readonly title: string; readonly use: string }>> = {
  xlsx: { title: 'XLSX', use: 'A spreadsheet: amounts are numbers, dates are dates, and a second sheet says what they are.' },
  ...fileFormats,
};
