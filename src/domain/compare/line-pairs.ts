import { findDifferences } from './json-difference';
import type { RawLine } from '../../formats/import-line';
import { isLocalDate } from '../../values/dates';
import type { Difference, LineIds } from './verdict';

/** A line that the other answer has not had yet. */
interface Waiting {
  /** A copy, because the text of a line holds the piece of the answer that it was read from. */
  readonly text: Buffer;
  /** The line's place among those of its answer. */
  readonly place: number;
  readonly ids: LineIds;
  readonly day: string | undefined;
}

/** Lines that wait take at most about so many bytes. */
const MAX_WAITING_BYTES = 16 * 2 ** 20;
/** What a line that waits takes beside its text. */
const WAITING_BYTES = 400;

/** The two answers differ in more lines than the memory may hold. */
export class TooManyLines extends Error {}

/** A whole answer with status 200 that is no report. */
export class NoReport extends Error {}

/** A part of the lines, chosen by their ids, so that many differing lines can be matched in several readings. `of` 0 has none. */
export interface Part {
  readonly number: number;
  readonly of: number;
}

/**
 * Matches the lines of two answers by deposit, transaction and allocation, while both are read in step. Where the answers have the same lines
 * in the same order, none waits for its other one.
 */
export class LinePairs {
  /** The lines of the old answer and of the new one that wait, by their ids. */
  private readonly waiting = [new Map<string, Waiting[]>(), new Map<string, Waiting[]>()] as const;
  /** The highest place of a matched line in each answer. */
  private readonly highest = [-1, -1];
  private bytes = 0;
  private count = 0;

  constructor(
    private readonly part: Part,
    private readonly found: (difference: Difference) => void,
  ) {}

  /** True when every line so far has its other one. */
  get isEven(): boolean {
    return this.count === 0;
  }

  /** Adds a line of the old answer, which is side 0, or of the new one, which is side 1. Throws TooManyLines. */
  add(side: 0 | 1, line: RawLine, place: number): void {
    const fields = fieldsOf(line);
    const text = line.text!;
    const ids = idsOf(fields);
    const key = toKey(ids);
    if (!isOfPart(key, this.part)) return;
    const others = this.waiting[1 - side]!;
    const same = others.get(key);
    const other = same?.shift();
    const date = String(fields.deposit_date);
    const day = isLocalDate(date) ? date : undefined;
    if (!other) {
      const waiting = { text: Buffer.from(text), place, ids, day };
      this.bytes += waiting.text.length + WAITING_BYTES;
      // One line alone may be longer.
      if (++this.count > 1 && this.bytes > MAX_WAITING_BYTES) throw new TooManyLines();
      const earlier = this.waiting[side].get(key);
      if (earlier) earlier.push(waiting);
      else this.waiting[side].set(key, [waiting]);
      return;
    }
    if (same!.length === 0) others.delete(key);
    this.bytes -= other.text.length + WAITING_BYTES;
    this.count--;
    const [old, now] = side === 0 ? [text, other.text.toString()] : [other.text.toString(), text];
    for (const difference of findDifferences(old, now)) this.found({ ...difference, line: ids, ...(day !== undefined && { day }) });
    this.checkOrder(side === 0 ? [place, other.place] : [other.place, place], ids, day);
  }

  /** Both lines of a step have one text and none waits. */
  addEqual(place: number): void {
    this.highest.fill(place);
  }

  /** The ids of the lines that have no other one. */
  get leftKeys(): Set<string> {
    return new Set(this.waiting.flatMap((lines) => [...lines.keys()]));
  }

  /**
   * Tells of the lines that have no other one. One is doubled where its answer has another line with its ids that was matched: `countOld` is
   * the number of lines with these ids in the old answer.
   */
  tellLeft(countOld: (key: string) => number): void {
    for (const side of [0, 1] as const) {
      for (const [key, lines] of this.waiting[side]) {
        const isMatched = side === 0 ? countOld(key) > lines.length : countOld(key) > 0;
        for (const { text, ids, day } of lines) {
          const kind = isMatched ? 'line-doubled' : side === 0 ? 'line-missing' : 'line-extra';
          const written = text.toString();
          this.found({
            class: kind,
            path: 'line',
            line: ids,
            ...(day !== undefined && { day }),
            ...(side === 0 ? { old: written } : { new: written }),
          });
        }
      }
    }
  }

  /**
   * Lines are matched in the order of the later of their two places. One is out of order where a line that was matched before it stands behind
   * it in one of the answers.
   */
  private checkOrder(places: readonly [number, number], ids: LineIds, day: string | undefined): void {
    const [old, now] = places;
    if (old < this.highest[0]! || now < this.highest[1]!) {
      this.found({
        class: 'line-order',
        path: 'place',
        line: ids,
        ...(day !== undefined && { day }),
        old: String(old + 1),
        new: String(now + 1),
      });
    }
    this.highest[0] = Math.max(this.highest[0]!, old);
    this.highest[1] = Math.max(this.highest[1]!, now);
  }
}

/** The ids of a line, as texts whatever their types are. */
function idsOf(fields: Readonly<Record<string, unknown>>): LineIds {
  const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : typeof value);
  return { deposit: text(fields.deposit_id), transaction: text(fields.transaction_id), allocation: text(fields.allocation_id) };
}

const toKey = ({ deposit, transaction, allocation }: LineIds): string => `${deposit}\0${transaction}\0${allocation}`;

/** The ids of a line as one text. */
export const findKey = (line: RawLine): string => toKey(idsOf(fieldsOf(line)));

/** The values of a line that was read as a text. */
const fieldsOf = ({ text }: RawLine): Readonly<Record<string, unknown>> => JSON.parse(text!) as Record<string, unknown>;

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** True for a line of a part, by the FNV-1a hash of its ids. */
function isOfPart(key: string, { number, of }: Part): boolean {
  if (of <= 1) return of === 1;
  let hash = FNV_BASIS;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), FNV_PRIME);
  return (hash >>> 0) % of === number;
}
