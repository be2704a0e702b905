import { OperatorError } from '../errors';
import type { RawLine } from './import-line';
import { JsonFaultFinder } from './json-fault';

/** A JSON object without other objects or arrays in it (RFC 8259). */
const FLAT_OBJECT = (() => {
  const space = '[ \\t\\n\\r]*';
  const text = '"[^"\\\\\\x00-\\x1f]*(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\\\\x00-\\x1f]*)*"';
  const number = '-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?';
  const member = `${text}${space}:${space}(?:${text}|${number}|true|false|null)${space}`;
  return new RegExp(`\\{${space}(?:${member}(?:,${space}${member})*)?\\}`, 'y');
})();

/** An object that is longer than this goes through the fault finder, so that a broken one does not fill the memory. */
const MAX_GUESS_LENGTH = 1_000_000;
/** No line of a report is longer. */
const MAX_OBJECT_LENGTH = 10_000_000;

/** Gets the text of an answer around its lines, which are then read as texts. */
export interface AnswerFrame {
  /** Adds a character that stands outside of the objects in the array. */
  add(character: string): void;
  /** Passes an object by. */
  passLine(): void;
}

/**
 * Reads the lines of a v2 answer, `{"response":[…]}`. An object in the array ends at the first `}` that makes it JSON, and V8 reads it at
 * once. All other text goes through the fault finder, character by character. The lines come as many at once as a piece of the text ends.
 * With a frame, lines have texts and no values, and a line that is no object has neither.
 */
export async function* readResponse(pieces: AsyncIterable<string>, frame?: AnswerFrame): AsyncGenerator<readonly RawLine[]> {
  const walk = new AnswerWalk();
  let line = 0;
  let rest = '';
  /** The first part of an object that goes through the fault finder. */
  let slow: string | undefined;
  for await (const piece of pieces) {
    const text = rest + piece;
    const lines: RawLine[] = [];
    rest = '';
    let at = 0;
    let start = 0;
    while (at < text.length) {
      if (slow === undefined && walk.awaitsElement) {
        start = at;
        if (text[at] === '{') {
          const end = text.indexOf('}', at) + 1;
          if (end === 0 && text.length - at < MAX_GUESS_LENGTH) break;
          if (frame) {
            FLAT_OBJECT.lastIndex = at;
            const written = FLAT_OBJECT.exec(text)?.[0];
            if (written !== undefined) {
              walk.passElement(written);
              frame.passLine();
              at += written.length;
              lines.push({ line: ++line, values: undefined, text: written });
              continue;
            }
          }
          const values = end === 0 || frame ? undefined : parseGuess(text.slice(at, end));
          if (values !== undefined) {
            walk.passElement(text.slice(at, end));
            at = end;
            lines.push({ line: ++line, values });
            continue;
          }
          slow = '';
        } else if (!' \t\n\r]'.includes(text[at]!)) {
          // No other value is a line, so it need not be known.
          lines.push({ line: ++line, values: undefined });
        }
      }
      if (!walk.take(text[at]!)) throw walk.describeFault();
      if (slow === undefined) frame?.add(text[at]!);
      at++;
      if (slow !== undefined && walk.awaitsComma) {
        const written = slow + text.slice(start, at);
        lines.push(frame ? { line: ++line, values: undefined, text: written } : { line: ++line, values: JSON.parse(written) });
        frame?.passLine();
        slow = undefined;
      }
    }
    if (slow === undefined) rest = text.slice(at);
    else slow += text.slice(start);
    if (slow !== undefined && slow.length > MAX_OBJECT_LENGTH)
      throw toFault(`its line ${line + 1} is longer than ${MAX_OBJECT_LENGTH} characters`);
    yield lines;
  }
  for (const character of rest) if (!walk.take(character)) throw walk.describeFault();
  if (!walk.end()) throw walk.describeFault();
  if (walk.response !== 'array') throw toFault(walk.response === 'none' ? 'it has no array "response"' : '"response" must be an array');
  // An answer with an error or a mark of its end beside its lines may be a part of them (contract section 4.3: an object with one key).
  if (!frame && walk.hasOthers) throw toFault('it has more than the array "response"');
}

const toFault = (reason: string): OperatorError => new OperatorError(`The file is not a v2 answer in JSON: ${reason}`);

function parseGuess(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A brace within a text or after a nested object ends nothing.
    return undefined;
  }
}

/** Each character of the name "response" may be written as an escape of six characters. */
const MAX_NAME_LENGTH = 50;
const ARRAY_DEPTH = 2;
/** No answer is nested so deeply. */
const MAX_DEPTH = 200;

/** Knows where in an answer a text stands that is read character by character. */
class AnswerWalk {
  private readonly finder = new JsonFaultFinder();
  private state: 'before' | 'within' | 'after' = 'before';
  /** The kind of value that the first `response` has. */
  response: 'none' | 'array' | 'other' = 'none';
  /** True when the outer object has another member. */
  hasOthers = false;
  /** The beginning of the last name in the answer's outer object, as it is written. */
  private name = '';

  /** True in the array `response`, where an element, white space or the array's end stands next. */
  get awaitsElement(): boolean {
    return this.state === 'within' && this.finder.depth === ARRAY_DEPTH && this.finder.expects('value');
  }

  /** True in the array `response`, after an element. */
  get awaitsComma(): boolean {
    return this.finder.depth === ARRAY_DEPTH && this.finder.expects('more');
  }

  /** Passes an element by, which the caller has read. */
  passElement(text: string): void {
    this.finder.passValue(text);
  }

  /** The fault of a text that is not JSON, or not whole, with its place. */
  describeFault(): OperatorError {
    return toFault(`it ${this.finder.describe()}`);
  }

  /**
   * Reads a character. False when it cannot stand in JSON. Throws an OperatorError at a second `response`. The rest of a text whose
   * `response` is no array is read too: it may not be JSON, which says more.
   */
  take(character: string): boolean {
    const { finder } = this;
    const isOuter = finder.depth === 1;
    const beginsValue = isOuter && finder.expects('value') && !' \t\n\r'.includes(character);
    if (isOuter && finder.expects('key')) this.name = character;
    else if (isOuter && finder.isInName && this.name.length < MAX_NAME_LENGTH) this.name += character;
    if (!finder.add(character)) return false;
    if (finder.depth > MAX_DEPTH) throw toFault('it is nested too deeply');
    if (this.state === 'within' && finder.depth === 1) this.state = 'after';
    if (!beginsValue) return true;
    if (!isResponse(this.name)) this.hasOthers = true;
    if (!isResponse(this.name)) return true;
    if (this.state === 'after') throw toFault('it has two arrays "response"');
    if (this.response === 'none') this.response = character === '[' ? 'array' : 'other';
    if (this.response === 'array') this.state = 'within';
    return true;
  }

  /** Ends the text. True when it is complete JSON. */
  end(): boolean {
    return this.finder.end();
  }
}

/** True for a name that says "response". A longer name has no end here and is not JSON. */
function isResponse(name: string): boolean {
  return name.endsWith('"') && parseGuess(name) === 'response';
}
