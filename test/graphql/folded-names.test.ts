import fc from 'fast-check';
import { foldWords, searchForms } from '../../src/playground/web/values/folded-text';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();

/** The assigned code points but U+0000 and surrogates. */
const ASSIGNED_IN_UNICODE_17 = 297_333;
const CHARACTERS = Array.from({ length: 0x110000 }, (_, point) => point)
  .filter((point) => point > 0 && (point < 0xd800 || point > 0xdfff))
  .map((point) => String.fromCodePoint(point))
  .filter((character) => !/\p{Cn}/u.test(character));
/** The SQL has the classes of Unicode 17. A later version has more characters, which may differ. */
const NEWER = Math.max(0, CHARACTERS.length - ASSIGNED_IN_UNICODE_17);

/** The texts as the server folds them by one of its functions. */
async function onServer(name: 'fold_for_search' | 'search_forms', texts: readonly string[]): Promise<readonly string[]> {
  const { rows } = await gateway.database.client.query<{ folded: string[] }>(
    `SELECT array_agg(${name}(text) ORDER BY at) AS folded FROM unnest($1::text[]) WITH ORDINALITY AS one(text, at)`,
    [texts],
  );
  return rows[0]!.folded;
}

const between = (character: string) => `a${character}b`;

test('a caller finds a word after each character of Unicode that is no letter, mark or number, and after no other, as the page does', async () => {
  const texts = await onServer('fold_for_search', CHARACTERS.map(between));
  const isInWord = (character: string) => /[\p{L}\p{M}\p{N}\p{Cf}\p{DI}'’`´‘‛′ʹʻʼʽʾʿ՚׳＇｀]/u.test(character);
  const differing = CHARACTERS.filter((character, at) => !(isInWord(character) ? /^a[^ ]*b$/ : /^a ([^ ]+ )*b$/).test(texts[at]!));
  expect(differing.length).toBeLessThanOrEqual(NEWER);

  // Servers know the decompositions of different versions of Unicode.
  const isOld = (character: string) => character < '\u3400' || (character > '\ufb00' && character < '\uffff');
  const isPlain = (character: string) => character.normalize('NFKD') === character;
  const compared = CHARACTERS.flatMap((character, at) => (isOld(character) || isPlain(character) ? [at] : []));
  const unlike = compared.filter((at) => texts[at] !== foldWords(between(CHARACTERS[at]!))).map((at) => CHARACTERS[at]);
  expect(unlike.slice(NEWER)).toEqual([]);
});

test('a caller finds the same by each letter of Unicode and by its capital', async () => {
  const isOne = (text: string) => /^.$/su.test(text);
  const pairs = CHARACTERS.flatMap((character) =>
    [character.toLowerCase(), character.toUpperCase()]
      // The sign below a Greek letter is an accent, and its capital a letter.
      .filter((other) => other !== character && isOne(other) && character !== '\u0345')
      .map((other) => [character, other] as const),
  );
  expect(pairs.length).toBeGreaterThan(2700);
  const [ones, others] = await Promise.all(
    [0, 1].map((side) =>
      onServer(
        'fold_for_search',
        pairs.map((pair) => pair[side]!),
      ),
    ),
  );
  expect(pairs.filter((_, at) => ones![at] !== others![at]).slice(NEWER)).toEqual([]);
  expect(pairs.filter(([one, other]) => foldWords(one) !== foldWords(other))).toEqual([]);
});

test('a caller finds a name by its letters without the marks that are none of their own', async () => {
  const accents = [
    ['Latin', 'e\u0301\u1ab0\u1dc4\u20d0\ufe20', 'e'],
    ['Cyrillic', 'и\u0306\u0483\u2de0\ua66f', 'и'],
    ['Glagolitic', 'ⰰ\u{1e000}', 'ⰰ'],
    ['Coptic', 'ⲁ\u2cef', 'ⲁ'],
    ['Arabic', 'آأإٱا\u064b\u0650\u0651\u0652\u0670\u0610\u06d6\u08f0', 'ااااا'],
    ['Arabic stretched', 'مـــن', 'من'],
    ['Hebrew', 'ש\u05c1\u05b8\u0591\u05bc\ufb1e', 'ש'],
    ['Syriac', 'ܐ\u0711\u0730\u074a', 'ܐ'],
    ['Samaritan and Mandaic', 'ࠀ\u0816ࡀ\u0859', 'ࠀࡀ'],
    ['Ethiopic', 'ሀ\u135d\u135f', 'ሀ'],
    ['N’Ko', 'ߊ\u07eb\u07f2', 'ߊ'],
    ['Adlam', '𞤀\u{1e944}\u{1e94a}', '𞤢'],
    ['Indic', 'ज़ड़ਜ਼જ઼ଡ଼ఙ఼ಙ಼', 'जडਜજଡఙಙ'],
  ] as const;
  const plain = accents.map(([, , letters]) => letters);
  expect(
    await onServer(
      'fold_for_search',
      accents.map(([, marked]) => marked),
    ),
  ).toEqual(plain);
  expect(accents.map(([, marked]) => foldWords(marked))).toEqual(plain);

  const kept = ['कि', 'क्', 'कं', 'রী', 'กี่', 'ກໍ່', 'ကံ့', 'កំ', 'ދި', 'か\u3099', 'は\u309a', 'བོ'];
  expect(await onServer('fold_for_search', kept)).toEqual(kept);
  expect(kept.map(foldWords)).toEqual(kept);
});

const oneOf = (...texts: readonly string[]) => fc.constantFrom(...Array.from(texts.join('')));

test('a caller of the gateway and one of the page search the same forms, whatever stands beside what', async () => {
  const character = fc.oneof(
    oneOf(' \t\u00a0\u3000.,-(|・🙂', "''’´ʻ`′＇"),
    oneOf('aAeÆæßẞĦƑᲐაӔᲂᴲ½™ﷺ㈱ﬁ', '李小龙김철수ジョンｽﾐガ々ーﾞ한', 'محمـأٱकनमท์ี'),
    oneOf('\u0301\u0323\u0651\u0654\u05bc\u093c\u094d\u093f\u0e38\u0e48\u3099\u309a\u302a\u20e3\ufe0f\u200d\u00ad'),
  );
  const names = fc.sample(fc.string({ unit: character, maxLength: 8 }), 20_000);
  const forms = await onServer('search_forms', names);
  const unlike = names.flatMap((name, at) =>
    forms[at] === searchForms(name).join(' | ') ? [] : [[name, forms[at], ...searchForms(name)]],
  );
  expect(unlike.slice(0, 5)).toEqual([]);
});

test('a caller finds a name of ASCII by the same text with an accent in it, whatever its characters', async () => {
  const character = fc.oneof(
    fc.constantFrom(' ', '.', ',', '-', "'", '`', '\t', '\n', '(', '_', '|'),
    fc.integer({ min: 1, max: 126 }).map((code) => String.fromCharCode(code)),
  );
  const names = fc.sample(fc.string({ unit: character, maxLength: 12 }), 5000);
  const [plain, accented] = await Promise.all(
    ['e.', 'é.'].map((end) =>
      onServer(
        'fold_for_search',
        names.map((name) => name + end),
      ),
    ),
  );
  expect(names.filter((_, at) => plain![at] !== accented![at])).toEqual([]);
  expect(await onServer('fold_for_search', [" \tO'Neil--van  der Berg, Jr.\n"])).toEqual(['oneil van der berg jr']);
});
