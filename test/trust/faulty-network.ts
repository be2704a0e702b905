import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { REPORT } from '../support/long-report';
import { startServe } from '../support/command';
import { inMs, percentile, send, startTarget, USUAL_WAITS, type Answer, type Finding } from './attack';

const FAULTS = 1000;
const TOGETHER = 20;
const MAX_MS = 3500;
const CUT_AFTER_BYTES = 100;
const LATENCY_MS = 500;

/** The ways in which a network between gateway and database fails. */
type Mode = 'passes' | 'is silent' | 'resets' | 'sends single bytes' | 'is late' | 'cuts answers';

/** A proxy before PostgreSQL whose mode is set while it runs. */
export async function startFaultProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const directory = target.searchParams.get('host');
  const port = Number(target.port || '5432');
  const state: { mode: Mode } = { mode: 'passes' };
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const database = directory === null ? connect(port, target.hostname) : connect(`${directory}/.s.PGSQL.${port}`);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket
        .on('error', () => socket.destroy())
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          database.destroy();
        });
    }
    client.on('data', (piece) => {
      if (state.mode === 'resets') client.resetAndDestroy();
      else if (state.mode !== 'is silent') database.write(piece);
    });
    let late = Promise.resolve();
    database.on('data', (piece: Buffer) => {
      if (state.mode === 'passes') client.write(piece);
      if (state.mode === 'cuts answers') client.write(piece.subarray(0, CUT_AFTER_BYTES), () => client.destroy());
      if (state.mode === 'sends single bytes') for (const byte of piece) client.write(Buffer.of(byte));
      if (state.mode === 'is late') late = late.then(() => sleep(LATENCY_MS)).then(() => void (client.destroyed || client.write(piece)));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    url: url.href,
    state,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Requests over a database whose network fails in each way, then the connections that are left. */
export async function run(): Promise<readonly Finding[]> {
  const store = await startTarget();
  const proxy = await startFaultProxy(store.database.url);
  const serve = await startServe({ DATABASE_URL: proxy.url, ...USUAL_WAITS });
  try {
    const organization = await createOrganization(store.services);
    await importLines(store.services, organization, [v2Line()]);
    const headers = { Provision: organization.apiProvision };
    const paths = ['/api/v2/authenticated_test_system', `${REPORT}?start_date=2024-01-01&end_date=2024-12-31`];
    const ask = (turn: number) => send(serve.url + paths[turn % paths.length]!, { headers });
    const connections = async (): Promise<number> => {
      const { rows } = await store.database.client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      return rows[0]!.count;
    };
    for (let turn = 0; turn < 100; turn++) await ask(turn);
    const before = await connections();
    const findings: Finding[] = [];
    for (const mode of ['is silent', 'resets', 'sends single bytes', 'is late', 'cuts answers'] as const) {
      proxy.state.mode = mode;
      const rounds = mode === 'resets' || mode === 'cuts answers' ? FAULTS / TOGETHER : 4;
      const answers: Answer[] = [];
      for (let round = 0; round < rounds; round++)
        answers.push(...(await Promise.all(Array.from({ length: TOGETHER }, (_, turn) => ask(turn)))));
      const slowest = percentile(answers, 100);
      const faults = answers.filter(
        ({ status, body }) =>
          ![200, 404, 500].includes(status) || (status !== 200 && !/No connection to data source|Data source query failed/.test(body)),
      );
      const good = answers.filter(({ status }) => status === 200).length;
      findings.push({
        name: `${answers.length} requests over a network that ${mode}`,
        figure: `longest ${inMs(slowest)} (goal ${MAX_MS} ms), ${good} good, other texts than the contract's ${faults.length}${faults[0] ? `: ${faults[0].status} ${faults[0].body.slice(0, 100)}` : ''}`,
        holds: slowest <= MAX_MS && faults.length === 0,
      });
      proxy.state.mode = 'passes';
      const startedAt = Date.now();
      while ((await ask(0)).status !== 200 && Date.now() - startedAt < 10_000) await sleep(20);
    }
    for (let turn = 0; turn < 100; turn++) await ask(turn);
    const deadline = Date.now() + 10_000;
    while ((await connections()) > before + 4 && Date.now() < deadline) await sleep(100);
    const after = await connections();
    return [
      ...findings,
      {
        name: 'connections that are left',
        figure: `${before} before, ${after} after (goal: no more than 4 more)`,
        holds: after <= before + 4,
      },
    ];
  } finally {
    await serve.end('SIGKILL');
    proxy.close();
    await store.stop();
  }
}
