// The page reads this file too. The loop that renders rows has the same rule for bytes: src/rows/assembly/render-loop.ts.

/** The characters that begin a formula. Spreadsheets read full-width ones as they read the others. */
const SIGNS = '=+\\-@＝＋－＠';
/** A text that a spreadsheet may run as a formula (OWASP, CSV injection). The guard is an apostrophe too, so it follows those of the text. */
const FORMULA = new RegExp(`^'*[${SIGNS}\\t\\r\\n]`);
const GUARD = new RegExp(`^'(?='*[${SIGNS}\\t\\r\\n])`);
/** A spreadsheet takes off the quote that begins a pasted text, and some take off blanks. */
const PASTED_FORMULA = new RegExp(`^'*["\\s]*[${SIGNS}]`);

/** Puts an apostrophe before a text of a CSV file that a spreadsheet would run as a formula. */
export const guardFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

/** Puts an apostrophe before a text that a spreadsheet would run as a formula when it is pasted. */
export const guardPastedFormula = (text: string): string => (PASTED_FORMULA.test(text) ? `'${text}` : text);

/** Takes off the apostrophe of `guardFormula`. */
export const unguardFormula = (text: string): string => (text.startsWith("'") ? text.replace(GUARD, '') : text);
