import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { readConfig } from '../../src/config';
import { createServices } from '../../src/services';
import { startServe, succeed, type Environment, type ServeProcess } from '../support/command';
import { freePort } from '../support/free-port';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { SERVING_PASSWORD, SERVING_ROLE } from '../support/database';
import { fillReport } from '../support/long-report';
import { endAtLast } from '../bench/endings';
import { USUAL_WAITS, type Finding } from '../trust/attack';

/** Migrates a database, as its owner, with a role that serves, and gives it an organization with so many lines. */
export async function fillDatabase(url: string, lines: number): Promise<TestOrganization> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const services = createServices(readConfig({ DATABASE_URL: url }), { connectionString: url });
  try {
    await client.query(`CREATE ROLE ${SERVING_ROLE} LOGIN PASSWORD '${SERVING_PASSWORD}'`);
    await succeed({ DATABASE_URL: url }, ['migrate']);
    const organization = await createOrganization(services);
    await fillReport(client, organization.id, lines, `''`);
    return organization;
  } finally {
    await services.close();
    await client.end();
  }
}

/** The time for which an update keeps a gateway away. It is longer than HAProxy tries to connect again, three times in as many seconds. */
const AWAY_MS = 5000;

/** A stop and a start of a gateway: the exit status, and the milliseconds that each has taken. */
export interface Restart {
  readonly status: number | null;
  readonly stopMs: number;
  readonly startMs: number;
}

/** Restarts in words, and whether each of them stopped as it should. */
export function toRestartFinding(restarts: readonly Restart[]): Finding {
  const longest = (key: 'stopMs' | 'startMs'): string => (Math.max(...restarts.map((restart) => restart[key])) / 1000).toFixed(1);
  const statuses = restarts.map(({ status }) => status);
  return {
    name: 'the restarts',
    figure: `a stop took ${longest('stopMs')} s and a start ${longest('startMs')} s at most; exit status ${[...new Set(statuses)].join(', ')}`,
    holds: statuses.every((status) => status === 0),
  };
}

/** A gateway that is restarted at its own port. */
export class RestartedGateway {
  private serve: ServeProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly settings: Environment,
  ) {}

  static async start(settings: Environment): Promise<RestartedGateway> {
    const gateway = new RestartedGateway(await freePort(), settings);
    endAtLast(async () => void (await gateway.stop()));
    await gateway.start();
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async restart(): Promise<Restart> {
    const stoppedAt = Date.now();
    const status = await this.stop();
    const stopMs = Date.now() - stoppedAt;
    await sleep(AWAY_MS);
    const startedAt = Date.now();
    await this.start();
    return { status, stopMs, startMs: Date.now() - startedAt };
  }

  async stop(): Promise<number | null> {
    const { serve } = this;
    this.serve = undefined;
    return serve ? serve.end('SIGTERM') : null;
  }

  private async start(): Promise<void> {
    this.serve = await startServe({ ...USUAL_WAITS, ...this.settings, PORT: String(this.port) });
  }
}
