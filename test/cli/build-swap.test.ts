import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const SCRIPT = 'src/cli/build-stamp.mjs';
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gateway-build-'));
  mkdirSync(join(root, 'src/cli'), { recursive: true });
  cpSync(join(__dirname, '../..', SCRIPT), join(root, SCRIPT));
  for (const name of ['package-lock.json', 'package.json', 'tsconfig.json', 'prisma/schema.prisma']) put(name, name);
});
afterEach(() => rmSync(root, { recursive: true }));

function put(name: string, content: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
}

const run = (...words: string[]): number => {
  try {
    execFileSync(process.execPath, [join(root, SCRIPT), ...words], { stdio: 'ignore' });
    return 0;
  } catch {
    return 1;
  }
};
const ASSETS = 'dist/playground-web/assets';

describe('a developer who builds beside a running gateway', () => {
  test('gives it no half build: the new one takes the place of the former whole, which keeps no file of code', () => {
    put('dist/main.js', 'former');
    put('dist/former-only.js', 'former');
    put('dist.next/main.js', 'new');
    put('dist.next/playground-web/assets/page-2.js', 'new');
    expect(run()).toBe(1);
    expect(run('swap')).toBe(0);
    expect(readFileSync(join(root, 'dist/main.js'), 'utf8')).toBe('new');
    expect(readdirSync(join(root, 'dist')).sort()).toEqual(['build-stamp', 'main.js', 'playground-web']);
    expect(readdirSync(root).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
    expect(run()).toBe(0);
    put('src/main.ts', 'changed');
    expect(run()).toBe(1);
  });

  test("keeps the former page's files for a week, so that an open page goes on", () => {
    put(`${ASSETS}/page-0.js`, 'old');
    put(`${ASSETS}/page-1.js`, 'former');
    put(`${ASSETS}/same.js`, 'former');
    put('dist/build-stamp', 'former\npage-1.js\nsame.js');
    const age = (name: string, days: number): void => {
      const then = new Date(Date.now() - days * 24 * 60 * 60 * 1000);
      utimesSync(join(root, ASSETS, name), then, then);
    };
    // The former build is old too, and is replaced now.
    for (const name of readdirSync(join(root, ASSETS))) age(name, 8);
    const next = (): void => {
      put('dist.next/playground-web/assets/page-2.js', 'new');
      put('dist.next/playground-web/assets/same.js', 'new');
    };
    next();
    expect(run('swap')).toBe(0);
    expect(readdirSync(join(root, ASSETS)).sort()).toEqual(['page-1.js', 'page-2.js', 'same.js']);
    expect(readFileSync(join(root, ASSETS, 'same.js'), 'utf8')).toBe('new');
    age('page-1.js', 8);
    next();
    expect(run('swap')).toBe(0);
    expect(readdirSync(join(root, ASSETS)).sort()).toEqual(['page-2.js', 'same.js']);
  });

  test('packs the files of one build alone', () => {
    put(`${ASSETS}/page-1.js`, 'former');
    put('dist.next/playground-web/assets/page-2.js', 'new');
    expect(run('swap', 'alone')).toBe(0);
    expect(readdirSync(join(root, ASSETS))).toEqual(['page-2.js']);
  });

  test('keeps the former build when the new one has failed', () => {
    put('dist/main.js', 'former');
    expect(run('swap')).toBe(1);
    expect(existsSync(join(root, 'dist/main.js'))).toBe(true);
  });
});
