import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization, importLines, openSession, v2Line } from '../support/gateway';
import { freePort } from '../support/free-port';
import { assertInstalled, NotRun, startTarget, type Finding } from './attack';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const RANGE = 'start_date=2024-01-01&end_date=2024-12-31';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const PATHS = [
  ...[
    '/api/v2/authenticated_test_system',
    '/api/v2/authenticated_test_session',
    '/api/v2/nothing',
    '/api/v2/openapi.json',
    '/api/v2/authenticated_test_system/',
    '/API/v2',
  ],
  ...['', '?start_date=x', `?${RANGE}`].map((query) => REPORT + query),
  ...[
    '/graphql',
    '/graphql?query=%7Bviewer%7Busername%7D%7D',
    '/graphql?query=%7B',
    '/graphql?query=%7Bdonors%7Bnodes%7BlastName%7D%7D%7D',
  ],
  ...['csv', 'ndjson', 'json'].flatMap((format) => [
    `/export/deposit-details.${format}?${RANGE}`,
    `/export/deposit-summary.${format}?${RANGE}`,
    `/export/deposit-changes.${format}?${RANGE}&from=1`,
  ]),
  ...['/export/deposit-details.csv', '/export/receipts/1', '/export/nothing', '/reports/none.csv', '/reports/', '/schema.graphql'],
  ...[
    '/live',
    '/ready',
    '/playground',
    '/playground/',
    '/playground/x.css',
    '/playground/assets/none.js',
    '/docs',
    '/docs/',
    '/docs/none.js',
    '/',
    '/nothing',
    '/%zz',
    '//graphql',
  ],
];

interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The rules that an answer breaks. */
function findFaults(response: Response, path: string, body: string): string[] {
  const header = (name: string): string => response.headers.get(name) ?? '';
  const isReport = path.includes(RANGE);
  // The document of the v2 paths is the same for everybody. A cache may keep it, but must ask whether it is still good.
  const isDocument = path === '/api/v2/openapi.json' && response.status === 200;
  return [
    ...(header('cache-control').includes(isDocument ? 'no-cache' : 'no-store') ? [] : ['may be stored']),
    ...(header('x-content-type-options') === 'nosniff' ? [] : ['may be sniffed']),
    ...(header('content-security-policy').includes("frame-ancestors 'none'") ? [] : ['may be framed']),
    ...(header('x-powered-by') === '' && header('server') === '' ? [] : ['tells of the server']),
    ...(header('etag') === '' || isReport || isDocument || path === '/schema.graphql' ? [] : ['has an entity tag']),
    ...(/^[0-9a-f-]{36}$/.test(header('x-request-id')) ? [] : ['has no id']),
    ...(header('access-control-allow-origin') === '' ? [] : ['is for other origins']),
    ...(header('strict-transport-security') === '' ? ['does not keep to https'] : []),
    ...(response.status >= 500 ? ['is a failure'] : []),
    ...(/^<|<html/i.test(body) && !path.startsWith('/playground') && !['/', '/docs', '/docs/'].includes(path) ? ['is HTML'] : []),
  ];
}

/** Every path by every method and every kind of caller; then a cache before the gateway that keeps all it may. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ TRUST_PROXY: '127.0.0.1', PROVISION_ATTEMPTS: '1000000' });
  try {
    const organization = await createOrganization(target.services);
    const other = await createOrganization(target.services);
    await importLines(target.services, organization, [v2Line({ donor_last_name: 'CanaryOfOne' })]);
    await importLines(target.services, other, [v2Line({ donor_last_name: 'CanaryOfTwo' })]);
    const bearer = await openSession(target.serve.url, organization.webProvision);
    const callers: readonly Caller[] = [
      { name: 'nobody', headers: {} },
      { name: 'a stranger', headers: { Provision: '6f1d4d4e-0a63-4f0c-9d57-0f8f1a6f1c11' } },
      { name: 'a page', headers: { Provision: organization.webProvision } },
      { name: 'a user', headers: { Provision: organization.webProvision, Authorization: `Bearer ${bearer}` } },
      { name: 'a server', headers: { Provision: organization.apiProvision } },
    ];
    const faults: string[] = [];
    const statuses = new Set<number>();
    let answers = 0;
    for (const path of PATHS) {
      for (const method of METHODS) {
        for (const { name, headers } of callers) {
          const response = await fetch(target.serve.url + path, {
            ...{ method, redirect: 'manual' },
            headers: { 'X-Forwarded-Proto': 'https', 'Content-Type': 'application/json', ...headers },
            ...(['POST', 'PUT', 'PATCH'].includes(method) && { body: '{"query":"{ donors { nodes { lastName } } }"}' }),
          });
          const found = findFaults(response, path, await response.text());
          statuses.add(response.status);
          answers++;
          if (found.length > 0) faults.push(`${method} ${path} of ${name} (${response.status}) ${found.join(', ')}`);
        }
      }
    }
    return [
      {
        name: `${PATHS.length} paths by ${METHODS.length} methods and ${callers.length} kinds of callers, with statuses ${[...statuses].sort().join(', ')}: answers as they must be`,
        figure: `${answers - faults.length} of ${answers}${faults.length > 0 ? `: ${faults.slice(0, 5).join('; ')}` : ''}`,
        holds: faults.length === 0,
      },
      await askBehindCache(target.serve.url, callers.slice(2), other.apiProvision),
    ];
  } finally {
    await target.stop();
  }
}

/** nginx as a cache of everything that its defaults let it keep: the second caller must never get an answer of the first. */
async function askBehindCache(url: string, callers: readonly Caller[], otherProvision: string): Promise<Finding> {
  const name = 'a cache before the gateway (nginx): answers of one caller that another one got';
  try {
    assertInstalled('nginx');
  } catch (error) {
    if (error instanceof NotRun) return { name, figure: `not run: ${error.message}`, holds: false };
    throw error;
  }
  const directory = mkdtempSync(join(tmpdir(), 'trust-cache-'));
  chmodSync(directory, 0o777);
  mkdirSync(join(directory, 'logs'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${directory}/${kind};`).join(' ');
  writeFileSync(
    join(directory, 'nginx.conf'),
    `pid ${directory}/nginx.pid; error_log ${directory}/error.log; events {}
     http { access_log off; ${temporary} proxy_cache_path ${directory}/cache keys_zone=all:1m;
       server { listen 127.0.0.1:${port};
         location / { proxy_pass ${url}; proxy_cache all; proxy_cache_key $uri$is_args$args; proxy_cache_valid any 10m;
           add_header X-Cache $upstream_cache_status always; } } }`,
  );
  const nginx = spawn(
    'nginx',
    ['-p', directory, '-e', join(directory, 'error.log'), '-c', join(directory, 'nginx.conf'), '-g', 'daemon off;'],
    { stdio: 'ignore' },
  );
  const ended = once(nginx, 'exit');
  try {
    const cached = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 100 && !(await fetch(`${cached}/live`).catch(() => undefined)); tries++) await sleep(50);
    let asked = 0;
    let hits = 0;
    const foreign: string[] = [];
    for (const path of PATHS.filter((each) => each !== '//graphql' && each !== '/%zz')) {
      for (const headers of [...callers.map((caller) => caller.headers), { Provision: otherProvision }, {}]) {
        const response = await fetch(cached + path, { headers, redirect: 'manual' });
        const body = await response.text();
        asked++;
        const owner =
          headers === callers[1]!.headers || headers === callers[2]!.headers ? 'CanaryOfOne' : 'Provision' in headers ? 'CanaryOfTwo' : '';
        if (response.headers.get('x-cache') === 'HIT') hits++;
        for (const canary of ['CanaryOfOne', 'CanaryOfTwo']) if (canary !== owner && body.includes(canary)) foreign.push(path);
      }
    }
    return {
      name,
      figure: `${foreign.length} of ${asked}, kept by the cache ${hits} (goal 0)${foreign
        .slice(0, 3)
        .map((path) => `; ${path}`)
        .join('')}`,
      holds: foreign.length === 0 && hits === 0 && asked > 0,
    };
  } finally {
    nginx.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true });
  }
}
