/** Letters that have no accent that Unicode could take off, and other forms of a letter, which have the same capital. */
const letters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', ħ: 'h', ŧ: 't', đ: 'd', ð: 'd', þ: 'th', ı: 'i', ς: 'σ', ٱ: 'ا' },
  ...{ ᲀ: 'в', ᲁ: 'д', ᲂ: 'о', ᲃ: 'с', ᲄ: 'т', ᲅ: 'т', ᲆ: 'ъ', ᲇ: 'ѣ', ᲈ: 'ꙋ' },
};
const ASCII = /^\p{ASCII}*$/u;
const APOSTROPHE = "['’`´‘‛′ʹʻʼʽʾʿ՚׳＇｀]";
const APOSTROPHES = new RegExp(APOSTROPHE, 'gu');
const SPACED_APOSTROPHE = new RegExp(`\\p{Zs}${APOSTROPHE}|${APOSTROPHE}\\p{Zs}`, 'u');
const APOSTROPHE_AND_SPACES = new RegExp(`\\p{Zs}*${APOSTROPHE}\\p{Zs}*`, 'gu');
/** The glossary has a table of these scripts. Inherited marks are those of several scripts. Those of が and ぱ make other letters. */
const ACCENTED_SCRIPTS = [
  ...['Inherited', 'Cyrillic', 'Glagolitic', 'Coptic', 'Arabic', 'Hebrew', 'Syriac', 'Samaritan', 'Mandaic', 'Ethiopic', 'Nko', 'Adlam'],
].map((script) => `\\p{Script=${script}}`);
const ACCENTS = `(?![\u3099\u309a])(?=[${ACCENTED_SCRIPTS.join('')}])\\p{M}`;
/** The dots below and above letters of India's scripts. Unicode has no property for them. */
const NUKTAS =
  '\u093c\u09bc\u0a3c\u0abc\u0afd-\u0aff\u0b3c\u0c3c\u0cbc\u1c37\u{110ba}\u{11173}\u{111ca}\u{11236}\u{112e9}\u{1133c}\u{11446}\u{114c3}' +
  '\u{115c0}\u{116b7}\u{1183a}\u{11943}\u{11d42}';
/** The stroke U+0640 makes Arabic words longer for the eye. */
const ACCENTS_AND_INVISIBLE = new RegExp(`${ACCENTS}|[${NUKTAS}\u0640\\p{Cf}\\p{DI}]`, 'gu');
const NO_WORD = /[^\p{L}\p{M}\p{N}]/gu;
const WORD_END = new RegExp(`((?!${APOSTROPHE})[^\\p{L}\\p{M}\\p{N}\\p{Cf}\\p{DI}])`, 'u');
/** The letters of Chinese, Japanese and Korean, whose words are often written without spaces. */
const UNSPACED = '[\u1100-\u11ff\u2e80-\u31ff\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\u{1aff0}-\u{1b16f}\u{20000}-\u{3ffff}]';
const SPACE_BETWEEN_UNSPACED = new RegExp(`(?<=${UNSPACED}) (?=${UNSPACED})`, 'gu');
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
    .split(WORD_END)
    // NFKD makes spaces and punctuation of some letters, which end no word, and letters of some symbols, which become words.
    .map((word) => foldLetters(word).replace(APOSTROPHES, '').replace(NO_WORD, ''));
  // At odd places are the symbols, of which some become marks alone, such as ゛.
  return words.filter((word, at) => (at % 2 === 0 ? word !== '' : /[\p{L}\p{N}]/u.test(word))).join(' ');
}

/**
 * The forms in which a text is searched, as the SQL function search_forms writes them. A text with an apostrophe is also found by the words
 * beside it, or by both as one where a space is beside it. Words in Chinese, Japanese or Korean letters are also found as one.
 */
export function searchForms(text: string): readonly string[] {
  const form = foldWords(text);
  const unspaced = form.replace(SPACE_BETWEEN_UNSPACED, '');
  const apart = text.replace(APOSTROPHES, ' ');
  return [
    ...(unspaced === form ? [form] : [form, unspaced]),
    ...(apart === text ? [] : [foldWords(apart)]),
    ...(SPACED_APOSTROPHE.test(text) ? [foldWords(text.replace(APOSTROPHE_AND_SPACES, ''))] : []),
  ];
}
