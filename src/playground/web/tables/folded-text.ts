/** Letters that have no accent that Unicode could take off. */
const letters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', ħ: 'h', ŧ: 't', đ: 'd', ð: 'd', þ: 'th', ı: 'i', ς: 'σ' },
};
// eslint-disable-next-line no-control-regex -- The range is that of ASCII.
const ASCII = /^[\x00-\x7f]*$/;
const APOSTROPHES = /['’`´‘‛′ʹʻʼʽʾʿ՚׳＇｀]/gu;
const ACCENTS_AND_INVISIBLE = /[\u0300-\u036f\p{Cf}\p{DI}]/gu;
const NO_WORD = /[^\p{L}\p{M}\p{N}]/gu;
const LETTERS_WITHOUT_ACCENT = new RegExp(`[${Object.keys(letters).join('')}]`, 'g');

/** Writes a text in small letters without accents and invisible characters, so that “müller” is in “MULLER”. Apostrophes are alike. */
export function foldText(text: string): string {
  return ASCII.test(text) ? text.toLowerCase().replaceAll('`', "'") : foldLetters(text.replace(APOSTROPHES, "'"));
}

function foldLetters(text: string): string {
  const plain = text.normalize('NFKD').toLowerCase().replace(ACCENTS_AND_INVISIBLE, '');
  return plain.replace(LETTERS_WITHOUT_ACCENT, (letter) => letters[letter] ?? letter);
}

/** Writes a text as its words, with one space between them, as the SQL function fold_for_search does. */
export function foldWords(text: string): string {
  if (ASCII.test(text)) {
    return text
      .toLowerCase()
      .replace(/['`]/g, '')
      .replace(/[^a-z0-9]+/g, ' ')
      .trim();
  }
  const words = text
    .replace(APOSTROPHES, '')
    .split(/([^\p{L}\p{M}\p{N}\p{Cf}\p{DI}])/u)
    // NFKD makes spaces and punctuation of some letters, which end no word, and letters of some symbols, which become words.
    .map((word) => foldLetters(word).replace(APOSTROPHES, '').replace(NO_WORD, ''));
  return words.filter((word) => /[\p{L}\p{N}]/u.test(word)).join(' ');
}

/** The forms in which a text is searched: a text with an apostrophe is also found by the words beside it. */
export function searchForms(text: string): readonly string[] {
  const form = foldWords(text);
  const apart = text.replace(APOSTROPHES, ' ');
  return apart === text ? [form] : [form, foldWords(apart)];
}

/** The number of words that begin with `start`, which may go on into the words that follow; 0 for nothing. */
export function countBeginnings(form: string, start: string): number {
  return start === '' ? 0 : ` ${form}`.split(` ${start}`).length - 1;
}
