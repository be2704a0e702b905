import { createHash } from 'node:crypto';
import type { CompleteRange } from '../../src/data/imports/import-removal';
import { lineNames, moneyNames, v2Names, type LineName } from '../../src/line/line-fields';
import { Books, compare, NOBODY, toCents, toMoney, type BookLine, type FileLine } from './book-entities';
import { toCsvText } from './row-reference';

/** A state of the books: its lines in report order, and the versions at which each of them, and its money alone, last changed. */
interface State {
  readonly lines: readonly BookLine[];
  readonly since: ReadonlyMap<string, number>;
  readonly moneySince: ReadonlyMap<string, number>;
  /** True where its version brought, changed or took away a line. */
  readonly hasChanges: boolean;
  /** The newest version that emptied texts of a line, for the lines that lost some. */
  readonly erased: ReadonlyMap<string, number>;
}
interface Close {
  readonly version: number;
  readonly through: string;
  reopenedVersion: number | null;
}
export interface ImportRules {
  readonly range: CompleteRange | undefined;
  readonly allowsMismatch: boolean;
  readonly acceptsLate: boolean;
}
/** The answer to an import: the text of its refusal, or the version that it makes, and the changes of closed dates that it lets in. */
export type Outcome =
  | { readonly refusal: string }
  | {
      readonly refusal: undefined;
      readonly version: { readonly number: number; readonly lines: object } | null;
      readonly late: ClosedChange | null;
    };
interface ClosedChange {
  readonly closedThrough: string;
  readonly lines: number;
  readonly lineAmount: string;
  readonly count: number;
  readonly months: readonly { readonly month: string; readonly lines: number; readonly lineAmount: string }[];
}

/** The fields that make a line late where they change after its close. */
const MONEY = [
  'deposit_id',
  'deposit_date',
  'deposit_status',
  'transaction_id',
  'transaction_date',
  'status',
  'amount',
  'fee_amount',
].concat('designation_id', 'allocation_amount') as readonly LineName[];
const valuesOf = (line: BookLine | undefined, names: readonly LineName[]): string =>
  JSON.stringify(line && names.map((name) => line[name]));
const isSame = (one: BookLine | undefined, other: BookLine | undefined, names = lineNames): boolean =>
  valuesOf(one, names) === valuesOf(other, names);
const byId = (lines: readonly BookLine[]): Map<string, BookLine> => new Map(lines.map((line) => [line.allocation_id, line]));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const toObject = (line: object, names: readonly string[]): string =>
  JSON.stringify(Object.fromEntries(names.map((name) => [name, line[name as keyof typeof line]])));

/** The digest of the 26 fields of v2. */
export const digestOf = (lines: readonly BookLine[]): string => sha256(lines.map((line) => `${toObject(line, v2Names)}\n`).join(''));
/** The digest of the CSV file with the columns of money. */
export function moneyDigestOf(lines: readonly BookLine[]): string {
  const columns = moneyNames.map((name) => {
    const isPlain = name === 'designation_id' || name === 'allocation_amount';
    return { name, field: name, kind: isPlain ? ('number' as const) : ('text' as const), freeText: name === 'status' };
  });
  const rows = lines.map((line) => moneyNames.map((name) => line[name]));
  return sha256(`${moneyNames.join(',')}\r\n${toCsvText(columns, rows)}`);
}

/** The books of an organization with all their states, as a plain reading of the documents has them. */
export class BookModel {
  books = new Books();
  readonly states: State[] = [];
  readonly closes: Close[] = [];
  /** The first version that can still be asked for. */
  earliest = 1;
  /** The donors that were forgotten. */
  readonly forgotten = new Set<number>();

  get version(): number {
    return this.states.length;
  }

  linesAt(version: number): readonly BookLine[] {
    return this.states[version - 1]!.lines;
  }

  import(given: readonly FileLine[], { range, allowsMismatch, acceptsLate }: ImportRules): Outcome {
    const books = new Books(this.books);
    const isErased = (id: number): boolean => this.forgotten.has(id);
    const mismatches = books.import(withoutTexts(given, isErased), range);
    eraseMemos(books, isErased);
    if (mismatches > 0 && !allowsMismatch)
      return { refusal: `Nothing was imported: ${mismatches} ${mismatches === 1 ? 'fault' : 'faults'}` };
    const [before, after] = [this.books.lines(), books.lines()] as const;
    const late = this.findClosed(before, after);
    if (late && !acceptsLate) return { refusal: describeClosed(late) };
    if (books.text === this.books.text) return { refusal: undefined, version: null, late: null };
    this.books = books;
    this.advance(after);
    this.eraseEarlier(isErased);
    const [earlier, later] = [byId(before), byId(after)];
    const changed = after.filter((line) => earlier.has(line.allocation_id) && !isSame(line, earlier.get(line.allocation_id)));
    const lines = {
      added: after.filter((line) => !earlier.has(line.allocation_id)).length,
      changed: changed.length,
      removed: before.filter((line) => !later.has(line.allocation_id)).length,
    };
    return { refusal: undefined, version: { number: this.version, lines }, late };
  }

  close(through: string): void {
    this.advance(this.books.lines());
    this.closes.push({ version: this.version, through, reopenedVersion: null });
  }

  reopen(through: string): void {
    this.advance(this.books.lines());
    for (const close of this.inForce(this.version)) if (close.through >= through) close.reopenedVersion = this.version;
  }

  /**
   * Forgets a donor: no state has a text of the donor any more, and no import brings one back. Memos go where the line was the donor's then,
   * and where its gift is the donor's now, or is in the books no more and was the donor's at last.
   */
  erase(donor: number): void {
    this.books.donors.set(donor, NOBODY);
    const gifts = new Set([...this.books.gifts].flatMap(([id, { donor_id }]) => (donor_id === donor ? [id] : [])));
    const lastDonors = new Map(this.states.flatMap(({ lines }) => lines.map((line) => [line.transaction_id, line.donor_id] as const)));
    for (const [id, last] of lastDonors) if (last === donor && !this.books.gifts.has(id)) gifts.add(id);
    eraseMemos(this.books, (id) => id === donor);
    this.advance(this.books.lines());
    this.forgotten.add(donor);
    this.rewrite((line) => {
      const [named] = withoutTexts([line], (id) => id === donor);
      return gifts.has(line.transaction_id) ? { ...named!, ...NO_MEMOS } : named!;
    });
  }

  /** Empties the memos of the earlier states of gifts that are now of donors who were forgotten. */
  private eraseEarlier(isErased: (donor: number) => boolean): void {
    this.rewrite((line) => {
      const donor = this.books.gifts.get(line.transaction_id)?.donor_id;
      return donor !== undefined && isErased(donor) ? { ...line, ...NO_MEMOS } : line;
    });
  }

  /** Writes the lines of all states anew. Those that lose texts are told as erased by the newest version. */
  private rewrite(write: (line: BookLine) => BookLine): void {
    for (const [at, state] of this.states.entries()) {
      const lines = state.lines.map(write);
      const changed = lines.filter((line, place) => !isSame(line, state.lines[place]));
      const erased = new Map([...state.erased, ...changed.map((line) => [line.allocation_id, this.version] as const)]);
      this.states[at] = { ...state, lines, erased };
    }
  }

  /**
   * Drops the states before that of a version, which stays from the first version on that has it, as a version of its own. Returns that, or
   * null where no line has changed up to it.
   */
  prune(through: number): number | null {
    const earliest = 1 + this.states.slice(0, through).findLastIndex(({ hasChanges }) => hasChanges);
    if (earliest <= this.earliest) return null;
    this.advance(this.books.lines());
    this.earliest = earliest;
    return this.version;
  }

  /** The date through which a state is closed. */
  closedThrough(version: number): string | null {
    return this.inForce(version).at(-1)?.through ?? null;
  }

  isLate(line: BookLine, version: number): boolean {
    const close = this.inForce(version).find(({ through }) => line.deposit_date <= through);
    return close !== undefined && this.states[version - 1]!.moneySince.get(line.allocation_id)! > close.version;
  }

  /** The lines of a state as a file has them, with the column `late`. */
  fileAt(version: number): string {
    const lines = this.linesAt(version).map((line) => ({ ...line, late: this.isLate(line, version) }));
    return lines.map((line) => `${toObject(line, [...lineNames, 'late'])}\n`).join('');
  }

  /** The closes that are in force in a state, by their dates. */
  inForce(version: number): Close[] {
    return this.closes
      .filter((close) => close.version <= version && (close.reopenedVersion === null || close.reopenedVersion > version))
      .sort((one, other) => compare(one.through, other.through));
  }

  private advance(lines: readonly BookLine[]): void {
    const last = this.states.at(-1);
    const earlier = byId(last?.lines ?? []);
    const version = this.version + 1;
    const toSince = (name: 'since' | 'moneySince', names: readonly LineName[]): Map<string, number> =>
      new Map(
        lines.map((line) => {
          const { allocation_id: id } = line;
          return [id, isSame(line, earlier.get(id), names) ? last![name].get(id)! : version];
        }),
      );
    const hasChanges = lines.length !== earlier.size || lines.some((line) => !isSame(line, earlier.get(line.allocation_id)));
    this.states.push({
      lines,
      since: toSince('since', lineNames),
      moneySince: toSince('moneySince', MONEY),
      hasChanges,
      erased: new Map(),
    });
  }

  /** The changes of money at closed dates; null where there are none. */
  private findClosed(before: readonly BookLine[], after: readonly BookLine[]): ClosedChange | null {
    const closedThrough = this.closedThrough(this.version);
    if (closedThrough === null) return null;
    const [earlier, later] = [byId(before), byId(after)];
    const sides: { readonly id: string; readonly month: string; readonly cents: number }[] = [];
    for (const id of new Set([...earlier.keys(), ...later.keys()])) {
      const [was, is] = [earlier.get(id), later.get(id)];
      if (isSame(was, is, MONEY)) continue;
      const add = (line: BookLine | undefined, sign: number): void => {
        if (!line || line.deposit_date > closedThrough) return;
        const cents = line.deposit_status === 'posted' ? toCents(line.amount) : 0;
        sides.push({ id, month: line.deposit_date.slice(0, 7), cents: sign * cents });
      };
      add(was, -1);
      add(is, 1);
    }
    if (sides.length === 0) return null;
    const sum = (of: typeof sides) => ({
      lines: new Set(of.map(({ id }) => id)).size,
      lineAmount: toMoney(of.reduce((total, { cents }) => total + cents, 0)),
    });
    const months = [...new Set(sides.map(({ month }) => month))].sort();
    const changes = months.map((month) => ({ month, ...sum(sides.filter((side) => side.month === month)) }));
    return { closedThrough, ...sum(sides), count: months.length, months: changes };
  }
}

const NO_MEMOS = { main_memo: '', designation_memo: '' };
/** The lines without the names, the contact and the memos of some donors. */
const withoutTexts = <Line extends FileLine>(lines: readonly Line[], isErased: (donor: number) => boolean): Line[] =>
  lines.map((line) => (isErased(line.donor_id) ? { ...line, ...NOBODY, ...NO_MEMOS } : line));

/** Empties the memos of the gifts of some donors. */
function eraseMemos(books: Books, isErased: (donor: number) => boolean): void {
  for (const [id, gift] of books.gifts) {
    if (!isErased(gift.donor_id)) continue;
    books.gifts.set(id, { ...gift, main_memo: '' });
    for (const [share, of] of books.sharesOf(id)) books.shares.set(share, { ...of, designation_memo: '' });
  }
}

function describeClosed({ closedThrough, lines, lineAmount, months }: ClosedChange): string {
  const signed = (amount: string): string => (amount.startsWith('-') || amount === '0.00' ? amount : `+${amount}`);
  const count = (number: number): string => `${number} ${number === 1 ? 'line' : 'lines'}`;
  const named = months.map((each) => `${each.month}: ${count(each.lines)}, ${signed(each.lineAmount)}`).join('; ');
  return `the books are closed through ${closedThrough}, and ${count(lines)} of closed dates would change by ${signed(lineAmount)} (${named}); --late accept lets them in as late`;
}
