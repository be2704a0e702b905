import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { existsSync } from 'node:fs';
import { readConfig } from '../../src/config';
import { createServices, type Services } from '../../src/services';
import { startCitus, type CitusCluster } from '../support/citus-cluster';
import { startServe, succeed, type ServeProcess } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { createOrganization, importLines, type TestOrganization } from '../support/gateway';
import { asServing, SERVING_ROLE } from '../support/database';
import { inMs, NotRun, send, USUAL_WAITS, type Finding } from '../trust/attack';
import { makeClusterDirectory, startCluster } from '../trust/postgres-cluster';
import { compareAnswers, compareSpeed, type Contestant } from './citus-answers';
import { compareHistory, type Keeper } from './citus-history';
import { readLoadSizes } from './load-sizes';

const EXTENSION = '/usr/lib/postgresql/15/lib/citus.so';
const WORKERS = 2;
const SMALL_ORGANIZATIONS = 8;
const READERS = 6;
const FIRST_IMPORTS = 8;
/** Few enough that no statistics are made anew, for which Citus asks every worker. */
const FIRST_GIFTS = 100;
const TOTALS =
  '{ depositSummary(startDate: "2000-01-01", endDate: "2030-12-31", pending: WITH) { all { lines byLine { amount } } digest } }';
const LINES = '{ depositDetails(startDate: "2000-01-01", endDate: "2030-12-31", includePending: true) { amount } }';

/** The books on a coordinator and two workers, beside the same books on one plain PostgreSQL of the same version. */
export async function run(): Promise<readonly Finding[]> {
  if (!existsSync(EXTENSION)) throw new NotRun('Citus is not installed');
  const sizes = readLoadSizes();
  const directory = makeClusterDirectory();
  const plain = await startCluster(directory.path);
  const cluster = await startCitus(WORKERS);
  const gateways: (Contestant & Keeper & { readonly serve: ServeProcess; readonly services: Services & { close(): Promise<void> } })[] = [];
  try {
    await cluster.createDatabase('books');
    const books = cluster.urls.map((url) => url.replace('/postgres?', '/books?'));
    for (const url of [plain.url, ...cluster.urls]) await once(url, `CREATE ROLE ${SERVING_ROLE} LOGIN PASSWORD 'serving'`);
    for (const [name, url] of [
      ['plain', plain.url],
      ['citus', books[0]!],
    ] as const) {
      const settings = { ...USUAL_WAITS, DATABASE_URL: url, ...(name === 'citus' && { DATABASE_ENGINE: 'citus' }) };
      await succeed(settings, ['migrate']);
      const services = createServices(readConfig(settings), { connectionString: url });
      const organization = await createOrganization(services);
      const lines = depositBook(sizes.gifts);
      const startedAt = performance.now();
      await importLines(services, organization, lines);
      const importMs = performance.now() - startedAt;
      const serve = await startServe({ ...settings, DATABASE_URL: asServing(url), OWNER_DATABASE_URL: url });
      gateways.push({ name, url: serve.url, organization, serve, services, settings, importMs, lines: lines.length });
    }
    const [one, other] = [gateways[0]!, gateways[1]!];
    const distributed = other;
    const small: TestOrganization[] = [];
    for (let n = 0; n < SMALL_ORGANIZATIONS; n++) {
      const organization = await createOrganization(distributed.services);
      await importLines(distributed.services, organization, depositBook(200));
      small.push(organization);
    }
    return [
      await compareAnswers(one, other),
      await compareHistory(one, other),
      ...(await compareSpeed(one, other, sizes.rounds)),
      await move(distributed, small[0]!, books[0]!, cluster, sizes.moveSeconds),
      await stopNode(distributed, small, books[0]!, cluster),
    ];
  } finally {
    for (const { serve, services } of gateways) {
      await serve.end('SIGTERM');
      await services.close();
    }
    await plain.stop();
    await cluster.stop();
    directory.remove();
  }
}

async function once<Row>(url: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows as Row[];
  } finally {
    await client.end();
  }
}

const PLACEMENTS = (organizationId: number): string => `
  SELECT shardid::bigint AS shard, nodeport AS port FROM citus_shards
  WHERE shardid = get_shard_id_for_distribution_column('deposit_line', ${organizationId})`;

interface Distributed {
  readonly url: string;
  readonly services: Services;
}

const post = (url: string, { apiProvision }: TestOrganization, query: string) =>
  send(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Provision: apiProvision },
    body: JSON.stringify({ query }),
  });

interface Totals {
  readonly lines: number;
  readonly amount: string;
  readonly digest: string;
}

/** Moves an organization between the workers, while it is read and changed. Each answer must be of one of the states that there were. */
async function move(
  { url, services }: Distributed,
  organization: TestOrganization,
  coordinator: string,
  cluster: CitusCluster,
  moveSeconds: number,
): Promise<Finding> {
  const states = [depositBook(200), depositBook(260)];
  const known = new Map<string, Totals>();
  const readTotals = async (): Promise<Totals | string> => {
    const { body, status } = await post(url, organization, TOTALS);
    if (status !== 200) return `${status}`;
    const { data, errors } = JSON.parse(body) as {
      data?: { depositSummary: { all: { lines: number; byLine: { amount: string } }; digest: string } | null };
      errors?: unknown;
    };
    const summary = data?.depositSummary;
    return errors || !summary
      ? body.slice(0, 120)
      : { lines: summary.all.lines, amount: summary.all.byLine.amount, digest: summary.digest };
  };
  const complete = { periods: [{ startDate: '2000-01-01', endDate: '2030-12-31' }], pending: 'WITH' } as const;
  for (const state of states) {
    await importLines(services, organization, state, { complete, maxRemoved: 100_000 });
    const totals = (await readTotals()) as Totals;
    known.set(String(totals.lines), totals);
  }
  await once(
    coordinator,
    `SELECT isolate_tenant_to_new_shard('deposit_line', ${organization.id}, 'CASCADE', shard_transfer_mode => 'block_writes')`,
  );
  const counts = { reads: 0, wrong: 0, failed: 0, moves: 0, imports: 0, failedImports: 0, failedMoves: 0 };
  const faults = new Set<string>();
  const end = Date.now() + moveSeconds * 1000;
  const read = async (reader: number): Promise<void> => {
    while (Date.now() < end) {
      if (reader % 2 === 0) {
        const totals = await readTotals();
        if (typeof totals === 'string') {
          counts.failed++;
          faults.add(totals);
        } else if (JSON.stringify(known.get(String(totals.lines))) !== JSON.stringify(totals)) counts.wrong++;
      } else {
        const { status, body } = await post(url, organization, LINES);
        const lines =
          status === 200
            ? (JSON.parse(body) as { data?: { depositDetails: { amount: string }[] | null } }).data?.depositDetails
            : undefined;
        if (!lines) {
          counts.failed++;
          faults.add(body.slice(0, 120));
        } else {
          const cents = lines.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
          const expected = known.get(String(lines.length));
          if (!expected || Math.round(Number(expected.amount) * 100) !== cents) counts.wrong++;
        }
      }
      counts.reads++;
    }
  };
  const write = async (): Promise<void> => {
    for (let n = 0; Date.now() < end; n++) {
      await importLines(services, organization, states[n % 2]!, { complete, maxRemoved: 100_000 }).then(
        () => counts.imports++,
        (error: unknown) => {
          counts.failedImports++;
          faults.add(String((error as Error & { cause?: Error }).cause?.message ?? error).slice(0, 120));
        },
      );
    }
  };
  const shuttle = async (): Promise<void> => {
    while (Date.now() < end) {
      const [place] = await once<{ shard: string; port: number }>(coordinator, PLACEMENTS(organization.id));
      const target = place!.port === 5433 ? 5434 : 5433;
      await once(
        coordinator,
        `SELECT citus_move_shard_placement(${place!.shard}, '${cluster.host}', ${place!.port}, '${cluster.host}', ${target}, 'force_logical')`,
      ).then(
        () => counts.moves++,
        (error: unknown) => {
          counts.failedMoves++;
          faults.add(String(error).slice(0, 160));
        },
      );
    }
  };
  await Promise.all([...Array.from({ length: READERS }, (_, reader) => read(reader)), write(), shuttle()]);
  return {
    name: `an organization isolated and moved between the workers for ${moveSeconds} s, read by ${READERS} and changed meanwhile`,
    figure: `${counts.reads} answers beside ${counts.moves} moves and ${counts.imports} imports: ${counts.wrong} wrong, ${counts.failed} failed; ${counts.failedImports} imports and ${counts.failedMoves} moves failed ${[...faults].slice(0, 4).join(' / ')}`,
    holds: counts.wrong === 0 && counts.reads >= 1000 && counts.moves > 0 && counts.imports > 0,
  };
}

/** Imports the first files of new organizations while only one worker is there. Those that it does not have are left out. */
async function importFirst(services: Services, coordinator: string, port: number): Promise<{ good: number; failed: number }> {
  const counts = { good: 0, failed: 0 };
  for (let n = 0; n < FIRST_IMPORTS; n++) {
    const organization = await createOrganization(services);
    const [place] = await once<{ port: number }>(coordinator, PLACEMENTS(organization.id));
    if (place!.port !== port) continue;
    await importLines(services, organization, depositBook(FIRST_GIFTS)).then(
      () => counts.good++,
      () => counts.failed++,
    );
  }
  return counts;
}

/** Stops a worker under load: organizations on the other go on, those on it get an error soon, and it serves again when it is back. */
async function stopNode(
  { url, services }: Distributed,
  organizations: readonly TestOrganization[],
  coordinator: string,
  cluster: CitusCluster,
): Promise<Finding> {
  const places = new Map<TestOrganization, number>();
  for (const organization of organizations) {
    const [place] = await once<{ port: number }>(coordinator, PLACEMENTS(organization.id));
    places.set(organization, place!.port);
  }
  const counts = { others: 0, othersFailed: 0, slowestOther: 0, lost: 0, lostFailed: 0, slowestLost: 0 };
  let isDown = false;
  let isOver = false;
  const ask = async (organization: TestOrganization): Promise<void> => {
    while (!isOver) {
      const { status, ms, body } = await post(url, organization, TOTALS.replace(' digest', ''));
      const isGood = status === 200 && !body.includes('"errors"');
      if (isDown && places.get(organization) === 5434) {
        counts.lost++;
        counts.lostFailed += isGood ? 0 : 1;
        counts.slowestLost = Math.max(counts.slowestLost, ms);
      } else if (isDown) {
        counts.others++;
        counts.othersFailed += isGood ? 0 : 1;
        counts.slowestOther = Math.max(counts.slowestOther, ms);
      }
      await sleep(20);
    }
  };
  const asking = organizations.map(ask);
  await cluster.stopNode(2);
  isDown = true;
  const up = sleep(8000);
  const first = await importFirst(services, coordinator, 5433);
  await up;
  isDown = false;
  await cluster.startNode(2);
  const lost = organizations.find((organization) => places.get(organization) === 5434)!;
  const startedAt = Date.now();
  while ((await post(url, lost, TOTALS.replace(' digest', ''))).body.includes('"errors"') && Date.now() - startedAt < 30_000)
    await sleep(10);
  const recoveryMs = Date.now() - startedAt;
  isOver = true;
  await Promise.all(asking);
  return {
    name: 'a worker stopped for 8 s under load',
    figure: `organizations on the other: ${counts.others} answers, ${counts.othersFailed} failed, slowest ${inMs(counts.slowestOther)}; on it: ${counts.lostFailed} of ${counts.lost} failed, each within ${inMs(counts.slowestLost)}; ${first.good} of ${first.good + first.failed} first imports on the other; good again ${inMs(recoveryMs)} after its start`,
    holds:
      first.good > 0 &&
      first.failed === 0 &&
      counts.others > 0 &&
      counts.othersFailed === 0 &&
      counts.lostFailed === counts.lost &&
      counts.slowestLost < 4000 &&
      recoveryMs < 5000,
  };
}
