import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { failed, runCommand, startServe, succeed, type Environment, type ServeProcess } from '../support/command';

// Commands run side by side, so that each takes longer.

let root: string;
let directoryNumber = 0;
let demo: Demo;
const gateways: ServeProcess[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-demos-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  demo = JSON.parse(await succeed({ DATA_DIR: join(root, 'template') }, ['demo', '--json'])) as Demo;
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.end('SIGTERM')));
  rmSync(root, { recursive: true });
});

interface Demo {
  readonly apiProvision: string;
}

/** A data directory of a test's own, with the demo. */
async function copyDemo(): Promise<{ directory: string; environment: Environment }> {
  const directory = join(root, `data-${++directoryNumber}`);
  await promisify(execFile)('cp', ['-a', join(root, 'template'), directory]);
  return { directory, environment: { DATA_DIR: directory } };
}

const start = async (environment: Environment): Promise<ServeProcess> => {
  const gateway = await startServe(environment);
  gateways.push(gateway);
  return gateway;
};

const show = (environment: Environment) => runCommand(environment, ['demo', '--show', '--json']);
const noDemo = (directory: string) => failed(JSON.stringify({ error: `There is no demo in ${directory}` }));
const statusOf = async ({ url }: ServeProcess, { apiProvision }: Demo): Promise<number> =>
  (await fetch(`${url}/api/v2/authenticated_test_system`, { headers: { Provision: apiProvision } })).status;
const listNames = async (environment: Environment): Promise<string[]> =>
  (JSON.parse(await succeed(environment, ['--json', 'organization', 'list'])) as { name: string }[]).map(({ name }) => name);

test.concurrent('an operator who has deleted the demo is shown no credentials of it, and the next start removes them', async () => {
  const { directory, environment } = await copyDemo();
  await succeed(environment, ['organization', 'create', 'Church']);
  await succeed(environment, ['organization', 'delete', 'Demo', '--confirm', 'Demo']);
  expect(await show(environment)).toEqual(noDemo(directory));
  const gateway = await start(environment);
  expect(gateway.output()).not.toContain('there is a demo organization');
  expect(await readdir(directory)).not.toContain('demo.json');
  expect(await listNames(environment)).toEqual(['Church']);
});

test.concurrent('a newcomer whose first start is killed before the demo has its name gets the whole demo at the next', async () => {
  const { directory, environment } = await copyDemo();
  await succeed(environment, ['organization', 'rename', 'Demo', 'Demo (unfinished)']);
  expect(await show(environment)).toEqual(noDemo(directory));
  const gateway = await start(environment);
  expect(await listNames(environment)).toEqual(['Demo']);
  const shown = JSON.parse((await show(environment)).stdout) as Demo;
  expect([await statusOf(gateway, shown), await statusOf(gateway, demo)]).toEqual([200, 422]);
});

test.concurrent('an operator who has given the demo another name is shown its credentials, which are good', async () => {
  const { environment } = await copyDemo();
  await succeed(environment, ['organization', 'rename', 'Demo', 'Exercise']);
  const gateway = await start(environment);
  expect(gateway.output()).toContain('there is a demo organization');
  expect(JSON.parse((await show(environment)).stdout)).toMatchObject(demo);
  expect(await statusOf(gateway, demo)).toBe(200);
});

test.concurrent('an operator whose power cut has emptied the credentials of the demo starts the gateway', async () => {
  const { directory, environment } = await copyDemo();
  await writeFile(join(directory, 'demo.json'), '');
  expect(await show(environment)).toEqual(noDemo(directory));
  const gateway = await start(environment);
  expect(gateway.output()).not.toContain('there is a demo organization');
});
