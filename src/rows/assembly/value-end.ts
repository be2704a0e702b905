// AssemblyScript, for the loops in this folder.

export const TAB: u8 = 0x09;
export const NEWLINE: u8 = 0x0a;

/** The bytes that one vector instruction compares. */
export const VECTOR: usize = 16;

/** A bit for each of the 16 bytes from `at` on: 1 where the byte ends a value. COPY escapes TAB and NEWLINE within a value. */
export function valueEnds(at: usize): i32 {
  const bytes = v128.load(at);
  return i8x16.bitmask(v128.or(i8x16.eq(bytes, i8x16.splat(TAB)), i8x16.eq(bytes, i8x16.splat(NEWLINE))));
}

/** The place of the byte that ends a value, or the input's end. Up to 15 bytes after the input are read. */
export function endOfValue(from: usize, inputEnd: usize): usize {
  for (let at = from; at < inputEnd; at += VECTOR) {
    const ends = valueEnds(at);
    if (ends) {
      const end = at + <usize>ctz(ends);
      return end < inputEnd ? end : inputEnd;
    }
  }
  return inputEnd;
}
