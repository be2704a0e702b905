import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { done, runCommand, succeed } from '../support/command';
import { ROOT } from '../support/documents';

const REPORT = 'deposit_detail_designation_detail_with_contact_info';
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** Runs in this process, because that of each help would take a third of a second. The address is of no database. */
const readHelp = (path: readonly string[]): Promise<string> => succeed({ DATABASE_URL: 'postgresql://none' }, [...path, '--help']);

test('an operator is told the version', async () => {
  expect(await runCommand({}, ['--version'])).toEqual(done(version));
  expect(await runCommand({}, ['--version', '--json'])).toEqual(done(JSON.stringify({ version })));
});

test('every command describes itself, its options and its arguments', async () => {
  const script = await succeed({}, ['completions', 'bash']);
  const paths = /^ {6}(\/\S+)\) path=/m
    .exec(script)![1]!
    .split('|')
    .map((path) => path.slice(1).split('/'));
  expect(paths.length).toBeGreaterThan(40);
  for (const path of paths) {
    const [usage, description, ...rest] = (await readHelp(path)).split('\n\n');
    expect([usage!.startsWith('Usage: deposit-gateway '), /^[a-z]/.test(description!)]).toEqual([true, true]);
    // Each option, argument and command has words beside its name.
    const named = rest
      .join('\n')
      .matchAll(/^ {2}(?:-\w, )?(?:--[\w-]+(?: <[\w-]+>)?|[a-z][\w-]*(?:\|[\w-]+)?(?: \[?<?[\w-]+(?:\.\.\.)?>?\]?)*)(.*)$/gm);
    for (const [line, words] of named) expect([line, words!.trim() !== '']).toEqual([line, true]);
  }
});

describe('a shell completes', () => {
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-completions-'));
    for (const shell of ['bash', 'zsh', 'fish']) writeFileSync(join(directory, shell), await succeed({}, ['completions', shell]));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** The words that bash offers for the last of a command's words. */
  function complete(...words: string[]): string[] {
    const line = ['deposit-gateway', ...words].map((word) => `'${word}'`).join(' ');
    const script = `. ${join(directory, 'bash')}; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _deposit_gateway; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-uc', script], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    return stdout.split('\n').filter((word) => word !== '');
  }

  test.each<[string, string[], string[]]>([
    ['commands', ['or'], ['organization']],
    ['commands below a command', ['organization', 're'], ['rename']],
    ['options', ['provision', 'create', '--o'], ['--organization']],
    ['the values of an option', ['provision', 'create', '--kind', ''], ['web', 'mobile', 'api']],
    ['the values of an argument', ['organization', 'maintenance', 'Hope', 'o'], ['on', 'off']],
    ['privileges', ['--json', 'user', 'grant', 'dep'], [REPORT]],
    ['options of all commands', ['--env'], ['--env-file']],
    ['no word where a file may stand', ['--env-file', ''], []],
    ['nothing where anything may stand', ['user', 'list', '--organization', ''], []],
    ['the shells themselves', ['completions', ''], ['bash', 'zsh', 'fish', '--help']],
  ])('%s', (_title, words, expected) => {
    expect(complete(...words)).toEqual(expected);
  });

  test.each(['zsh', 'fish'])('by a script that it can read, where it is installed: %s', (shell) => {
    const { error, status, stderr } = spawnSync(shell, ['-n', join(directory, shell)], { encoding: 'utf8' });
    if (error && 'code' in error && error.code === 'ENOENT') return;
    expect([status, stderr]).toEqual([0, '']);
  });

  test('with descriptions in fish', () => {
    const script = readFileSync(join(directory, 'fish'), 'utf8');
    expect(script).toContain(`-f -a rename -d 'gives an organization another name; nothing else changes'`);
    expect(script).toContain(`-l kind -x -a 'web mobile api' -d `);
    expect(script).toContain(`-n '__fish_use_subcommand' -f -a organization`);
  });
});
