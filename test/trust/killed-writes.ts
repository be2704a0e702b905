import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServe, succeed, type Environment } from '../support/command';
import { createTestDatabase } from '../support/database';
import { graphql, openSession, PASSWORD } from '../support/gateway';
import { inMs, percentile, type Finding } from './attack';

/** Kills in all, one half on the embedded database and the other on a separate server. `KILLED_WRITES` sets another number. */
const KILLS = Number(process.env.KILLED_WRITES ?? 50);
const WRITERS = 4;
const MAX_START_MS = 5000;
const SAVE =
  'mutation ($name: String!) { saveReport(input: { name: $name, query: "{ depositDetails(startDate: \\"2024-01-01\\", endDate: \\"2024-12-31\\") { amount } }" }) { report { name } } }';

interface Outcome {
  readonly acknowledged: number;
  readonly lost: number;
  readonly broken: readonly string[];
  readonly starts: readonly { readonly ms: number }[];
}

/** Kills the gateway again and again while clients save reports, and looks for those whose saving was acknowledged. */
async function killAndLook(environment: Environment, kills: number): Promise<Outcome> {
  const words = ['--organization', 'Church'];
  await succeed(environment, ['migrate']);
  await succeed(environment, ['organization', 'create', 'Church']);
  const created = await succeed(environment, ['provision', 'create', ...words, '--kind', 'web']);
  const provision = created.trim().split('\n').at(-1)!;
  const grant = ['--grant', 'deposit_detail_designation_detail_with_contact_info'];
  await succeed(environment, ['user', 'create', ...words, '--username', 'ada', ...grant], `${PASSWORD}\n`);
  const acknowledged = new Set<string>();
  const broken: string[] = [];
  const starts: { ms: number }[] = [];
  let serve = await startServe(environment);
  const bearer = await openSession(serve.url, provision);
  for (let kill = 0; kill < kills; kill++) {
    const writing = { on: true };
    const { url } = serve;
    const writers = Array.from({ length: WRITERS }, async () => {
      while (writing.on) {
        const name = `r${randomUUID().slice(0, 18)}`;
        const answer = await graphql(url, SAVE, { provision, bearer, variables: { name } }).catch(() => undefined);
        if (answer?.body.data?.saveReport) acknowledged.add(name);
        else await sleep(5);
      }
    });
    await sleep(100 + Math.random() * 400);
    await serve.end('SIGKILL');
    writing.on = false;
    await Promise.all(writers);
    const startedAt = performance.now();
    serve = await startServe(environment);
    while ((await fetch(`${serve.url}/ready`)).status !== 200) await sleep(10);
    starts.push({ ms: performance.now() - startedAt });
  }
  const { reports } = JSON.parse(`{"reports":${await succeed(environment, ['report', 'list', ...words, '--json'])}}`) as {
    reports: { name: string }[];
  };
  const kept = new Set(reports.map(({ name }) => name));
  if ((await serve.end('SIGTERM')) !== 0) broken.push('the last stop failed');
  await succeed(environment, ['audit', 'verify', ...words]).catch((error: unknown) => broken.push(String(error)));
  await succeed(environment, ['check']).catch((error: unknown) => broken.push(String(error)));
  return { acknowledged: acknowledged.size, lost: [...acknowledged].filter((name) => !kept.has(name)).length, broken, starts };
}

export async function run(): Promise<readonly Finding[]> {
  const directory = mkdtempSync(join(tmpdir(), 'trust-kills-'));
  chmodSync(directory, 0o755);
  const database = await createTestDatabase();
  try {
    const findings: Finding[] = [];
    for (const [where, environment] of [
      ['the embedded database', { DATA_DIR: join(directory, 'data'), DEMO: 'off' }],
      ['a separate server', { DATABASE_URL: database.url }],
    ] as const) {
      const { acknowledged, lost, broken, starts } = await killAndLook(environment, Math.ceil(KILLS / 2));
      const slowest = percentile(starts, 100);
      findings.push({
        name: `${starts.length} kills while reports are saved, on ${where}`,
        figure: `lost ${lost} of ${acknowledged} acknowledged (goal 0), broken chains and books ${broken.length} (goal 0)${broken.map((each) => `; ${each.slice(0, 200)}`).join('')}; ready again within ${inMs(slowest)}, median ${inMs(percentile(starts, 50))} (goal ${inMs(MAX_START_MS)})`,
        holds: lost === 0 && broken.length === 0 && acknowledged > starts.length && slowest <= MAX_START_MS,
      });
    }
    return findings;
  } finally {
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  }
}
