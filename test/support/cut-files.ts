/** The text of a CSV file without its last row. */
export const withoutLastRow = (text: string): string => text.slice(0, text.lastIndexOf('\r\n', text.length - 3) + 2);
