import { foldText } from '../values/folded-text';
import { groupBy } from '../values/groups';
import type { ResultRow } from '../rows/result-tables';

/** The beginning of the columns that are keys of groups. */
export const KEY = 'key.';
const MAX_LENGTH = 22;

/** A name of a group: the keys whose values make it, and the word for it. */
export interface GroupName {
  readonly word: string;
  readonly keys: readonly string[];
  /** The keys that tell namesakes apart. They are shown only where two have the same name. */
  readonly marks: readonly string[];
}

export const DESIGNATION: GroupName = { word: 'fund', keys: ['key.designation'], marks: ['key.designationId'] };
export const DONOR: GroupName = { word: 'donor', keys: ['key.donorFirstName', 'key.donorLastName'], marks: ['key.donorId', 'key.city'] };
const named: readonly GroupName[] = [DESIGNATION, DONOR];

/** The names that tell the groups apart, each with its marks. */
export function toNames(keys: readonly string[]): readonly GroupName[] {
  const found: GroupName[] = [];
  for (const key of keys) {
    const whole = named.find((each) => [...each.keys, ...each.marks].includes(key));
    const parts = whole?.keys.filter((name) => keys.includes(name)) ?? [];
    if (!whole || parts.length === 0) found.push({ word: toWords(key), keys: [key], marks: [] });
    else if (key === parts[0]) found.push({ word: whole.word, keys: parts, marks: whole.marks.filter((mark) => keys.includes(mark)) });
  }
  return found;
}

/** True for the group of the gifts that have no donor. */
export const isNobody = (row: ResultRow): boolean =>
  row['key.donorId'] === undefined ? DONOR.keys.every((key) => (row[key] ?? '') === '') : Number(row['key.donorId']) === 0;

interface Named {
  readonly name: string;
  /** The name for an axis. An id and a date are whole there. */
  readonly short: string;
  /** The values that tell it apart; none where no other row has the name. */
  readonly marks: readonly ResultRow[string][];
}

/** Names rows. Two donors, or two designations, of one name get their marks, when the query asks for these. */
export function toNaming(
  { word, keys, marks }: GroupName,
  rows: readonly ResultRow[],
  textOf: (row: ResultRow, keys: readonly string[], between: string) => string,
): (row: ResultRow) => Named {
  const nameOf = (row: ResultRow): string => textOf(row, keys, ' ') || `(no ${word})`;
  // Names that differ in case, accents, blanks or their cut ends alone are the same to a reader.
  const fold = (name: string): string => foldText(clip(name)).replace(/\s+/g, ' ').trim();
  const marksOf = (row: ResultRow): ResultRow[string][] => marks.map((mark) => row[mark]);
  const namesakes = groupBy(rows, (row) => fold(nameOf(row)));
  const shared = new Set(
    [...namesakes].filter(([, same]) => new Set(same.map((row) => JSON.stringify(marksOf(row)))).size > 1).map(([name]) => name),
  );
  const isWhole = keys.every((key) => /(Id|Date)$/.test(key));
  return (row) => {
    const name = nameOf(row);
    return { name, short: isWhole ? name : clip(name), marks: shared.has(fold(name)) ? marksOf(row) : [] };
  };
}

/** Cuts a name that is too long for an axis. */
export const clip = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text);

/** Turns `key.paymentType` into “payment type”. */
export const toWords = (key: string): string => key.slice(KEY.length).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
