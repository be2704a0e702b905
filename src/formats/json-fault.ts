type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'more' | 'nothing';

const LITERALS = ['true', 'false', 'null'];
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const NUMBER_BEGINNING = /^-?((0|[1-9][0-9]*)((\.[0-9]*)?|(\.[0-9]+)?[eE][+-]?[0-9]*))?$/;
/** The longest number or literal that is accepted; no meaningful number is longer. */
const MAX_WORD_LENGTH = 400;
const IN_WORD = /[-+.0-9A-Za-z]/;
/** The first code unit of each character that has two. */
const PAIRS = /[\ud800-\udbff]/g;

/**
 * Finds the place where a text stops being JSON (RFC 8259). The text may come in pieces of any size. V8 tells the place of some faults only
 * and quotes the text, which may be personal.
 */
export class JsonFaultFinder {
  private line = 1;
  private column = 1;
  private expected: Expected = 'value';
  /** The closing brackets of the open arrays and objects. */
  private readonly open: string[] = [];
  private isInString = false;
  private isEscaped = false;
  private hexDigitsLeft = 0;
  /** The part of a literal or number that has been read. */
  private word = '';
  private isBroken = false;

  /** Reads a piece. True when the text so far can be the beginning of JSON; after false, no piece may be added. */
  add(piece: string): boolean {
    for (const character of piece) {
      if (!this.take(character)) return !(this.isBroken = true);
      if (character === '\n') [this.line, this.column] = [this.line + 1, 1];
      else if (!isSecondHalf(character)) this.column++;
    }
    return true;
  }

  /** Ends the text. True when it is complete JSON. */
  end(): boolean {
    this.endWord();
    return this.expected === 'nothing' && !this.isInString;
  }

  /** The number of open arrays and objects. */
  get depth(): number {
    return this.open.length;
  }

  /**
   * True when a value, an object's name, or a comma or closing bracket can stand here. White space and a closing bracket may come first.
   */
  expects(what: 'value' | 'key' | 'more'): boolean {
    return !this.isInString && this.word === '' && this.expected.endsWith(what);
  }

  /** True within the name of an object's member. */
  get isInName(): boolean {
    return this.isInString && this.expected.endsWith('key');
  }

  /** Passes a whole value by, which the caller has read as JSON. */
  passValue(text: string): void {
    let begin = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', begin)) {
      begin = end + 1;
      this.line++;
      this.column = 1;
    }
    const last = text.slice(begin);
    this.column += last.length - (last.match(PAIRS)?.length ?? 0);
    this.endValue();
  }

  /** The fault of the text so far and its place, both numbers from 1, in words that follow the text's name. A text that goes on breaks off. */
  describe(): string {
    return `${this.isBroken ? 'is not JSON' : 'breaks off'} at line ${this.line}, column ${this.column}`;
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

  /** Ends a literal or number. False when it is neither. */
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

/** True for the second code unit of a character, where the two are read one by one. */
const isSecondHalf = (character: string): boolean => character.length === 1 && character >= '\udc00' && character <= '\udfff';
const isWordBeginning = (word: string): boolean => LITERALS.some((literal) => literal.startsWith(word)) || NUMBER_BEGINNING.test(word);

/** The fault of a text as JSON and its place, in words that follow the text's name; undefined when there is none. */
export function findJsonFault(text: string): string | undefined {
  const finder = new JsonFaultFinder();
  return finder.add(text) && finder.end() ? undefined : finder.describe();
}
