import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const ROOT = resolve(__dirname, '../..');

export interface Document {
  /** Its path from the repository's root. */
  readonly name: string;
  readonly text: string;
}

export interface Block {
  readonly language: string;
  readonly body: string;
}

/** The folder of the frontend app, and the sections of docs/frontend.md that show its files. */
export const FRONTEND_APP = join(ROOT, 'test/frontend');
export const APP_SECTIONS = ['Typed documents', 'Apollo Client', 'Screens', 'Relay'];
/** The sections of docs/v2.md whose commands need an old service, in the order in which moving.test.ts runs them. */
export const MOVING_SECTIONS = ['Moving from the old service', 'Compare both services', 'Follow the old service'];

/** Every document of the repository: those at its root, and those in docs. */
export const documents: readonly Document[] = [
  ...readdirSync(ROOT),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
]
  .filter((name) => name.endsWith('.md'))
  .sort()
  .map((name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }));

export function readDocument(name: string): string {
  const found = documents.find((document) => document.name === name);
  if (!found) throw new Error(`There is no document ${name}`);
  return found.text;
}

export const blocksOf = (text: string): Block[] =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({ language, body }));

/** A document's text without its blocks. */
export const proseOf = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, '');

/** The text under a heading of any level, up to the next heading of the same level or a higher one. */
export function sectionOf(text: string, heading: string): string {
  const [, level, rest] = new RegExp(`^(#+) ${heading}$([\\s\\S]*)`, 'm').exec(text) ?? [];
  if (level === undefined || rest === undefined) throw new Error(`There is no heading ${heading}`);
  return rest.split(new RegExp(`^#{1,${level.length}} `, 'm'))[0]!;
}

/** The rows of the first table of a text that has a column of this name, cells trimmed and without code marks. */
export function tableOf(text: string, column: string): string[][] {
  const tables = proseOf(text)
    .split(/\n\s*\n/)
    .map((part) => part.split('\n').filter((line) => line.startsWith('|')));
  const cellsOf = (row: string): string[] =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', ''));
  const found = tables.find(([head = '']) => cellsOf(head).includes(column));
  if (!found) throw new Error(`There is no table with a column ${column}`);
  return found.slice(2).map(cellsOf);
}

/** The examples of a language under a heading of a document, as one text. */
export function readExample(name: string, heading: string, language: string): string {
  const bodies = blocksOf(sectionOf(readDocument(name), heading)).filter((block) => block.language === language);
  if (bodies.length === 0) throw new Error(`${name} has no example in ${language} under ${heading}`);
  return bodies.map(({ body }) => body).join('\n');
}

const IMPORT = /^import \{ ([^}]+) \} from '([^']+)';$/gm;

/** Runs an example as it is written, with its imports and with names that are given, and gives back what it has made under some. */
export async function runExample<Made>(
  example: string,
  given: Readonly<Record<string, unknown>>,
  made: readonly (keyof Made & string)[],
): Promise<Made> {
  const names: Record<string, unknown> = { ...given };
  for (const [, list = '', from = ''] of example.matchAll(IMPORT)) {
    for (const name of list.split(', ').filter((each) => !(each in given))) {
      const exported = jest.requireActual<Readonly<Record<string, unknown>>>(from);
      if (exported[name] === undefined) throw new Error(`${from} has no ${name}`);
      names[name] = exported[name];
    }
  }
  const directory = mkdtempSync(join(tmpdir(), 'example-'));
  const file = join(directory, 'example.js');
  const body = example.replaceAll(IMPORT, '');
  writeFileSync(file, `module.exports = async ({ ${Object.keys(names).join(', ')} }) => {\n${body}\nreturn { ${made.join(', ')} };\n};`);
  try {
    return await jest.requireActual<(names: object) => Promise<Made>>(file)(names);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
