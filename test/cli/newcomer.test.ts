import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readConfig } from '../../src/config';

const ROOT = resolve(__dirname, '../..');
/** A newcomer's environment: with the NODE_ENV of the tests, npm would leave out the dependencies that only development needs. */
const ENVIRONMENT = { ...process.env, NODE_ENV: undefined };
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-newcomer-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('a newcomer', () => {
  // npm looks at the lock file alone for this; on the oldest Node that is promised it says what matters.
  test('installs nothing that wants another Node', () => {
    for (const name of ['package.json', 'package-lock.json', 'test/package.json']) cpSync(join(ROOT, name), join(directory, name));
    const words = [
      'ci',
      '--workspaces',
      '--include-workspace-root',
      '--dry-run',
      '--offline',
      '--engine-strict',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
    ];
    const { status, stderr } = spawnSync('npm', words, { cwd: directory, encoding: 'utf8', env: ENVIRONMENT });
    expect(stderr).not.toContain('EBADENGINE');
    expect(status).toBe(0);
  });

  test.each(['ci', 'test'])('reads that the checks failed at their end when `npm %s` ends before the tests', (step) => {
    for (const name of ['.ci', 'bin']) mkdirSync(join(directory, name));
    cpSync(join(ROOT, '.ci/run'), join(directory, '.ci/run'));
    writeFileSync(join(directory, 'bin/npm'), `#!/bin/sh\n[ "$1" != ${step} ]\n`, { mode: 0o755 });
    const env = { ...ENVIRONMENT, PATH: `${join(directory, 'bin')}:${process.env.PATH}` };
    const { status, stdout } = spawnSync(join(directory, '.ci/run'), { encoding: 'utf8', env });
    expect([status, stdout]).toEqual([1, '0 passed, 1 failed\n']);
  });

  test('starts what is built, and builds again what has changed since', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const { prestart, start } = scripts;
    // In the place of the build's tools, and of the gateway. The compiler writes what it makes of wrong sources, too.
    const tools =
      'echo building && mkdir -p dist.next && echo "console.log(\'serving\')" > dist.next/main.js && ! grep -q wrong src/main.ts';
    const steps = scripts.build!.split(' && ');
    const given = { prestart, start, build: `${steps[0]} && ${tools} && ${steps.at(-1)}` };
    for (const name of ['src/generated', 'src/cli', 'prisma']) mkdirSync(join(directory, name), { recursive: true });
    for (const name of ['package-lock.json', 'tsconfig.json', 'prisma/schema.prisma', 'src/cli/build-stamp.mjs'])
      cpSync(join(ROOT, name), join(directory, name));
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ scripts: given }));
    const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
    const run = (): string[] =>
      execFileSync('npm', ['start', '--silent'], {
        cwd: directory,
        encoding: 'utf8',
        env: ENVIRONMENT,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
        .split('\n')
        .filter((line) => ['building', 'serving'].includes(line));

    write('src/main.ts', 'first');
    expect(run()).toEqual(['building', 'serving']);
    write('src/generated/client.ts', 'made by the build');
    expect(run()).toEqual(['serving']);
    write('src/main.ts', 'second');
    expect(run()).toEqual(['building', 'serving']);
    write('package-lock.json', '{}');
    expect(run()).toEqual(['building', 'serving']);
    // A build that has failed leaves the one before it, which stands for its own sources.
    write('src/main.ts', 'wrong');
    expect(run).toThrow('Command failed: npm start');
    write('src/main.ts', 'second');
    expect(run()).toEqual(['serving']);
    // As in the image.
    rmSync(join(directory, 'src'), { recursive: true });
    expect(run()).toEqual(['serving']);
  });
});

test('an operator gets an image without a demo', () => {
  const environment = [...read('Dockerfile').matchAll(/^ENV (.*)$/gm)].flatMap((match) =>
    match[1]!.split(' ').map((pair) => pair.split('=')),
  );
  expect(readConfig(Object.fromEntries(environment) as Record<string, string>)).toMatchObject({ DEMO: false, DATA_DIR: '/data' });
});

test('an operator gives a container a command, which is the process that gets its signals, and serves without one', () => {
  const wordsOf = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(read('Dockerfile'))![1]!) as string[];
  const inCheckout = wordsOf('ENTRYPOINT').map((word) => word.replace('/app/', ''));
  expect([inCheckout[0], wordsOf('CMD')]).toEqual(['node', ['serve']]);
  const run = (...words: string[]): string =>
    execFileSync(inCheckout[0]!, [...inCheckout.slice(1), ...words], { cwd: ROOT, encoding: 'utf8', env: ENVIRONMENT });
  expect(run('migrate', '--help')).toMatch(/^Usage: deposit-gateway migrate /);
  expect(run(...wordsOf('CMD'), '--help')).toMatch(/^Usage: deposit-gateway serve /);
});
