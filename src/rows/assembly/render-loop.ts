// AssemblyScript. The build compiles this file to WebAssembly with SIMD; src/rows/row-renderer.ts lays out its memory and calls it.

/** The bytes that one vector instruction compares. */
const VECTOR: usize = 16;
const TAB: u8 = 0x09;
const NEWLINE: u8 = 0x0a;
const VERTICAL_TAB: u8 = 0x0b;
const QUOTE: u8 = 0x22;
const APOSTROPHE: u8 = 0x27;
const BACKSLASH: u8 = 0x5c;
const CARRIAGE_RETURN: u8 = 0x0d;
/** A bit for each of the first 64 bytes: 1 for = + - and the apostrophe. */
const FORMULA_BYTES: u64 = (1 << 0x3d) | (1 << 0x2b) | (1 << 0x2d) | (1 << APOSTROPHE);
/** The first two bytes of full-width = + - @ in UTF-8, and the distance of the third one from the byte of the plain character. */
const FULL_WIDTH: u8 = 0xef;
const FULL_WIDTH_NEXT: u8 = 0xbc;
const FULL_WIDTH_DISTANCE: u8 = 0x60;
/** The N of `\N`, which stands for null, and the v of `\v`. */
const NULL_MARK: u8 = 0x4e;
const VERTICAL_TAB_MARK: u8 = 0x76;
/** The texts `\N`, `null` and `\u00`, as words of a little-endian memory. */
const COPY_NULL: u16 = 0x4e5c;
const JSON_NULL: u32 = 0x6c6c756e;
const JSON_CONTROL: u32 = 0x3030755c;

/** A row of the table of literals. */
@unmanaged
class Literal {
  address: u32 = 0;
  length: u32 = 0;
  /** The state in which the value after the literal begins. */
  next: u32 = 0;
  /** The columns of the object that the value after the literal opens, and the bytes that end it in the literal after them. */
  columns: u32 = 0;
  closing: u32 = 0;

  /** Writes the literal without its first bytes. Returns the end of what it wrote. */
  @inline
  write(to: usize, skipped: usize): usize {
    let from = <usize>this.address + skipped;
    const end = to + <usize>this.length - skipped;
    do {
      v128.store(to, v128.load(from));
      to += VECTOR;
      from += VECTOR;
    } while (to < end);
    return end;
  }
}

/** The position that stands for none, because a row has more or fewer values than there are columns. */
const MALFORMED: usize = 0;

// src/rows/row-renderer.ts puts the last four numbers into the table.
const BEFORE_ROW: u32 = 0;
const IN_VALUE: u32 = 1;
/** A guarded value comes next: its first bytes decide what it begins with, and none of them has been read. */
const BEFORE_GUARDED: u32 = 2;
/** The value is of a column that the rows do not show. */
const IN_HIDDEN: u32 = 3;
/** The value tells whether an object follows. Null stands for the object, and anything else is not shown. None of it has been read. */
const BEFORE_SECTION: u32 = 4;

let table: usize = 0;
/** The place in the table of the literal before the last column. */
let lastColumn: usize = 0;
let isCsv: bool = false;

let state: u32 = BEFORE_ROW;
/** The place in the table of the literal that was written last. */
let column: usize = 0;
/** The bytes to leave out of the first literal: the separator before the first row. */
let skipped: usize = 0;
/** 1 when a nullable value has its opening quote, or else 0. */
let quoted: usize = 0;
/** The values to pass over for an object that is null, the one that said so included, and the bytes to leave out after them. */
let absent: usize = 0;
let omitted: usize = 0;
let outputEnd: usize = 0;
/** The number of rows that have begun. */
let begun: u32 = 0;

/**
 * Begins a report. The table has a literal for each column, which stands before it, and then the one after the last column. The first
 * literal begins with the separator of rows. Without columns, the first literal is the separator alone.
 */
export function begin(newTable: usize, columns: usize, separatorLength: usize, newIsCsv: bool): void {
  table = newTable;
  lastColumn = newTable + (columns > 0 ? columns - 1 : 0) * offsetof<Literal>();
  isCsv = newIsCsv;
  state = BEFORE_ROW;
  column = newTable;
  skipped = separatorLength;
  begun = 0;
  quoted = 0;
  absent = 0;
}

/** The end of what the last call of `render` wrote. */
export function written(): usize {
  return outputEnd;
}

/** The number of rows of the input so far. */
export function rows(): u32 {
  return begun;
}

/** True when the input so far ends with a whole row. */
export function isBetweenRows(): bool {
  return state == BEFORE_ROW;
}

/**
 * Renders the input until it ends or the output is beyond its limit. Returns the position that it reached, which is before an escape that
 * the input's end cuts, or MALFORMED. Vectors are read and written whole, up to 15 bytes further than needed; what follows overwrites them.
 */
export function render(input: usize, inputEnd: usize, output: usize, limit: usize): usize {
  const space = i8x16.splat(0x20);
  const quote = i8x16.splat(QUOTE);
  const backslash = i8x16.splat(BACKSLASH);
  let at = input;
  let to = output;
  let now = state;
  let place = column;
  while (at < inputEnd && to <= limit) {
    if (now == BEFORE_ROW) {
      place = table;
      to = changetype<Literal>(place).write(to, skipped);
      skipped = 0;
      begun++;
      now = changetype<Literal>(place).next;
      continue;
    }
    if (now == BEFORE_SECTION) {
      if (load<u8>(at) == BACKSLASH && at + 1 == inputEnd) break;
      if (load<u16>(at) == COPY_NULL) {
        store<u32>(to, JSON_NULL);
        to += 4;
        absent = <usize>changetype<Literal>(place).columns + 1;
        omitted = <usize>changetype<Literal>(place).closing;
      }
      now = IN_HIDDEN;
    }
    if (now == IN_HIDDEN) {
      at = endOfValue(at, inputEnd);
      // Most hidden columns stand beside others, with nothing to write between two of them.
      while (at < inputEnd && isBeforeHidden(at, place)) {
        place += offsetof<Literal>();
        at = endOfValue(at + 1, inputEnd);
      }
      if (at == inputEnd) break;
      now = IN_VALUE;
    }
    if (now == BEFORE_GUARDED) {
      const first = load<u8>(at);
      if (isCsv) {
        if (mayBeginFormula(first)) {
          if (isFirstCut(first, at, inputEnd)) break;
          if (first == APOSTROPHE) {
            // The guard is an apostrophe too, so it may follow those of the value.
            store<u8>(to++, first);
            at++;
            continue;
          }
          if (beginsFormula(first, at)) store<u8>(to++, APOSTROPHE);
        }
      } else {
        if (first == BACKSLASH && at + 1 == inputEnd) break;
        if (load<u16>(at) != COPY_NULL) {
          store<u8>(to++, QUOTE);
          quoted = 1;
        }
      }
      now = IN_VALUE;
    }
    const bytes = v128.load(at);
    const special = i8x16.bitmask(v128.or(i8x16.lt_u(bytes, space), v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash))));
    const plain: usize = special ? <usize>ctz(special) : VECTOR;
    v128.store(to, bytes);
    const left = inputEnd - at;
    if (plain >= left) {
      to += left;
      at = inputEnd;
      break;
    }
    to += plain;
    at += plain;
    if (plain == VECTOR) continue;
    const byte = load<u8>(at);
    if (byte == TAB || byte == NEWLINE) {
      if ((byte == NEWLINE) != (place == lastColumn)) return MALFORMED;
      at++;
      store<u8>(to, QUOTE);
      to += quoted;
      quoted = 0;
      place += offsetof<Literal>();
      if (absent > 1) {
        absent--;
        now = IN_HIDDEN;
        continue;
      }
      to = changetype<Literal>(place).write(to, absent ? omitted : 0);
      absent = 0;
      now = byte == NEWLINE ? BEFORE_ROW : changetype<Literal>(place).next;
    } else if (byte == BACKSLASH) {
      if (left - plain < 2) break;
      to = isCsv ? putCsvEscape(to, load<u8>(at, 1)) : putJsonEscape(to, load<u8>(at, 1));
      at += 2;
    } else {
      to = isCsv ? putCsvByte(to, byte) : putJsonByte(to, byte);
      at++;
    }
  }
  state = now;
  column = place;
  outputEnd = to;
  return at;
}

/** True when the value that ends here is followed by a hidden one, without a literal between the two. */
function isBeforeHidden(at: usize, place: usize): bool {
  if (load<u8>(at) != TAB || place == lastColumn || absent) return false;
  const next = changetype<Literal>(place + offsetof<Literal>());
  return next.next == IN_HIDDEN && next.length == 0;
}

/** The place of the byte that ends a value, or the input's end. COPY escapes TAB and NEWLINE within a value. */
function endOfValue(from: usize, inputEnd: usize): usize {
  for (let at = from; at < inputEnd; at += VECTOR) {
    const bytes = v128.load(at);
    const ends = i8x16.bitmask(v128.or(i8x16.eq(bytes, i8x16.splat(TAB)), i8x16.eq(bytes, i8x16.splat(NEWLINE))));
    if (ends) {
      const end = at + <usize>ctz(ends);
      return end < inputEnd ? end : inputEnd;
    }
  }
  return inputEnd;
}

function putJsonByte(to: usize, byte: u8): usize {
  if (byte == QUOTE) {
    store<u8>(to, BACKSLASH);
    store<u8>(to, QUOTE, 1);
    return to + 2;
  }
  return putControl(to, byte);
}

/** COPY's escapes \b \f \n \r \t and \\ mean the same in JSON, which has no \v. */
function putJsonEscape(to: usize, byte: u8): usize {
  if (byte == NULL_MARK) {
    store<u32>(to, JSON_NULL);
    return to + 4;
  }
  if (byte == VERTICAL_TAB_MARK) return putControl(to, VERTICAL_TAB);
  store<u8>(to, BACKSLASH);
  store<u8>(to, byte, 1);
  return to + 2;
}

/** Writes a control character without a short form as \u00XX. */
function putControl(to: usize, byte: u8): usize {
  store<u32>(to, JSON_CONTROL);
  const low = byte & 15;
  store<u8>(to, 0x30 + (byte >> 4), 4);
  store<u8>(to, low < 10 ? 0x30 + low : 0x57 + low, 5);
  return to + 6;
}

function putCsvByte(to: usize, byte: u8): usize {
  store<u8>(to, byte);
  if (byte != QUOTE) return to + 1;
  store<u8>(to, QUOTE, 1);
  return to + 2;
}

function putCsvEscape(to: usize, byte: u8): usize {
  return byte == NULL_MARK ? to : putCsvByte(to, toUnescaped(byte));
}

/** The byte that a letter after a backslash stands for; any other byte stands for itself. */
function toUnescaped(byte: u8): u8 {
  switch (byte) {
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    case 0x76:
      return 0x0b;
    default:
      return byte;
  }
}

/** False for nearly all bytes that begin a value. */
function mayBeginFormula(byte: u8): bool {
  if (byte < 0x40) return <bool>((FORMULA_BYTES >> byte) & 1);
  return byte == 0x40 || byte == BACKSLASH || byte == FULL_WIDTH;
}

/** True when the input's end may cut the first character of a value. */
function isFirstCut(first: u8, at: usize, inputEnd: usize): bool {
  if (first != BACKSLASH && first != FULL_WIDTH) return false;
  return at + 1 == inputEnd || (first == FULL_WIDTH && at + 2 == inputEnd && load<u8>(at, 1) == FULL_WIDTH_NEXT);
}

/** True when a spreadsheet reads a value as a formula. src/values/formula-guard.ts has the same rule for texts. */
function beginsFormula(first: u8, at: usize): bool {
  if (first == FULL_WIDTH) return load<u8>(at, 1) == FULL_WIDTH_NEXT && isSign(load<u8>(at, 2) - FULL_WIDTH_DISTANCE);
  if (first != BACKSLASH) return true;
  const byte = toUnescaped(load<u8>(at, 1));
  return byte == TAB || byte == CARRIAGE_RETURN || byte == NEWLINE;
}

/** True for = + - @. */
function isSign(byte: u8): bool {
  return byte == 0x3d || byte == 0x2b || byte == 0x2d || byte == 0x40;
}
