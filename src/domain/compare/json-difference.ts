import { isLineName, lineFields } from '../../line/line-fields';

/**
 * The kinds of differences between two JSON texts. Those with a form of their own (`zeros`, `null`, `escapes`, `whitespace` and
 * `text-whitespace`) have the same meaning for most readers. `body` stands for a text that is no JSON, or is nested too deeply.
 */
export const textClasses = [
  ...(['key-missing', 'key-extra', 'key-order', 'type', 'value', 'zeros', 'null', 'escapes', 'whitespace', 'text-whitespace'] as const),
] as const;
type TextClass = (typeof textClasses)[number] | 'body';

export interface TextDifference {
  readonly class: TextClass;
  /** The way to the value: `errors[0].error`; empty for the whole text. */
  readonly path: string;
  /** Both values as they are written; undefined where there is none, or where no value but the text around it differs. */
  readonly old?: string;
  readonly new?: string;
}

/** A value with the text that it is written as. */
interface Node {
  readonly text: string;
  readonly value: unknown;
  /** The members of an object by name. The second one with a name has `AGAIN` behind it. */
  readonly members?: ReadonlyMap<string, Member>;
  readonly elements?: readonly Node[];
}
interface Member extends Node {
  /** The name as it is written. */
  readonly name: string;
}

/** Finds all differences between two texts, from old to new. Equal texts have none, and different ones have some. */
export function findDifferences(oldText: string, newText: string): TextDifference[] {
  if (oldText === newText) return [];
  try {
    const [old, now] = [new TextReader(oldText), new TextReader(newText)];
    const found = compare(old.read(), now.read(), '');
    // Texts with other members, or with their members at other places, have the white space of these at other places.
    const isInPlace = found.every(({ class: kind }) => !['key-missing', 'key-extra', 'key-order'].includes(kind));
    const spaceOf = ({ space }: TextReader): string => (isInPlace ? space : [...new Set(space)].sort()).join('|');
    if (spaceOf(old) !== spaceOf(now) || found.length === 0) found.push({ class: 'whitespace', path: '' });
    return found;
  } catch (error) {
    if (error instanceof SyntaxError) return [{ class: 'body', path: '', old: oldText, new: newText }];
    throw error;
  }
}

function compare(before: Node, after: Node, path: string): TextDifference[] {
  if (before.text === after.text) return [];
  if (before.members && after.members) return compareMembers(before.members, after.members, path);
  if (before.elements && after.elements) return compareElements(before.elements, after.elements, path);
  return classesOf(before, after, path).map((kind) => ({ class: kind, path, old: before.text, new: after.text }));
}

function compareMembers(old: ReadonlyMap<string, Member>, now: ReadonlyMap<string, Member>, path: string): TextDifference[] {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const found: TextDifference[] = [];
  for (const [name, node] of old) {
    const other = now.get(name);
    if (!other) found.push({ class: 'key-missing', path: at(name), old: node.text });
    else for (const difference of compare(node, other, at(name))) found.push(difference);
    if (other && node.name !== other.name) found.push({ class: 'escapes', path: at(name) });
  }
  for (const [name, node] of now) if (!old.has(name)) found.push({ class: 'key-extra', path: at(name), new: node.text });
  const [shared, sharedNow] = [[...old.keys()].filter((name) => now.has(name)), [...now.keys()].filter((name) => old.has(name))];
  if (shared.some((name, position) => name !== sharedNow[position])) found.push({ class: 'key-order', path });
  return found;
}

function compareElements(old: readonly Node[], now: readonly Node[], path: string): TextDifference[] {
  const shared = Math.min(old.length, now.length);
  return [
    ...old.slice(0, shared).flatMap((node, position) => compare(node, now[position]!, `${path}[${position}]`)),
    ...old.slice(shared).map(({ text }, position) => ({ class: 'key-missing' as const, path: `${path}[${shared + position}]`, old: text })),
    ...now.slice(shared).map(({ text }, position) => ({ class: 'key-extra' as const, path: `${path}[${shared + position}]`, new: text })),
  ];
}

/** Several where two differ in form twice: 100 and "100.00" have another type and other zeros. */
function classesOf(one: Node, other: Node, path: string): TextClass[] {
  const [before, after] = [one.value, other.value];
  const [kind, kindNow] = [typeof before, typeof after];
  if ((before === null && after === '') || (before === '' && after === null)) return ['null'];
  if (before === undefined || after === undefined) return ['type'];
  if (kind === 'string' && kind === kindNow && before === after) return ['escapes'];
  const [text, textNow] = [unquoted(one), unquoted(other)];
  if (kind !== kindNow && text === textNow) return ['type'];
  const kinds: TextClass[] = kind !== kindNow && before !== null && after !== null ? ['type'] : [];
  const isDecimal = isMoneyField(path) || (kind === 'number' && kindNow === 'number');
  if (isDecimal && withoutZeros(text) === withoutZeros(textNow)) return [...kinds, 'zeros'];
  return [...kinds, withoutSpace(text) === withoutSpace(textNow) ? 'text-whitespace' : 'value'];
}

/** The text of a scalar. A number is not made one, because it may have more digits than Node knows. */
const unquoted = ({ text, value }: Node): string => (typeof value === 'string' ? value : text);

/** True for an amount, whose zeros say nothing. The same characters in a text, such as a telephone number, do. */
const isMoneyField = (path: string): boolean => isLineName(path) && lineFields[path].type === 'money';

/** A decimal number without the zeros at its end. Those at its beginning count: a ZIP has them. */
const withoutZeros = (text: string): string => (/^-?[0-9]+\.[0-9]*$/.test(text) ? text.replace(/\.?0*$/, '') : text);

const withoutSpace = (text: string): string => text.trim().replace(/\s+/g, ' ');

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const WORD = /[-+.0-9A-Za-z]+/y;
const SPACE = /[ \t\n\r]*/y;
const MAX_DEPTH = 100;
const AGAIN = ' (again)';

/** Reads a JSON text with the places of its values. V8 has checked the text first, so that this reader need not. */
class TextReader {
  private at = 0;
  /** The white space between the tokens, in their order. */
  readonly space: string[] = [];

  constructor(private readonly text: string) {
    JSON.parse(text);
  }

  read(): Node {
    this.skip();
    const node = this.value(0);
    this.skip();
    return node;
  }

  private value(depth: number): Node {
    if (depth > MAX_DEPTH) throw new SyntaxError('The text is nested too deeply');
    const begin = this.at;
    const first = this.text[begin];
    const inner = first === '{' ? this.object(depth) : first === '[' ? this.array(depth) : this.scalar(first === '"' ? STRING : WORD);
    return { ...inner, text: this.text.slice(begin, this.at) };
  }

  private object(depth: number): Omit<Node, 'text'> {
    const members = new Map<string, Member>();
    for (const isNext = this.entries('}'); isNext();) {
      const written = this.match(STRING);
      this.skip();
      this.at++;
      this.skip();
      let name = JSON.parse(written) as string;
      while (members.has(name)) name += AGAIN;
      members.set(name, { ...this.value(depth + 1), name: written });
    }
    return { value: undefined, members };
  }

  private array(depth: number): Omit<Node, 'text'> {
    const elements: Node[] = [];
    for (const isNext = this.entries(']'); isNext();) elements.push(this.value(depth + 1));
    return { value: undefined, elements };
  }

  private scalar(pattern: RegExp): Omit<Node, 'text'> {
    return { value: JSON.parse(this.match(pattern)) as unknown };
  }

  /** Passes the brackets and commas of an object or array. The function is true while another entry follows. */
  private entries(end: string): () => boolean {
    this.at++;
    return () => {
      this.skip();
      if (this.text[this.at] === ',') {
        this.at++;
        this.skip();
      }
      if (this.text[this.at] !== end) return true;
      this.at++;
      return false;
    };
  }

  private skip(): void {
    this.space.push(this.match(SPACE));
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text)!;
    this.at += found.length;
    return found;
  }
}
