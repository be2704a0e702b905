import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const SRC = resolve(__dirname, '../../src');
const TESTS = resolve(__dirname, '..');

/** The rooms of src from left to right. A file imports from its own room and from rooms further right. */
const ROOMS: readonly (readonly string[])[] = [
  ['main'],
  ['cli'],
  ['app'],
  ['rest', 'graphql', 'export', 'agents', 'odata', 'playground', 'admin', 'tracing'],
  ['http'],
  ['databases', 'services', 'resolvers'],
  ['domain'],
  ['data', 'source', 'receivers'],
  ['formats'],
  ['rows'],
  ['processes'],
  ['config'],
  ['errors', 'package-files', 'stack-positions'],
  ['line'],
  ['values'],
];
/** The rooms within a room, from left to right in the same way. The dot stands for the files of the room itself. */
const INNER_ROOMS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  cli: [['commands'], ['.']],
  graphql: [['.'], ['answers'], ['documents']],
  playground: [['.']],
  'playground/web': [
    ...[
      ['.', 'docs'],
      ['editors'],
      ['reports'],
      ['home', 'bank', 'board'],
      ['choices', 'charts', 'dialogs'],
      ['tables'],
      ['rows'],
      ['files'],
      ['session'],
      ['values'],
      ['look'],
    ],
  ],
  resolvers: [['.'], ['operators', 'access', 'audit', 'reports'], ['books'], ['request']],
  domain: [
    ['compare', 'mail', 'parity', 'proof', 'sync', 'webhooks'],
    ['backup', 'imports'],
    ['reports'],
    ['access'],
    ['audit', 'books'],
    ['paging'],
  ],
  data: [
    ['backup', 'imports', 'reports', 'access', 'audit', 'mail', 'sync', 'webhooks'],
    ['books'],
    ['embedded', 'reading'],
    ['schema'],
    ['postgres'],
  ],
  formats: [['.'], ['backup']],
  rows: [['.', 'assembly']],
};
/** More files than these are a drawer. */
const MOST_FILES = 22;
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
  {
    name: /^express$/,
    rooms: ['rest', 'graphql', 'export', 'agents', 'odata', 'playground', 'admin', 'http'],
    rule: 'Only the doors and http/ know express',
  },
  { name: /^@opentelemetry\//, rooms: ['tracing'], rule: 'Only tracing/ knows OpenTelemetry' },
  { name: /^@modelcontextprotocol\//, rooms: ['agents'], rule: 'Only agents/ knows the Model Context Protocol' },
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

const PAGE = 'playground/web';
const pageFiles = readdirSync(join(SRC, PAGE), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => join(SRC, PAGE, name));
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
const names = new Set([...files, ...pageFiles].map((path) => relative(SRC, path)));
const isInside = (target: string): boolean =>
  [target, `${target}.ts`, `${target}.tsx`, target.replace(/\.js$/, '.ts')].some((name) => names.has(name)) ||
  target.startsWith('generated/');

/** The room of a file within the outer room; undefined for a file outside of it. */
function innerRoomOf(outer: string, path: string): string | undefined {
  if (!path.startsWith(`${outer}/`)) return undefined;
  const [first, ...rest] = path.slice(outer.length + 1).split('/');
  return rest.length === 0 ? '.' : first;
}

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
    expect(others.sort()).toEqual([
      'cli/build-stamp.mjs',
      'cli/bundle.mjs',
      'cli/generate-client.mjs',
      'cli/third-parties.mjs',
      'playground/vite.config.mjs',
      'rows/assembly/tsconfig.json',
    ]);
  });

  test('import from their own room or from one further right', () => {
    const wrong = imports.filter(({ file, target }) => {
      if (!isInside(target) || roomOf(file) === roomOf(target)) return false;
      return roomOf(target) === GENERATED ? roomOf(file) !== 'data' : rankOf(target) <= rankOf(file);
    });
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(INNER_ROOMS))('in %s import from their own folder or from one further right', (outer, rooms) => {
    const rank = (path: string): number | undefined => {
      const room = innerRoomOf(outer, path);
      return room === undefined ? undefined : rooms.findIndex((beside) => beside.includes(room));
    };
    const own = outer === PAGE ? pageFiles : files;
    const unknown = own.map((path) => relative(SRC, path)).filter((path) => rank(path) === -1);
    const wrong = own.flatMap(importsOf).filter(({ file, target }) => {
      const [from, to] = [rank(file), rank(target)];
      if (from === undefined || to === undefined || !isInside(target)) return false;
      return innerRoomOf(outer, file) !== innerRoomOf(outer, target) && to <= from;
    });
    expect({ unknown, wrong }).toEqual({ unknown: [], wrong: [] });
  });

  test('stand in folders that can be read at a glance', () => {
    const folderOf = (path: string): string => relative(SRC, dirname(path));
    const all = [...files, ...pageFiles].map(folderOf);
    const folders = [...new Set(all)];
    expect(folders.filter((folder) => all.filter((other) => other === folder).length > MOST_FILES)).toEqual([]);
    const nested = folders.filter((folder) => folder.includes('/') && folder !== PAGE);
    expect(nested.filter((folder) => !(dirname(folder) in INNER_ROOMS))).toEqual([]);
  });

  test('of the page import what is of use in a browser, and nothing else of the gateway', () => {
    const outside = pageFiles.flatMap(importsOf).filter(({ target }) => isInside(target) && !target.startsWith(`${PAGE}/`));
    const wrong = outside.filter(({ target }) => !['line', 'values', GENERATED].includes(roomOf(target)));
    expect(pageFiles.length).toBeGreaterThan(40);
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
    const ours = files.map((path) => relative(SRC, path));
    expect(ours.filter((name) => /(^|\/)(utils?|helpers?|common|shared|misc|lib|core|index)(\.|\/)/.test(name))).toEqual([]);
    expect(ours.filter((name) => !/^([a-z]+\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name))).toEqual([]);
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
  const titles = tests.map((path) => basename(path));
  expect(titles.filter((name, at) => titles.indexOf(name) !== at)).toEqual([]);
  expect(tests.filter((path) => readFileSync(join(TESTS, path), 'utf8').split('\n').length > 400)).toEqual([]);
});
