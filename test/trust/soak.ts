import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization, PASSWORD } from '../support/gateway';
import { EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { hammer, send, startTarget, type Answer, type Finding, type Target } from './attack';

const CLIENTS = 8;
const LINES = 60_000;
const WARM_MINUTES = 5;
/** Readings of the memory in a minute, of which the median counts. */
const SAMPLES = 12;
const MAX_GROWTH_MB = 50;
const KB_PER_MB = 1024;
/** One request in a hundred meets a database connection that is ended under it. */
const FAULT_SHARE = 0.01;
/** Bytes after which a caller leaves its report. */
const SIP_BYTES = 100_000;
const JSON_HEADERS = { 'Content-Type': 'application/json' };

/** The process after a minute: its memory, its open files, and the connections that the database counts. */
interface Reading {
  readonly minute: number;
  readonly rssMb: number;
  readonly files: number;
  readonly connections: number;
  readonly requests: number;
}

const DAY = '"2021-06-01"';
const FIELDS = ['depositId', 'depositDate', 'transactionId', 'donorLastName', 'amount', 'netAmount', 'designation', 'mainMemo'];
const MUTATION = 'mutation ($password: String!) { openSession(input: { username: "ada", password: $password }) { token } }';

const dayOf = (turn: number): string => new Date(Date.UTC(2020, 0, 1 + (turn % 1000))).toISOString().slice(0, 10);

/** A document that no cache has: short or long, of lines, pages, entities or totals. */
function freshDocument(turn: number): string {
  const length = 1 + (turn % 40);
  const fields = (names: readonly string[]) => Array.from({ length }, (_, n) => `f${turn}_${n}: ${names[n % names.length]!}`).join(' ');
  const documents = [
    `{ depositDetails(startDate: ${DAY}, endDate: ${DAY}) { ${fields(FIELDS)} } }`,
    `{ depositDetailsConnection(startDate: ${DAY}, endDate: ${DAY}, first: 10) { nodes { ${fields(FIELDS)} } } }`,
    `{ deposits(first: 5) { nodes { ${fields(['depositId', 'depositDate'])} transactions(first: 2) { nodes { ${fields(['amount', 'feeAmount'])} } } } } }`,
    `{ depositSummary(startDate: ${DAY}, endDate: ${DAY}) { all { ${fields(['lines', 'transactions', 'deposits'])} } } }`,
    `{ viewer { ${fields(['username'])} } noSuchField${turn} }`,
    `{ ${Array.from({ length: 20 }, (_, n) => `a${n}: designations(first: 1) { nodes { ${'id '.repeat(20)} } }`).join(' ')} } #${turn}`,
    // Every day has rows and totals of its own, which are kept too.
    `{ depositDetailsConnection(startDate: "${dayOf(turn)}", endDate: "2029-12-31", first: ${40 + (turn % 20)}) { nodes { ${fields(FIELDS)} } } }`,
    `{ depositSummary(startDate: "202${turn % 10}-0${1 + (turn % 9)}-01", endDate: "2029-0${1 + (turn % 7)}-1${turn % 10}") { all { ${fields(['lines'])} } } }`,
  ];
  return documents[turn % documents.length]!;
}

/** Asks, logs in, leaves reports and loses database connections for minutes, and reads once a minute what the process holds. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 30);

export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const { apiProvision, webProvision, id } = await createOrganization(target.services);
    await fillReport(target.database.client, id, LINES, `''`);
    const headers = { ...JSON_HEADERS, Provision: apiProvision };
    const { url } = target.serve;
    const post = (body: object, provision = apiProvision) =>
      send(`${url}/graphql`, { method: 'POST', headers: { ...headers, Provision: provision }, body: JSON.stringify(body) });
    const acts: readonly ((turn: number) => Promise<Answer | undefined>)[] = [
      ...Array.from({ length: 14 }, () => (turn: number) => post({ query: freshDocument(turn) })),
      () => post({ query: MUTATION, variables: { password: PASSWORD } }, webProvision),
      () => post({ query: MUTATION, variables: { password: 'wrong' } }, webProvision),
      () => send(`${url}${REPORT}?start_date=2021-06-01&end_date=2021-06-30`, { headers: { Provision: apiProvision } }),
      () => send(`${url}/export/deposit-details.csv?start_date=2021-06-01&end_date=2021-06-30`, { headers: { Provision: apiProvision } }),
      () => leave(url + EVERYTHING, apiProvision),
      () => send(`${url}${REPORT}?start_date=never`, { headers: { Provision: apiProvision } }),
    ];
    let requests = 0;
    const statuses = new Map<string, number>();
    const work = hammer(CLIENTS, MINUTES * 60, async () => {
      const turn = requests++;
      if (Math.random() < FAULT_SHARE) await breakConnection(target);
      const answer = await acts[turn % acts.length]!(turn);
      const outcome = answer === undefined ? 'left' : String(answer.status);
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
    });
    const readings: Reading[] = [];
    for (let minute = 1; minute <= MINUTES; minute++) {
      const samples: Reading[] = [];
      while (samples.length < SAMPLES) {
        await sleep(60_000 / SAMPLES);
        samples.push(await readProcess(target, minute, requests));
      }
      // Garbage that is not collected yet rises and falls by 100 MB.
      const rssMb = samples.map((sample) => sample.rssMb).toSorted((one, other) => one - other)[SAMPLES / 2]!;
      readings.push({ ...samples.at(-1)!, rssMb });
    }
    await work;
    return toFindings(readings, statuses, target.serve.child.exitCode);
  } finally {
    await target.stop();
  }
}

/** Begins a report and leaves when some of it is there. */
function leave(url: string, provision: string): Promise<undefined> {
  return new Promise((resolve) => {
    let taken = 0;
    const asking = request(url, { headers: { Provision: provision }, agent: false }, (response) => {
      response.on('data', (piece: Buffer) => {
        taken += piece.length;
        if (taken > SIP_BYTES) asking.destroy();
      });
      response.on('error', () => undefined);
    });
    asking.on('error', () => undefined).on('close', () => resolve(undefined));
    asking.end();
  });
}

/** Faults follow each other, because a client of the database takes one statement at a time. */
let faults: Promise<unknown> = Promise.resolve();
const breakConnection = ({ database }: Target) =>
  (faults = faults.then(() =>
    database.client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY random() LIMIT 1`,
    ),
  ));

async function readProcess({ serve, database }: Target, minute: number, requests: number): Promise<Reading> {
  const { pid } = serve.child;
  const { rows } = await database.client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  const rssKb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { minute, requests, rssMb: rssKb / KB_PER_MB, files: readdirSync(`/proc/${pid}/fd`).length, connections: rows[0]!.count };
}

function toFindings(readings: readonly Reading[], statuses: ReadonlyMap<string, number>, exitCode: number | null): Finding[] {
  const start = readings[Math.min(WARM_MINUTES, readings.length) - 1]!;
  const end = readings.at(-1)!;
  const growth = end.rssMb - start.rssMb;
  const curve = readings.map(({ rssMb }) => rssMb.toFixed(0)).join(' ');
  const each = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  const perRequests = (growth / (end.requests - start.requests)) * 100_000;
  return [
    {
      name: `${end.minute} minutes of ever new documents, logins, left reports and lost connections: growth after minute ${start.minute}`,
      figure: `${growth.toFixed(0)} MB, ${perRequests.toFixed(1)} MB for 100,000 requests (goal ${MAX_GROWTH_MB} MB); MB by minute: ${curve}`,
      holds: growth <= MAX_GROWTH_MB && end.minute > start.minute,
    },
    {
      name: `its requests: open files and database connections at the end, against minute ${start.minute}`,
      figure: `${start.files} → ${end.files} files, ${start.connections} → ${end.connections} connections; ${each}; exit status ${exitCode ?? 'none'}`,
      holds: end.files <= start.files + 2 * CLIENTS && end.connections <= start.connections + 2 * CLIENTS && exitCode === null,
    },
  ];
}
