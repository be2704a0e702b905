// AssemblyScript. The build compiles this file to WebAssembly with SIMD; src/rows/line-totals.ts lays out its memory and calls it.

import { endOfValue, NEWLINE, valueEnds, VECTOR } from './value-end';

const MINUS: u8 = 0x2d;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const BACKSLASH: u8 = 0x5c;
/** The N of `\N`, which stands for null. */
const NULL_MARK: u8 = 0x4e;

/** A row of the table of columns. */
@unmanaged
class Column {
  role: u8 = 0;
  /** For a column without a role: the number of columns from it to the next one with a role, or to the row's end. */
  gap: u8 = 0;
}

const DEPOSIT: u8 = 1;
const TRANSACTION: u8 = 2;
const AMOUNT: u8 = 3;
const SHARE: u8 = 4;

let table: usize = 0;
let tableEnd: usize = 0;
/** The next column to add up; the table's end when the row has none left. */
let column: usize = 0;
/** The number of columns to read over. */
let gap: i32 = 0;

/**
 * The ids of a deposit and a transaction, one after the other. A row's ids are written over those of the row before, with which they are
 * compared, so that memory holds one row's ids however long they are.
 */
let ids: usize = 0;
let idsEnd: usize = 0;
/** The ends of both ids of the row before; 0 before the first row, which therefore equals no row. */
let depositEnd: usize = 0;
let transactionEnd: usize = 0;
/** True while the row's ids so far are those of the row before. */
let isSame: bool = true;
let isSameDeposit: bool = false;

/** The amount that is being read. */
let cents: i64 = 0;
let isNegative: bool = false;
let isNull: bool = false;
let rowAmount: i64 = 0;

let lines: f64 = 0;
let deposits: f64 = 0;
let transactions: f64 = 0;
let knownShares: f64 = 0;
let lineCents: i64 = 0;
let transactionCents: i64 = 0;
let shareCents: i64 = 0;

/** Begins the only report of an instance. The ids are kept from `newIds` on, where the memory may grow. */
export function begin(newTable: usize, columns: usize, newIds: usize): void {
  table = newTable;
  tableEnd = newTable + columns * offsetof<Column>();
  ids = newIds;
  beginRow();
}

/**
 * Adds input, which may end anywhere. Returns false when a row ends before a column that is added up, when an amount is not a number, and
 * when the memory cannot hold an id. The sums of cents must be taken after each 64 KiB of input: at most 2^16 rows end in these, each of an
 * amount below 10^14 cents, as the type numeric(14,2) is, so that no sum reaches 2^63.
 */
export function add(input: usize, inputEnd: usize): bool {
  let at = input;
  while (at < inputEnd) {
    if (gap > 0) {
      at = afterGap(at, inputEnd);
      if (gap > 0) return true;
    } else {
      const end = endOfValue(at, inputEnd);
      const role = changetype<Column>(column).role;
      if (role >= AMOUNT ? !addAmount(at, end) : !addId(at, end)) return false;
      if (end == inputEnd) return true;
      endValue(role);
      enterColumn(column + offsetof<Column>());
      at = end + 1;
      if (gap > 0) continue;
    }
    if ((load<u8>(at - 1) == NEWLINE) != (column == tableEnd)) return false;
    if (column == tableEnd) endRow();
  }
  return true;
}

export function lineCount(): f64 {
  return lines;
}

export function depositCount(): f64 {
  return deposits;
}

export function transactionCount(): f64 {
  return transactions;
}

export function knownShareCount(): f64 {
  return knownShares;
}

export function takeLineCents(): i64 {
  const taken = lineCents;
  lineCents = 0;
  return taken;
}

export function takeTransactionCents(): i64 {
  const taken = transactionCents;
  transactionCents = 0;
  return taken;
}

export function takeShareCents(): i64 {
  const taken = shareCents;
  shareCents = 0;
  return taken;
}

/** Reads over the columns of the gap, as far as the input has them. Returns the place after them, or the input's end. */
function afterGap(from: usize, inputEnd: usize): usize {
  for (let at = from; at < inputEnd; at += VECTOR) {
    let ends = valueEnds(at);
    const left = inputEnd - at;
    if (left < VECTOR) ends &= (1 << (<i32>left)) - 1;
    const count = popcnt(ends);
    if (count < gap) {
      gap -= count;
      continue;
    }
    for (; gap > 1; gap--) ends &= ends - 1;
    gap = 0;
    return at + <usize>ctz(ends) + 1;
  }
  return inputEnd;
}

/** Adds a part of an id. Returns false when the memory cannot hold the id. */
function addId(from: usize, end: usize): bool {
  const length = end - from;
  const newEnd = idsEnd + length;
  const missing = <isize>newEnd - ((<isize>memory.size()) << 16);
  if (missing > 0 && memory.grow(<i32>((missing + 0xffff) >> 16)) < 0) return false;
  if (isSame && (newEnd > transactionEnd || memory.compare(idsEnd, from, length) != 0)) isSame = false;
  if (!isSame) memory.copy(idsEnd, from, length);
  idsEnd = newEnd;
  return true;
}

function addAmount(from: usize, end: usize): bool {
  for (let at = from; at < end; at++) {
    const byte = load<u8>(at);
    const digit = byte - ZERO;
    if (digit < 10) cents = cents * 10 + digit;
    else if (byte == MINUS) isNegative = true;
    else if (byte == BACKSLASH) isNull = true;
    else if (byte != POINT && byte != NULL_MARK) return false;
  }
  return true;
}

function beginAmount(): void {
  cents = 0;
  isNegative = isNull = false;
}

function endValue(role: u8): void {
  if (role == DEPOSIT) {
    isSame = isSameDeposit = isSame && idsEnd == depositEnd;
    depositEnd = idsEnd;
    return;
  }
  if (role == TRANSACTION) {
    isSame = isSame && idsEnd == transactionEnd;
    transactionEnd = idsEnd;
    return;
  }
  const value = isNegative ? -cents : cents;
  if (role == AMOUNT) rowAmount = value;
  else if (!isNull) {
    shareCents += value;
    knownShares++;
  }
  beginAmount();
}

function endRow(): void {
  lines++;
  lineCents += rowAmount;
  if (!isSameDeposit) deposits++;
  if (!isSame) {
    transactions++;
    transactionCents += rowAmount;
  }
  beginRow();
}

function beginRow(): void {
  idsEnd = ids;
  isSame = true;
  enterColumn(table);
}

function enterColumn(place: usize): void {
  gap = place == tableEnd ? 0 : <i32>changetype<Column>(place).gap;
  column = place + <usize>gap * offsetof<Column>();
}
