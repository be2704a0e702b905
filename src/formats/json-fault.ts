type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'more' | 'nothing';

const LITERALS = ['true', 'false', 'null'];
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const NUMBER_BEGINNING = /^-?((0|[1-9][0-9]*)((\.[0-9]*)?|(\.[0-9]+)?[eE][+-]?[0-9]*))?$/;
/** No number that means anything is longer. */
const MAX_WORD_LENGTH = 400;
const IN_WORD = /[-+.0-9A-Za-z]/;

/**
 * Finds where a text stops being JSON (RFC 8259), however it is cut into pieces. V8 tells the place of some faults only, and quotes the
 * text, which may be personal; stream-json tells none.
 */
class JsonFaultFinder {
  private line = 1;
  private column = 1;
  private expected: Expected = 'value';
  /** The brackets that close what is open. */
  private readonly open: string[] = [];
  private isInString = false;
  private isEscaped = false;
  private hexDigitsLeft = 0;
  /** A literal or a number as far as it has come. */
  private word = '';

  /** Whether the text is still the beginning of JSON; once it is not, nothing may be added. */
  add(piece: string): boolean {
    for (const character of piece) {
      if (!this.take(character)) return false;
      if (character === '\n') [this.line, this.column] = [this.line + 1, 1];
      else this.column++;
    }
    return true;
  }

  /** Whether the text, which now has ended, is whole. */
  end(): boolean {
    this.endWord();
    return this.expected === 'nothing' && !this.isInString;
  }

  /** How far the text came. */
  get place(): { readonly line: number; readonly column: number } {
    return { line: this.line, column: this.column };
  }

  private take(character: string): boolean {
    if (this.isInString) return this.takeInString(character);
    if (this.word !== '' && IN_WORD.test(character)) {
      this.word += character;
      return this.word.length <= MAX_WORD_LENGTH && isWordBeginning(this.word);
    }
    if (!this.endWord()) return false;
    return ' \t\n\r'.includes(character) || this.takeToken(character);
  }

  private takeInString(character: string): boolean {
    if (this.hexDigitsLeft > 0) {
      this.hexDigitsLeft--;
      return /[0-9a-fA-F]/.test(character);
    }
    if (this.isEscaped) {
      this.isEscaped = false;
      if (character === 'u') this.hexDigitsLeft = 4;
      return '"\\/bfnrtu'.includes(character);
    }
    if (character === '\\') this.isEscaped = true;
    else if (character === '"') {
      this.isInString = false;
      if (this.expected === 'key' || this.expected === 'first key') this.expected = 'colon';
      else this.endValue();
    }
    return character >= ' ';
  }

  private takeToken(character: string): boolean {
    const { expected, open } = this;
    if (character === '"' && expected.endsWith('key')) return (this.isInString = true);
    if (expected === 'colon' && character === ':') return this.expect('value');
    if (expected === 'more' && character === ',') return this.expect(open.at(-1) === '}' ? 'key' : 'value');
    if ((expected === 'more' || expected.startsWith('first')) && character === open.at(-1)) {
      open.pop();
      return this.endValue();
    }
    return expected.endsWith('value') && this.beginValue(character);
  }

  private beginValue(character: string): boolean {
    if (character === '"') return (this.isInString = true);
    if (character === '{' || character === '[') {
      this.open.push(character === '{' ? '}' : ']');
      return this.expect(character === '{' ? 'first key' : 'first value');
    }
    this.word = character;
    return isWordBeginning(character);
  }

  private endValue(): boolean {
    return this.expect(this.open.length > 0 ? 'more' : 'nothing');
  }

  /** False where a word is none. */
  private endWord(): boolean {
    if (this.word === '') return true;
    if (!LITERALS.includes(this.word) && !NUMBER.test(this.word)) return false;
    this.word = '';
    return this.endValue();
  }

  private expect(next: Expected): true {
    this.expected = next;
    return true;
  }
}

const isWordBeginning = (word: string): boolean => LITERALS.some((literal) => literal.startsWith(word)) || NUMBER_BEGINNING.test(word);

/** What is wrong with a text as JSON and where, to follow its name; undefined where nothing is. */
export function findJsonFault(text: string): string | undefined {
  const finder = new JsonFaultFinder();
  return finder.add(text) ? (finder.end() ? undefined : describeBreak(finder)) : describeFault(finder);
}

/** The same for a text that comes in pieces. */
export async function findJsonFaultIn(pieces: AsyncIterable<string>): Promise<string | undefined> {
  const finder = new JsonFaultFinder();
  for await (const piece of pieces) if (!finder.add(piece)) return describeFault(finder);
  return finder.end() ? undefined : describeBreak(finder);
}

const describeFault = ({ place: { line, column } }: JsonFaultFinder): string => `is not JSON at line ${line}, column ${column}`;
const describeBreak = ({ place: { line, column } }: JsonFaultFinder): string => `breaks off at line ${line}, column ${column}`;
