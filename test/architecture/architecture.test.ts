import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const SRC = resolve(__dirname, '../../src');
const TESTS = resolve(__dirname, '..');

/** The rooms of src from left to right. A file imports from its own room and from rooms further right. */
const ROOMS: readonly (readonly string[])[] = [
  ['main'],
  ['cli'],
  ['app'],
  ['rest', 'graphql', 'export', 'playground', 'admin', 'tracing'],
  ['http'],
  ['databases', 'services', 'resolvers'],
  ['domain'],
  ['data'],
  ['formats'],
  ['rows'],
  ['processes'],
  ['errors', 'config'],
  ['line'],
  ['values'],
];
/** The build makes this folder from prisma/schema.prisma. */
const GENERATED = 'generated';

/** Packages that only some rooms may know. */
const PACKAGES: readonly { readonly name: RegExp; readonly rooms: readonly string[]; readonly rule: string }[] = [
  { name: /^(@prisma\/.*|pg|rate-limiter-flexible)$/, rooms: ['data'], rule: 'Only data/ knows Prisma and SQL' },
  {
    name: /^(type-graphql|graphql|graphql\/.*|graphql-scalars)$/,
    rooms: ['graphql', 'resolvers'],
    rule: 'Only graphql/ and resolvers/ know GraphQL',
  },
  { name: /^express$/, rooms: ['rest', 'graphql', 'export', 'playground', 'admin', 'http'], rule: 'Only the doors and http/ know express' },
  { name: /^@opentelemetry\//, rooms: ['tracing'], rule: 'Only tracing/ knows OpenTelemetry' },
  { name: /^prom-client$/, rooms: ['admin'], rule: 'Only admin/ knows prom-client' },
  { name: /^node:cluster$/, rooms: ['processes', 'cli'], rule: 'Only processes/ and the CLI know workers' },
  { name: /^(commander|cli-progress)$/, rooms: ['cli'], rule: 'Only the CLI knows the terminal' },
];

interface Import {
  readonly file: string;
  readonly target: string;
}

function sourceFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return ['generated', 'web'].includes(entry.name) ? [] : sourceFiles(path);
    return entry.name.endsWith('.ts') ? path : [];
  });
}

const files = sourceFiles(SRC);
function importsOf(path: string): Import[] {
  const text = readFileSync(path, 'utf8');
  const targets = [...text.matchAll(/(?:from|import|import\(|require\()\s*'([^']+)'/g)].map((match) => match[1]!);
  return targets.map((target) => ({
    file: relative(SRC, path),
    target: target.startsWith('.') ? relative(SRC, join(dirname(path), target)) : target,
  }));
}
const imports: Import[] = files.flatMap(importsOf);

const roomOf = (path: string): string => path.replace(/\.[jt]s$/, '').split('/')[0]!;
const rankOf = (path: string): number => ROOMS.findIndex((rooms) => rooms.includes(roomOf(path)));
const isInside = (target: string): boolean =>
  files.some((path) => [target, `${target}.ts`, target.replace(/\.js$/, '.ts')].includes(relative(SRC, path))) ||
  target.startsWith('generated/');

describe('the sources', () => {
  test('are read at all', () => {
    expect(files.length).toBeGreaterThan(40);
    expect(imports.filter(({ target }) => isInside(target)).length).toBeGreaterThan(100);
  });

  test('stand in a room each', () => {
    expect(files.map((path) => relative(SRC, path)).filter((path) => rankOf(path) < 0)).toEqual([]);
  });

  test('are TypeScript, but for the tools that build them', () => {
    const others = readdirSync(SRC, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.tsx?$/.test(entry.name))
      .map((entry) => relative(SRC, join(entry.parentPath, entry.name)))
      .filter((path) => !/^(generated|playground\/web)\//.test(path));
    expect(others.sort()).toEqual(['cli/build-stamp.mjs', 'playground/vite.config.mjs', 'rows/assembly/tsconfig.json']);
  });

  test('import from their own room or from one further right', () => {
    const wrong = imports.filter(({ file, target }) => {
      if (!isInside(target) || roomOf(file) === roomOf(target)) return false;
      return roomOf(target) === GENERATED ? roomOf(file) !== 'data' : rankOf(target) <= rankOf(file);
    });
    expect(wrong).toEqual([]);
  });

  test('of the page import what is of use in a browser, and nothing else of the gateway', () => {
    const page = readdirSync(join(SRC, 'playground/web'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
    const outside = page.flatMap((name) => importsOf(join(SRC, 'playground/web', name))).filter(({ target }) => isInside(target));
    const wrong = outside.filter(({ target }) => !['line', 'values', GENERATED].includes(roomOf(target)));
    expect(page.length).toBeGreaterThan(40);
    expect(wrong).toEqual([]);
  });

  test.each(PACKAGES)('keep to it: $rule', ({ name, rooms }) => {
    const known = imports.filter(({ file, target }) => name.test(target) && !isInside(target) && !rooms.includes(roomOf(file)));
    expect(known).toEqual([]);
  });

  test('read the environment in main and the CLI alone', () => {
    const readers = files.filter((path) => readFileSync(path, 'utf8').includes('process.env')).map((path) => relative(SRC, path));
    expect(readers.filter((file) => !['main', 'cli'].includes(roomOf(file)))).toEqual([]);
  });

  test('say error texts in one file', () => {
    const { errorTable } = jest.requireActual<typeof import('../../src/errors')>('../../src/errors');
    const texts = Object.values(errorTable).map(({ text }) => text);
    const repeated = files
      .filter((path) => relative(SRC, path) !== 'errors.ts')
      .flatMap((path) =>
        texts.filter((text) => readFileSync(path, 'utf8').includes(`'${text}'`)).map((text) => [relative(SRC, path), text]),
      );
    expect(repeated).toEqual([]);
  });

  test('have names that explain, and at most 400 lines', () => {
    const names = files.map((path) => relative(SRC, path));
    expect(names.filter((name) => /(^|\/)(utils?|helpers?|common|shared|misc|lib|core|index)(\.|\/)/.test(name))).toEqual([]);
    expect(names.filter((name) => !/^([a-z]+\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name))).toEqual([]);
    expect(files.filter((path) => readFileSync(path, 'utf8').split('\n').length > 400)).toEqual([]);
  });
});

test('the tests stand in a folder of their subject each, under names that differ, and have at most 400 lines', () => {
  const paths = readdirSync(TESTS, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? readdirSync(join(TESTS, entry.name)).map((name) => join(entry.name, name)) : [entry.name],
  );
  const tests = paths.filter((path) => path.endsWith('.test.ts'));
  expect(tests.length).toBeGreaterThan(40);
  expect(tests.filter((path) => !path.includes('/'))).toEqual([]);
  const names = tests.map((path) => basename(path));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(tests.filter((path) => readFileSync(join(TESTS, path), 'utf8').split('\n').length > 400)).toEqual([]);
});
