import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { endAtLast } from '../bench/endings';
import { assertInstalled } from '../trust/attack';
import { freePort } from '../support/free-port';
import { until } from '../support/until';

/** HAProxy before some gateways. */
export interface Balancer {
  readonly url: string;
  /** Resolves when HAProxy takes a gateway, by its place, for one that serves. */
  untilUp(gateway: number): Promise<void>;
  stop(): Promise<void>;
}

/** The fields that are read here of HAProxy's statistics in CSV (management guide, section 9.1). */
const [PROXY, SERVER, STATUS] = [0, 1, 17];

/** Starts HAProxy with the defaults of Debian's package. Its checks ask /ready; their times are HAProxy's own. */
export async function startBalancer(directory: string, ports: readonly number[]): Promise<Balancer> {
  assertInstalled('haproxy');
  const port = await freePort();
  const socket = join(directory, 'haproxy.sock');
  const config = join(directory, 'haproxy-gateways.cfg');
  const lines = [
    ...['global', `  stats socket ${socket}`],
    ...['defaults', '  mode http', '  timeout connect 5000', '  timeout client 50000', '  timeout server 50000'],
    ...['frontend web', `  bind 127.0.0.1:${port}`, '  default_backend gateways'],
    ...['backend gateways', '  option httpchk GET /ready'],
    ...ports.map((each, n) => `  server gateway${n} 127.0.0.1:${each} check`),
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const child = spawn('haproxy', ['-f', config], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const stop = endAtLast(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const statusOf = async (gateway: number): Promise<string> => {
    const asking = connect(socket).on('error', () => undefined);
    asking.end('show stat\n');
    const rows = (await text(asking).catch(() => '')).split('\n').map((line) => line.split(','));
    return rows.find((row) => row[PROXY] === 'gateways' && row[SERVER] === `gateway${gateway}`)?.[STATUS] ?? '';
  };
  const untilUp = (gateway: number): Promise<void> => until(async () => (await statusOf(gateway)) === 'UP');
  for (const gateway of ports.keys()) await untilUp(gateway);
  return {
    url: `http://127.0.0.1:${port}`,
    untilUp,
    stop,
  };
}
