import { Client } from 'pg';
import { readConfig } from '../../src/config';
import { createServices } from '../../src/services';
import { startServe, succeed, type Environment, type ServeProcess } from '../support/command';
import { freePort } from '../support/free-port';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { SERVING_PASSWORD, SERVING_ROLE } from '../support/global-setup';
import { fillReport } from '../support/long-report';
import { endAtLast } from '../bench/endings';
import { USUAL_WAITS } from '../trust/attack';

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

  /** Stops the gateway and starts it again. Resolves to the exit status and the milliseconds that each has taken. */
  async restart(): Promise<{ readonly status: number | null; readonly stopMs: number; readonly startMs: number }> {
    const stoppedAt = Date.now();
    const status = await this.stop();
    const startedAt = Date.now();
    await this.start();
    return { status, stopMs: startedAt - stoppedAt, startMs: Date.now() - startedAt };
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
