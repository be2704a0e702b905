import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServe, succeed } from '../support/command';
import { graphql, openSession, PASSWORD } from '../support/gateway';
import { inMs, NotRun, percentile, probe, send, USUAL_WAITS, type Finding } from './attack';

const DISK = '400m';
const FULL_SECONDS = 15;
const MAX_ERROR_MS = 2000;
const MAX_LIVE_MS = 100;
const MAX_RESUME_MS = 5000;
const SAVE =
  'mutation ($name: String!, $title: String!) { saveReport(input: { name: $name, title: $title, query: "{ depositDetails(startDate: \\"2024-01-01\\", endDate: \\"2024-12-31\\") { amount } }" }) { report { name } } }';

/** A disk of its own that fills up under the embedded database while reports are saved, and has space again. */
export async function run(): Promise<readonly Finding[]> {
  const disk = mkdtempSync(join(tmpdir(), 'trust-disk-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=755`, 'tmpfs', disk]).status !== 0) {
    rmSync(disk, { recursive: true });
    throw new NotRun('a disk of its own needs root and mount');
  }
  try {
    chmodSync(disk, 0o755);
    return await fillUp(disk);
  } finally {
    execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true });
  }
}

async function fillUp(disk: string): Promise<readonly Finding[]> {
  const environment = { DATA_DIR: join(disk, 'data'), DEMO: 'off', ...USUAL_WAITS };
  const words = ['--organization', 'Church'];
  await succeed(environment, ['migrate']);
  await succeed(environment, ['organization', 'create', 'Church']);
  const created = await succeed(environment, ['provision', 'create', ...words, '--kind', 'web']);
  const provision = created.trim().split('\n').at(-1)!;
  const grant = ['--grant', 'deposit_detail_designation_detail_with_contact_info'];
  await succeed(environment, ['user', 'create', ...words, '--username', 'ada', ...grant], `${PASSWORD}\n`);
  const serve = await startServe(environment);
  const bearer = await openSession(serve.url, provision);
  const acknowledged: string[] = [];
  const failures: { ms: number; code: string }[] = [];
  let number = 0;
  const save = async (): Promise<boolean> => {
    const name = `r${number++}`;
    const startedAt = Date.now();
    const answer = await graphql(serve.url, SAVE, { provision, bearer, variables: { name, title: 'x'.repeat(100) } }).catch(
      () => undefined,
    );
    if (answer?.body.data?.saveReport) acknowledged.push(name);
    else failures.push({ ms: Date.now() - startedAt, code: answer?.body.errors?.[0]?.extensions.code ?? 'none' });
    return answer?.body.data?.saveReport !== undefined && answer.body.data.saveReport !== null;
  };
  try {
    for (let n = 0; n < 50; n++) await save();
    const filler = join(disk, 'filler');
    fill(filler, disk);
    const health = probe(FULL_SECONDS, 50, () => send(`${serve.url}/live`));
    for (const end = Date.now() + FULL_SECONDS * 1000; Date.now() < end;) {
      await save();
      // Space that the database frees is taken too.
      fill(filler, disk);
    }
    const live = await health;
    unlinkSync(filler);
    const freedAt = Date.now();
    while (!(await save()) && Date.now() - freedAt < 30_000) await sleep(50);
    const resumedMs = Date.now() - freedAt;
    for (let n = 0; n < 20; n++) await save();
    await serve.end('SIGTERM');
    const kept = new Set(
      (JSON.parse(await succeed(environment, ['report', 'list', ...words, '--json'])) as { name: string }[]).map(({ name }) => name),
    );
    const lost = acknowledged.filter((name) => !kept.has(name)).length;
    const slowest = percentile(failures, 100);
    return [
      {
        name: `a full disk of ${DISK} under the embedded database, ${FULL_SECONDS} s`,
        figure: `${failures.length} writes failed, with ${[...new Set(failures.map(({ code }) => code))].join(', ') || 'nothing'}, longest ${inMs(slowest)} (goal ${MAX_ERROR_MS} ms)`,
        holds: failures.length > 0 && slowest <= MAX_ERROR_MS,
      },
      {
        name: '/live meanwhile',
        figure: `longest ${inMs(percentile(live, 100))} (goal ${MAX_LIVE_MS} ms)`,
        holds: percentile(live, 100) <= MAX_LIVE_MS && live.every(({ status }) => status === 200),
      },
      {
        name: 'with space again',
        figure: `writes after ${inMs(resumedMs)} (goal ${MAX_RESUME_MS} ms), lost ${lost} of ${acknowledged.length} acknowledged (goal 0)`,
        holds: resumedMs <= MAX_RESUME_MS && lost === 0,
      },
    ];
  } finally {
    if (serve.child.exitCode === null) await serve.end('SIGKILL');
  }
}

/** Takes all space that a disk has left. */
function fill(path: string, disk: string): void {
  const file = openSync(path, 'a');
  const { bavail, bsize } = statfsSync(disk);
  try {
    for (let left = bavail * bsize; left > 0; left -= 65_536) writeSync(file, Buffer.alloc(Math.min(65_536, left)));
  } catch {
    // The disk is full, which is what was wanted.
  } finally {
    closeSync(file);
  }
}
