import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, runProcess } from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/database';

/** No database listens there: the gateway waits for one. */
const NOWHERE = 'postgresql://127.0.0.1:1/none';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-crash-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs a gateway while code that Node loads before it throws an error that nothing catches. */
async function crash(code: string): Promise<string> {
  const file = join(directory, 'fault.js');
  writeFileSync(file, `process.on('newListener', (name) => name === 'uncaughtException' && setImmediate(() => {\n  ${code}\n}));`);
  const { status, stderr } = await runProcess({ NODE_OPTIONS: `--require=${file}`, DATABASE_URL: NOWHERE, PORT: '0' }, ['serve']);
  expect(status).toBe(1);
  return stderr.replaceAll(directory, '');
}

describe('an operator whose gateway ends by an error that nothing catches', () => {
  test('reads its kind and its place, and nothing of its message or its fields', async () => {
    const text = await crash(
      "throw Object.assign(new TypeError('Zoe Quimby\\n    at Zoe Quimby'), { code: '23505', detail: 'Zoe Quimby' });",
    );
    expect(text).toMatch(/^TypeError: 23505\n {4}at .*\/fault\.js:2:/);
    expect(text).not.toContain('Quimby');
  });

  test('reads nothing of a message that was written anew either', async () => {
    const text = await crash("const e = new Error('one\\n    at Zoe Quimby, 12 Elm St'); e.message = 'other: ' + e.message; throw e;");
    expect(text).toMatch(/^Error\n {4}at .*\/fault\.js:2:/);
    expect(text).not.toContain('Quimby');
  });

  test('reads no value that is thrown in place of an error', async () => {
    expect(await crash("throw 'Zoe Quimby';")).toBe('Something else than an error was thrown\n');
  });

  test('reads which port is taken', async () => {
    const text = await crash(
      "const { createServer } = require('node:net'); const one = createServer().listen(0, () => createServer().listen(one.address().port));",
    );
    expect(text).toMatch(/^Error: listen EADDRINUSE: address already in use :::\d+\n/);
  });

  test('reads the place in the bundle where a map is torn', async () => {
    const map = { version: 3, sources: ['../src/some-source.ts'], names: [], mappings: 'AAAA;AACA;AACA' };
    writeFileSync(join(directory, 'fault.js.map'), JSON.stringify(map));
    expect(await crash("throw new Error('x');")).toMatch(/src\/some-source\.ts:2\)?\n/);
    writeFileSync(join(directory, 'fault.js.map'), JSON.stringify(map).slice(0, 40));
    expect(await crash("throw new Error('x');")).toMatch(/^Error\n {4}at .*\/fault\.js:2:/);
  });
});

describe('an operator whose command fails by an error that it does not expect', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  test('reads its kind and its place, and nothing of its message', async () => {
    const file = join(directory, 'fault.js');
    writeFileSync(
      file,
      `const { stdout } = process, { write } = stdout;
      stdout.write = () => {
        stdout.write = write;
        throw Object.assign(new TypeError('Zoe Quimby\\n    at Zoe Quimby'), { detail: 'Zoe Quimby' });
      };`,
    );
    for (const words of [['schema'], ['--json', 'schema']]) {
      const { status, stderr } = await runProcess({ NODE_OPTIONS: `--require=${file}` }, words);
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^(\{"error":")?TypeError(\n|\\n) {4}at .*\/fault\.js:4:/)]);
      expect(stderr).toContain('src/cli/commands/schema-command.ts:');
      expect(stderr).not.toContain('Quimby');
    }
  });

  test('reads the state of a statement that failed, and nothing of the message of PostgreSQL', async () => {
    await database.client.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'Zoe Quimby' USING ERRCODE = '23514'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON organization FOR EACH ROW EXECUTE FUNCTION refuse();
    `);
    const { status, stderr } = await runCommand({ DATABASE_URL: database.url }, ['organization', 'create', 'Refused']);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^Data source query failed: \w+: 23514\n {4}at /)]);
    expect(stderr).not.toContain('Quimby');
  });
});
