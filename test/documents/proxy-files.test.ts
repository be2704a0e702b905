import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf, readDocument, ROOT } from '../support/documents';
import { freePort } from '../support/free-port';
import { createOrganization, PASSWORD } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const SYSTEM = '/api/v2/authenticated_test_system';
const HOST = 'give.example.org';
/** An address of loopback that is none of the proxy's, and the proxy's own, which is trusted. */
const CALLERS = ['127.0.0.2', '127.0.0.1'];
const LOGIN = `mutation { login(input: { username: "ada", password: "${PASSWORD}" }) { viewer { username } } }`;
const gateway = openGateway({ settings: { TRUST_PROXY: '127.0.0.1' } });

const directory = mkdtempSync(join(tmpdir(), 'gateway-proxies-'));
// nginx that root has started writes as another account.
chmodSync(directory, 0o777);
afterAll(() => rmSync(directory, { recursive: true }));

const readFile = (name: string): string => readFileSync(join(ROOT, 'docs/deploy', name), 'utf8');

interface Proxy {
  readonly command: string;
  /** The words after the command, for a file with the proxy's configuration. */
  readonly words: (file: string) => readonly string[];
  /** The configuration of the documents with the ports of a test. */
  readonly configuration: (port: number, to: string) => string;
  readonly environment?: (port: number, to: string) => NodeJS.ProcessEnv;
}

const proxies: readonly Proxy[] = [
  {
    command: 'nginx',
    words: (file) => ['-p', directory, '-e', 'stderr', '-c', file, '-g', 'daemon off;'],
    configuration: (port, to) => {
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`);
      const own = readFile('nginx.conf').replace('127.0.0.1:4000', to).replace('listen 8443;', `listen 127.0.0.1:${port};`);
      return `pid ${directory}/nginx.pid; error_log stderr; events {}\nhttp { access_log off; ${paths.join(' ')}\n${own} }\n`;
    },
  },
  {
    command: 'haproxy',
    words: (file) => ['-db', '-f', file],
    configuration: (port, to) =>
      blocksOf(readDocument('docs/deploy.md'))
        .filter(({ language }) => language === 'haproxy')
        .map(({ body }) => `${body}\n`)
        .join('')
        .replace('127.0.0.1:8444', `127.0.0.1:${port}`)
        .replace(/^ {2}server two .*\n/m, '')
        .replace('10.0.0.11:4000', to),
  },
  {
    command: 'caddy',
    words: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    configuration: () => `{\n\tadmin off\n}\n${readFile('Caddyfile')}`,
    environment: (port, to) => ({ GATEWAY_HOST: `http://:${port}`, GATEWAY_ADDRESS: to, HOME: directory }),
  },
];

const isInstalled = ({ command }: Proxy): boolean => spawnSync(command, ['-v']).error === undefined;

/** Does something behind a proxy of the documents. */
async function behind({ command, words, configuration, environment }: Proxy, use: (url: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  const { host: to } = new URL(gateway.url);
  const file = join(directory, `${command}.conf`);
  writeFileSync(file, configuration(port, to));
  const child = spawn(command, words(file), { stdio: 'ignore', env: { ...process.env, ...environment?.(port, to) } });
  const ended = once(child, 'exit');
  try {
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${url}/live`).catch(() => undefined))?.status === 200);
    await use(url);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

for (const proxy of proxies) {
  const testBehind = isInstalled(proxy) ? test : test.skip;
  testBehind(`a caller behind ${proxy.command} of the documents cannot name a host, an address or a scheme`, async () => {
    const { apiProvision, webProvision } = await createOrganization(gateway.services, [HOST]);
    const { apiProvision: bound } = await createOrganization(gateway.services);
    await gateway.services.provisions.bindToAddresses(bound, ['203.0.113.9']);
    await behind(proxy, async (url) => {
      for (const from of CALLERS) {
        const answer = async (path: string, headers: Readonly<Record<string, string>>, body?: string) => {
          const response = await ask(url + path, { headers, from, ...(body !== undefined && { method: 'POST', body }) });
          return { headers: response.headers, text: (await readAll(response)).body.toString() };
        };
        const system = async (headers: Readonly<Record<string, string>>) => [from, (await answer(SYSTEM, headers)).text];
        const refused = (error: string) => [from, JSON.stringify({ errors: [{ error, status: 422 }] })];
        const claimed = { Provision: apiProvision, Host: 'evil.example', 'X-Forwarded-Host': HOST };
        expect(await system(claimed)).toEqual(refused('Incorrect host for provision'));
        const swapped = { ...claimed, Host: HOST, 'X-Forwarded-Host': 'evil.example' };
        expect(await system(swapped)).toEqual([from, expect.stringContaining('"data"')]);
        expect(await system({ Provision: bound, 'X-Forwarded-For': '203.0.113.9' })).toEqual(refused('Invalid provision'));
        const { headers } = await answer(
          '/graphql',
          { Provision: webProvision, Host: HOST, 'Content-Type': 'application/json', 'X-Forwarded-Proto': 'https' },
          JSON.stringify({ query: LOGIN }),
        );
        // A cookie of https has another name, and is Secure.
        expect(headers['set-cookie']).toEqual([expect.stringMatching(/^deposit-gateway-session=(?!.*; Secure)/)]);
      }
    });
  });
}
