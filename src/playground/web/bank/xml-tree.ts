import { parser as createParser, type QualifiedTag } from 'sax';
import { StatementFault } from './bank-statement';

/** An element of an XML file. Elements of another namespace than the root's are left out. */
export interface XmlElement {
  readonly name: string;
  /** The namespace. */
  readonly uri: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text of the element itself, without blanks around it. */
  readonly text: string;
}

interface OpenElement extends XmlElement {
  readonly children: OpenElement[];
  text: string;
}

/** A statement is eleven elements deep. */
const MOST_DEPTH = 64;

/**
 * Reads an XML file that is well formed. A document type is refused, and with it every entity of its own: nothing is expanded and nothing is
 * fetched. Throws a StatementFault that names the line.
 */
export function readXml(text: string): XmlElement {
  const parser = createParser(true, { xmlns: true });
  const open: OpenElement[] = [];
  let root: OpenElement | undefined;
  let isRefused: string | undefined;
  const refuse = (reason: string): never => {
    isRefused = `The file is no XML that can be read: ${reason} (line ${String(parser.line + 1)}).`;
    throw new StatementFault(isRefused);
  };
  parser.onerror = ({ message }) => refuse(message.split('\n')[0]!.replace(/\.$/, ''));
  parser.ondoctype = () => refuse('it has a document type, which no statement has');
  parser.onopentag = (tag) => {
    const { local, uri, attributes } = tag as QualifiedTag;
    if (open.length === 0 && root) refuse('it has two roots');
    if (open.length === MOST_DEPTH) refuse('its elements are too deep');
    const values = Object.values(attributes).map((attribute) => [attribute.local, attribute.value.trim()] as const);
    const element: OpenElement = { name: local, uri, attributes: Object.fromEntries(values), children: [], text: '' };
    root ??= element;
    if (uri === root.uri) open.at(-1)?.children.push(element);
    open.push(element);
  };
  const addText = (part: string): void => {
    const element = open.at(-1);
    if (element) element.text += part;
  };
  parser.ontext = addText;
  parser.oncdata = addText;
  parser.onclosetag = () => {
    const element = open.pop();
    if (element) element.text = element.text.trim();
  };
  try {
    parser.write(text).close();
  } catch (error) {
    // The parser throws its own error again after the one of its handler.
    throw isRefused === undefined ? error : new StatementFault(isRefused);
  }
  return root ?? refuse('it is empty');
}

/** The elements at a path of names below an element. */
export function findAll(element: XmlElement, ...path: readonly string[]): readonly XmlElement[] {
  return path.reduce<readonly XmlElement[]>(
    (found, name) => found.flatMap(({ children }) => children.filter((child) => child.name === name)),
    [element],
  );
}

/** The text of the first element at a path that has one; empty where none has. */
export const textAt = (element: XmlElement, ...path: readonly string[]): string =>
  findAll(element, ...path).find(({ text }) => text !== '')?.text ?? '';
