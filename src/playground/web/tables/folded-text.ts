/** Characters whose letters have no accent that Unicode could take off. */
const letters: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' };
// eslint-disable-next-line no-control-regex -- The range is that of ASCII.
const ASCII = /^[\x00-\x7f]*$/;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** Writes a text in small letters without accents, so that a search finds “Müller” by “muller”. */
export function foldText(text: string): string {
  const small = text.toLowerCase();
  if (ASCII.test(small)) return small;
  return small
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþı]/g, (letter) => letters[letter] ?? letter);
}

/** True when a word of the text begins with `start`. Both are folded. */
export function hasWordBeginning(text: string, start: string): boolean {
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    if (at === 0 || !WORD_CHARACTER.test(characterBefore(text, at))) return true;
  }
  return false;
}

/** The character before a place: two units of a text when it stands outside the first plane of Unicode. */
function characterBefore(text: string, at: number): string {
  const unit = text.charCodeAt(at - 1);
  const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff;
  return text.slice(isSecondHalf ? Math.max(0, at - 2) : at - 1, at);
}
