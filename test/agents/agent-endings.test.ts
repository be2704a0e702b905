import { Client } from 'pg';
import { AGENT_PRIVILEGE, REPORT_PRIVILEGE } from '../../src/values/privileges';
import { callTool, createAgent, manifestOf, saveReport } from '../support/agent-client';
import { v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { startReplicatedGateway, type ReplicatedGateway } from '../support/replicated-gateway';
import { until } from '../support/until';

const YEAR = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const manifest = manifestOf([`query Total { depositSummary(${YEAR}) { all { lines } digest } }`]);
const QUERY = `{ depositDetails(${YEAR}) { amount donorFirstName } }`;
const SETTINGS = { AGENTS: 'on', TRUSTED_DOCUMENTS: manifest.path };

describe('a call under way ends within seconds', () => {
  const gateway = openGateway({ settings: { ...SETTINGS, ACCESS_CHECK_SECONDS: '1' }, lines: [v2Line()] });

  test.each(['report_gifts', 'query_Total'])('when its provision loses the privilege of agents: %s', async (tool) => {
    const { services, organization, database } = gateway;
    const agent = await createAgent(services, organization.name, [REPORT_PRIVILEGE]);
    await saveReport(services, organization.id, { name: 'gifts', query: QUERY }).catch(() => undefined);
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE deposit_line IN ACCESS EXCLUSIVE MODE');
      const called = callTool(gateway.url, agent, tool);
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until(async () => (await database.client.query(waiting)).rowCount! > 0);
      await services.provisions.changeGrants(agent, { verb: 'revoke', privileges: [AGENT_PRIVILEGE] });
      expect((await called).text).toContain('This provision lacks the privilege agent');
    } finally {
      await holder.end();
    }
  });
});

describe('a call whose replica fails', () => {
  let setup: ReplicatedGateway;
  beforeAll(async () => {
    setup = await startReplicatedGateway(SETTINGS);
  });
  afterAll(() => setup.stop());

  test('is answered from the primary', async () => {
    const { gateway, organization, database, replica } = setup;
    await saveReport(gateway.services, organization.id, { name: 'gifts', query: QUERY });
    const agent = await createAgent(gateway.services, organization.name, [REPORT_PRIVILEGE]);
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    try {
      // The replica replays the lock, so that it keeps the call waiting.
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE deposit_line IN ACCESS EXCLUSIVE MODE');
      await replica.catchUp();
      const called = callTool(gateway.url, agent, 'report_gifts');
      const ending = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
      await until(async () => (await replica.client().query(ending)).rowCount! > 0);
      await holder.query('ROLLBACK');
      expect(await called).toMatchObject({ isError: false, content: { dataVersion: 1, rows: 3 } });
    } finally {
      await holder.end();
    }
    expect(gateway.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
  });
});
