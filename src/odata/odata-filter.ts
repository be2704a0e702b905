import { AppError, InputError } from '../errors';

/** The comparisons that a filter may have. All of them must hold. */
const operators = ['eq', 'ge', 'le'] as const;
type Operator = (typeof operators)[number];

/** A literal, of which a text has no quotes. */
export interface Literal {
  readonly type: 'text' | 'number' | 'date' | 'boolean';
  readonly value: string;
}

export interface Comparison {
  readonly property: string;
  readonly operator: Operator;
  readonly literal: Literal;
}

const MAX_LENGTH = 4000;
const MAX_COMPARISONS = 50;
const SUPPORTED = `comparisons of a property with a literal by ${operators.join(', ')}, joined by and`;
/** Words of OData's expressions (URL Conventions 4.01, section 5.1.1). */
const OTHER_WORDS = ['ne', 'gt', 'lt', 'in', 'has', 'or', 'not', 'add', 'sub', 'mul', 'div', 'divby', 'mod', 'null', 'any', 'all'];

/** Each alternative begins with another character, so that no text takes long to read. */
const TOKENS =
  /(?<space>\s+)|(?<text>'(?:[^']|'')*')|(?<date>\d{4}-\d\d-\d\d(?![\w:.-]))|(?<number>[-+]?\d+(?:\.\d+)?(?![\w:.-]))|(?<word>[A-Za-z_]\w*)|(?<mark>[()])/y;

interface Token {
  readonly kind: 'text' | 'date' | 'number' | 'word' | 'mark' | 'end';
  readonly text: string;
}

/** An error for what OData has and this door has not. */
export const notImplemented = (what: string, supported: string): AppError =>
  new AppError('NOT_IMPLEMENTED', { fault: `${what}; supported is ${supported}` });

/**
 * Reads a filter. Parentheses change nothing where all comparisons must hold, so that they are counted alone and no depth of them costs
 * memory. Throws NOT_IMPLEMENTED for what OData has beside `SUPPORTED`, and INVALID_PARAMETERS for what it has not.
 */
export function parseFilter(text: string): Comparison[] {
  if (text.length > MAX_LENGTH) throw new InputError(`$filter is longer than ${MAX_LENGTH} characters`);
  const found: Comparison[] = [];
  const tokens = readTokens(text);
  const next = (): Token => tokens.next().value ?? END;
  let depth = 0;
  for (let token = next(); ; token = next()) {
    if (token.text === '(' && token.kind === 'mark') {
      depth++;
      continue;
    }
    const read = readComparison(token, next);
    found.push(read.comparison);
    if (found.length > MAX_COMPARISONS) throw new InputError(`$filter has more than ${MAX_COMPARISONS} comparisons`);
    token = read.after;
    for (; token.kind === 'mark' && token.text === ')'; token = next()) if (--depth < 0) throw toFault(token);
    if (token.kind === 'end' && depth === 0) return found;
    if (isOperator(token)) throw notImplemented('$filter compares a comparison', SUPPORTED);
    if (token.kind !== 'word' || token.text !== 'and') throw toFault(token);
  }
}

const END: Token = { kind: 'end', text: 'its end' };

const isOperator = ({ kind, text }: Token): boolean => kind === 'word' && operators.some((each) => each === text);

/** Reads one comparison, and the token after it. A property that stands alone is one that shall be true. */
function readComparison(first: Token, next: () => Token): { readonly comparison: Comparison; readonly after: Token } {
  // A literal before the operator is proper OData.
  if (LITERALS[first.kind] || ['true', 'false'].includes(first.text)) throw notImplemented('$filter has a literal first', SUPPORTED);
  if (first.kind !== 'word' || OTHER_WORDS.includes(first.text)) throw toFault(first);
  const operator = next();
  if (operator.kind === 'mark' && operator.text === '(') throw notImplemented(`$filter calls ${cut(first.text)}`, SUPPORTED);
  const property = first.text;
  if (isOperator(operator))
    return { comparison: { property, operator: operator.text as Operator, literal: readLiteral(next()) }, after: next() };
  if (operator.kind !== 'end' && operator.text !== 'and' && operator.text !== ')') throw toFault(operator);
  return { comparison: { property, operator: 'eq', literal: { type: 'boolean', value: 'true' } }, after: operator };
}

const LITERALS: { readonly [Kind in Token['kind']]?: Literal['type'] } = { text: 'text', date: 'date', number: 'number' };

function readLiteral({ kind, text }: Token): Literal {
  const type = LITERALS[kind];
  if (type === 'text') return { type, value: text.slice(1, -1).replaceAll("''", "'") };
  if (type) return { type, value: text };
  if (kind === 'word' && (text === 'true' || text === 'false')) return { type: 'boolean', value: text };
  // Another property, or a function's name.
  if (kind === 'word') throw notImplemented(`$filter compares with ${cut(text)}`, SUPPORTED);
  if (text === '(') throw notImplemented('$filter compares with a part in parentheses', SUPPORTED);
  throw toFault({ kind, text });
}

function* readTokens(text: string): Generator<Token, undefined> {
  const pattern = new RegExp(TOKENS);
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const groups = pattern.exec(text)?.groups;
    if (!groups) throw toFault({ kind: 'end', text: text.slice(at) });
    const found = Object.entries<string | undefined>(groups).find(([, value]) => value !== undefined)!;
    const [kind, token] = found as [Token['kind'] | 'space', string];
    if (kind !== 'space') yield { kind, text: token };
  }
  return undefined;
}

/** The most characters of a filter that a message repeats. */
const SHOWN = 20;
/** A part of a filter for a message. */
export const cut = (text: string): string => text.slice(0, SHOWN);

/** The beginning of a path, a parameter, a negation, a number with an exponent or an instant. */
const OTHER_FORMS = /^(?:[/@]|\$(?:it|root)\b|\.[a-z_]|-[a-z_(]|[-+]?\d+(?:\.\d+)?e[-+]?\d|\d{4}-\d\d-\d\dT\d)/i;

const toFault = ({ kind, text }: Token): AppError =>
  (kind === 'word' && OTHER_WORDS.includes(text)) || OTHER_FORMS.test(text)
    ? notImplemented(`$filter has ${cut(text)}`, SUPPORTED)
    : new InputError(`$filter cannot be read at ${cut(text)}: write ${SUPPORTED}`);
