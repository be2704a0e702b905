import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { readConfig, settings } from '../../src/config';
import { errorTable, requestFaultTable } from '../../src/errors';
import { blocksOf, documents, proseOf, readDocument, ROOT, tableOf } from '../support/documents';

const MAX_README_LINES = 100;
const MAX_PARAGRAPH_LENGTH = 600;
const MAX_PICTURE_BYTES = 150_000;
/** Files that readers have or make themselves. */
const READERS_FILES = ['noun-role.ts'];
/** The suite's own settings. */
const TEST_SETTINGS = ['TEST_DATABASE_URL', 'TEST_POOLER', 'TEST_CITUS_WORKERS', 'TEST_PACKAGE', 'HISTORY_SEED'];

interface Link {
  readonly from: string;
  readonly target: string;
  /** Path from the root of what it leads to. */
  readonly path: string;
  readonly anchor: string | undefined;
}

const links: readonly Link[] = documents.flatMap(({ name, text }) =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!)
    .filter((target) => !/^https?:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { from: name, target, path: path === '' ? name : normalize(join(dirname(name), path)), anchor };
    }),
);

/** The anchors that GitHub gives the headings of a text. */
const anchorsOf = (text: string): string[] =>
  [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const filesUnder = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`);

/** The texts between code marks in a document's prose. */
const codeMarksOf = (text: string): string[] => [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);

describe('a reader of the documents', () => {
  test('gets somewhere by every link, and to the heading that it names', () => {
    expect(links.length).toBeGreaterThan(50);
    const lost = links.filter(({ path, anchor }) => {
      if (!existsSync(join(ROOT, path))) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(join(ROOT, path), 'utf8')).includes(anchor);
    });
    expect(lost).toEqual([]);
  });

  test('finds every document and every picture from the README, and waits for no large one', () => {
    const fromReadme = new Set(['README.md']);
    // A set gives out what is added while it is gone through.
    for (const name of fromReadme) for (const { from, path } of links) if (from === name) fromReadme.add(path);
    const files = [...documents.map(({ name }) => name), ...filesUnder('docs').filter((name) => /\.\w+$/.test(name)), 'LICENSE'];
    expect(files.filter((name) => !fromReadme.has(name))).toEqual([]);
    const pictures = files.filter((name) => name.endsWith('.png'));
    expect(pictures.filter((name) => statSync(join(ROOT, name)).size > MAX_PICTURE_BYTES)).toEqual([]);
    const direct = links.filter(({ from }) => from === 'README.md').map(({ path }) => path);
    const subjects = documents.map(({ name }) => name).filter((name) => /^(docs\/)?[\w-]+\.md$/.test(name) && name !== 'README.md');
    expect(subjects.filter((name) => !direct.includes(name))).toEqual([]);
  });

  test('reads a short README, short paragraphs, and one title a document', () => {
    expect(readDocument('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_README_LINES);
    const paragraphs = documents.flatMap(({ name, text }) =>
      proseOf(text)
        .split(/\n\s*\n|\n(?=[-|]|\d+\. )/)
        .map((paragraph) => ({ name, paragraph })),
    );
    expect(paragraphs.filter(({ paragraph }) => paragraph.length > MAX_PARAGRAPH_LENGTH)).toEqual([]);
    const titles = documents.map(({ name, text }) => [name, proseOf(text).match(/^# /gm)?.length]);
    expect(titles).toEqual(documents.map(({ name }) => [name, 1]));
  });

  test('is told of settings, errors and constants that there are, with values that they take', () => {
    const constants = readFileSync(join(ROOT, 'schema.graphql'), 'utf8').match(/^ {2}[A-Z_]+$/gm) ?? [];
    const known = [settings, errorTable, requestFaultTable].flatMap((table) => Object.keys(table));
    const files = Object.entries(settings).flatMap(([name, setting]) => ('isSecret' in setting ? `${name}_FILE` : []));
    const names = new Set([...known, ...files, ...constants.map((line) => line.trim()), ...TEST_SETTINGS]);
    for (const { name, text } of documents) {
      const words = codeMarksOf(text).filter((mark) => /^[A-Z]+(_[A-Z]+)+(=.*)?$/.test(mark));
      expect([name, words.filter((word) => !names.has(word.split('=')[0]!))]).toEqual([name, []]);
      const given = blocksOf(text).flatMap(({ body }) => [...body.matchAll(/ -e (\S+)/g)].map((match) => match[1]!));
      for (const word of [...words, ...given].filter((mark) => mark.includes('='))) {
        const [setting = '', value = ''] = word.split('=');
        expect([word, Object.keys(settings)]).toEqual([word, expect.arrayContaining([setting])]);
        expect(() => readConfig({ DATABASE_URL: 'postgresql://h/d', [setting]: value })).not.toThrow();
      }
    }
  });

  test('is told of source files that there are', () => {
    const existing = ['src', 'test', 'prisma', 'docs'].flatMap((folder) => filesUnder(folder)).concat(readdirSync(ROOT));
    const missing = documents.flatMap(({ name, text }) =>
      codeMarksOf(text)
        .filter((mark) => /^[\w./-]+\.(tsx?|mjs|graphql|prisma|yml)$/.test(mark) && !READERS_FILES.includes(mark))
        .filter((mark) => !existing.some((path) => path === mark || path.endsWith(`/${mark}`)))
        .map((mark) => [name, mark]),
    );
    expect(missing).toEqual([]);
  });

  test('finds the decisions by number, date and title', () => {
    const decisions = documents.flatMap(({ name, text }) => {
      const number = /^docs\/decisions\/(\d{4})-[a-z-]+\.md$/.exec(name)?.[1];
      const [, title, date] = /^# (.+)\n\nDate: (\d{4}-\d\d-\d\d)\n/.exec(text) ?? [];
      return number === undefined ? [] : [[number, date, `[${title?.replaceAll('`', '')}](${name.split('/').at(-1)!})`]];
    });
    expect(decisions.map(([number]) => Number(number))).toEqual(decisions.map((_decision, position) => position + 1));
    expect(tableOf(readDocument('docs/decisions/README.md'), 'decision')).toEqual(decisions);
  });
});
