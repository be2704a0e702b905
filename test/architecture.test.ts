import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const SRC = resolve(__dirname, '../src');

/** What each part of src may import beside itself and the leaves: left to right, one step at a time. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  main: ['cli'],
  cli: ['app', 'services', 'graphql', 'domain'],
  app: ['rest', 'graphql', 'export', 'playground', 'services', 'resolvers', 'domain'],
  services: ['domain', 'data'],
  rest: ['resolvers'],
  graphql: ['resolvers'],
  export: ['resolvers'],
  playground: [],
  resolvers: ['domain'],
  domain: ['data'],
  data: ['generated'],
};
/** Files that belong to a layer though they stand beside it. */
const PART_OF: Readonly<Record<string, string>> = {
  'cross-origin': 'app',
  'incoming-request': 'app',
  'request-log': 'app',
  'request-router': 'app',
};

/** Packages that only some layers may know. */
const PACKAGES: readonly { readonly name: RegExp; readonly layers: readonly string[]; readonly rule: string }[] = [
  { name: /^(@prisma\/.*|pg|pg-copy-streams|rate-limiter-flexible)$/, layers: ['data'], rule: 'Only data/ knows Prisma and SQL' },
  { name: /^type-graphql$/, layers: ['graphql', 'resolvers'], rule: 'Only graphql/ and resolvers/ know type-graphql' },
  { name: /^express$/, layers: ['rest', 'graphql', 'export', 'playground', 'app'], rule: 'Only the doors and app know express' },
  { name: /^(commander|cli-progress)$/, layers: ['cli'], rule: 'Only the CLI knows the terminal' },
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
const imports: Import[] = files.flatMap((path) => {
  const text = readFileSync(path, 'utf8');
  const targets = [...text.matchAll(/(?:from|import|import\(|require\()\s*'([^']+)'/g)].map((match) => match[1]!);
  return targets.map((target) => ({
    file: relative(SRC, path),
    target: target.startsWith('.') ? relative(SRC, join(dirname(path), target)) : target,
  }));
});

const stem = (path: string): string => path.replace(/\.[jt]s$/, '').split('/')[0]!;
const layerOf = (path: string): string => PART_OF[stem(path)] ?? stem(path);
const isInside = (target: string): boolean =>
  files.some((path) => [target, `${target}.ts`, target.replace(/\.js$/, '.ts')].includes(relative(SRC, path))) ||
  target.startsWith('generated/');

describe('the sources', () => {
  test('are read at all', () => {
    expect(files.length).toBeGreaterThan(40);
    expect(imports.filter(({ target }) => isInside(target)).length).toBeGreaterThan(100);
  });

  test('import in one direction: main, cli, app, doors, resolvers, domain, data, leaves', () => {
    const wrong = imports.filter(({ file, target }) => {
      if (!isInside(target)) return false;
      const [from, to] = [layerOf(file), layerOf(target)];
      const isLeaf = !(to in LAYERS) && to !== 'generated';
      return from !== to && !isLeaf && !(LAYERS[from] ?? []).includes(to);
    });
    expect(wrong).toEqual([]);
  });

  test.each(PACKAGES)('keep to it: $rule', ({ name, layers }) => {
    expect(imports.filter(({ file, target }) => name.test(target) && !layers.includes(layerOf(file)))).toEqual([]);
  });

  test('read the environment in main and the CLI alone', () => {
    const readers = files.filter((path) => readFileSync(path, 'utf8').includes('process.env')).map((path) => relative(SRC, path));
    expect(readers.filter((file) => !['main', 'cli'].includes(layerOf(file)))).toEqual([]);
  });

  test('say error texts in one file', () => {
    const { errorTable } = jest.requireActual<typeof import('../src/errors')>('../src/errors');
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
