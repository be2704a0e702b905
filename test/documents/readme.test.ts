import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { graphql, PASSWORD, startGateway, v2Line, type TestGateway } from '../support/gateway';

// Each command is npm and the gateway, and they run one after the other.

const ROOT = resolve(__dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const blocks = [...README.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({ language, body }));
const bodiesOf = (wanted: string): string[] => blocks.flatMap(({ language, body }) => (language === wanted ? body : []));

/** Who runs the blocks of a language: this file, or another one. */
const LANGUAGES: Readonly<Record<string, string>> = { '': 'a picture', sh: 'here', graphql: 'here', ts: 'graphql-clients.test.ts' };
/** What takes too long, or needs what is not there, and what tries it instead. */
const STAND_INS: Readonly<Record<string, string>> = {
  'npm install && npm start': 'newcomer.test.ts',
  'npm install && npm test': 'this very run',
  'docker build -t deposit-gateway .': 'newcomer.test.ts',
  'npx generate-persisted-query-manifest': 'trusted-clients.test.ts',
  // No commands, but the form of commands.
  'deposit-gateway COMMAND': 'all below it',
  'deposit-gateway export --format ndjson --columns v2 | sha256sum': 'the same with its options',
};
/** The variables of each query, by its name. */
const VARIABLES: Readonly<Record<string, object>> = { Month: {}, Open: { username: 'ada', password: PASSWORD } };

/** The commands of a block: a line each, but for those that a backslash continues; comments are left out. */
const commandsOf = (block: string): string[] =>
  block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '');

const commands = bodiesOf('sh').flatMap(commandsOf);
/** Commands in the midst of a sentence. */
const inline = [...README.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`((?:npm|npx|node|docker|curl|deposit-gateway) [^`]+)`/g)].map(
  (match) => match[1]!,
);

let gateway: TestGateway;
let directory: string;
const outputs = new Map<string, string>();

/** Runs a command as it is written, in a shell, with a password for whoever asks for one. */
async function run(command: string): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn('sh', ['-c', command], {
    cwd: directory,
    env: { PATH: `${join(directory, 'bin')}:${process.env.PATH ?? ''}`, HOME: process.env.HOME, DATABASE_URL: gateway.database.url },
  });
  child.stdin.on('error', () => undefined).end(`${PASSWORD}\n`);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  outputs.set(command, stdout);
  return { status, stdout, stderr };
}

const outputOf = (part: string): string => [...outputs].find(([command]) => command.includes(part))?.[1] ?? '';

beforeAll(async () => {
  gateway = await startGateway();
  directory = mkdtempSync(join(tmpdir(), 'gateway-readme-'));
  for (const name of ['package.json', 'dist', 'src', 'prisma', 'node_modules']) symlinkSync(join(ROOT, name), join(directory, name));
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'deposit-gateway'), '#!/bin/sh\nexec node dist/main.js "$@"\n', { mode: 0o755 });
  const lines = ['120.00', '80.00', '300.50'].map((amount, index) =>
    v2Line({
      ...{ deposit_date: `2026-01-0${index + 2}`, deposit_id: `D${index}`, transaction_id: `T${index}`, allocation_id: `A${index}` },
      ...{ amount, fee_amount: '0.00', net_amount: amount },
    }),
  );
  writeFileSync(join(directory, 'deposits.json'), JSON.stringify({ response: lines }));
});
afterAll(async () => {
  await gateway.stop();
  rmSync(directory, { recursive: true });
});

describe('a reader of the README', () => {
  test('meets blocks of known languages, queries with names that are known, and no stand-in for what is not written', () => {
    expect(blocks.map(({ language }) => language).filter((language) => !(language in LANGUAGES))).toEqual([]);
    expect(Object.keys(STAND_INS).filter((command) => ![...commands, ...inline].includes(command))).toEqual([]);
    const names = bodiesOf('graphql').map((body) => /^\s*(?:query|mutation|subscription) (\w+)/.exec(body)?.[1]);
    expect(names).toEqual(Object.keys(VARIABLES));
  });

  test('runs every command of the blocks as it is written, in their order', async () => {
    const runnable = commands.filter((command) => !(command in STAND_INS));
    expect(runnable.length).toBeGreaterThan(5);
    for (const command of runnable)
      expect([command, await run(command)]).toEqual([command, expect.objectContaining({ status: 0, stderr: '' })]);
    expect(outputOf('user create')).toMatch(/who may log in and read everything, donors included\n$/);
    expect(outputOf('import deposits.json')).toMatch(/^Imported 3 lines; /);
    expect(readFileSync(join(directory, 'january.csv'), 'utf8').trim().split('\n')).toHaveLength(4);
  });

  test('runs every command in the midst of a sentence', async () => {
    for (const command of inline.filter((command) => !(command in STAND_INS))) {
      const script = /^npm (?:run )?(?:-s )?([\w:]+)/.exec(command)?.[1];
      if (script !== undefined) expect([command, scripts[script]]).toEqual([command, expect.any(String)]);
      else expect([command, await run(command)]).toEqual([command, expect.objectContaining({ status: 0, stderr: '' })]);
    }
  });

  test('sends every query, by the provision and to a host of the commands, and gets the digest that the export has', async () => {
    const provision = outputOf('provision create').trim();
    const { url } = gateway;
    const answers = await Promise.all(
      bodiesOf('graphql').map((query, index) => graphql(url, query, { provision, variables: Object.values(VARIABLES)[index] })),
    );
    expect(answers.map(({ body }) => body.errors)).toEqual(answers.map(() => undefined));
    expect(answers[0]?.body.data).toMatchObject({
      depositDetailsConnection: { edges: [{ node: { amount: '120.00' } }, { node: { amount: '300.50' } }] },
    });

    const { body } = await graphql(url, '{ depositSummary(startDate: "2026-01-01", endDate: "2026-01-31") { digest } }', { provision });
    const { digest } = body.data!.depositSummary as { digest: string };
    expect(outputOf('| sha256sum')).toBe(`${digest}  -\n`);
    expect(digest).not.toBe(createHash('sha256').digest('hex'));
  });
});
