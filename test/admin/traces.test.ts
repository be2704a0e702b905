import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { readConfig } from '../../src/config';
import { createServices } from '../../src/services';
import { startServe } from '../support/command';
import { createTestDatabase, databaseSettings } from '../support/database';
import { createOrganization, graphql, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { startTraceCollector, type CollectedSpan, type TraceCollector } from '../support/trace-collector';

const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

/** Starts a gateway that sends traces, lets its callers ask, and resolves to the spans that have come when it has stopped. */
async function collect(
  settings: Readonly<Record<string, string>>,
  ask: (url: string, organization: TestOrganization) => Promise<void>,
): Promise<readonly CollectedSpan[]> {
  const collector: TraceCollector = await startTraceCollector();
  const database = await createTestDatabase();
  const services = createServices(readConfig(databaseSettings()), { connectionString: database.url });
  // Jest does not let the library of the exporter load Node's http.
  const gateway = await startServe({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    DATABASE_URL: database.url,
    ...settings,
  });
  try {
    const organization = await createOrganization(services);
    await importLines(services, organization, [v2Line()]);
    await ask(gateway.url, organization);
  } finally {
    await gateway.end('SIGTERM');
    await services.close();
    await database.drop();
    collector.close();
  }
  return collector.spans;
}

const attributesOf = ({ attributes }: CollectedSpan): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const childrenOf = (spans: readonly CollectedSpan[], { spanId }: CollectedSpan) =>
  spans.filter(({ parentSpanId }) => parentSpanId === spanId);

async function askReport(url: string, { apiProvision }: TestOrganization, traceparent?: string): Promise<void> {
  const headers = { Provision: apiProvision, ...(traceparent !== undefined && { traceparent }) };
  await (await fetch(`${url}${REPORT}?start_date=2024-01-01&end_date=2024-12-31`, { headers })).arrayBuffer();
}

describe('an operator with a collector', () => {
  test('sees a report in the trace of its caller: the request, its operation, and the statements under it', async () => {
    const spans = await collect({}, (url, organization) => askReport(url, organization, `00-${TRACE}-${PARENT}-01`));
    const [request, ...others] = spans.filter(({ kind }) => kind === 2);
    expect([request!.traceId, request!.parentSpanId, request!.name, others]).toEqual([TRACE, PARENT, `GET ${REPORT}`, []]);
    expect(attributesOf(request!)).toMatchObject({ 'http.request.method': 'GET', 'http.route': REPORT, 'http.response.status_code': 200 });
    const [operation] = childrenOf(spans, request!);
    expect(operation!.name).toBe(`resolve ${REPORT}`);
    const waits = childrenOf(spans, operation!);
    expect(waits.map(({ name }) => name).sort()).toEqual(['COPY', 'SELECT', 'connect', 'wait for a lane', 'write audit']);
    const copy = attributesOf(waits.find(({ name }) => name === 'COPY')!);
    expect(copy).toMatchObject({ 'db.system.name': 'postgresql', 'db.operation.name': 'COPY' });
    // The beginning of a statement tells which it is.
    expect(copy['db.query.text']).toMatch(/^COPY \(SELECT .{243}$/s);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  });

  test('sees an operation by the field of the schema that it asks for', async () => {
    const query = 'query Ada_Lovelace { depositSummary(startDate: "2024-01-01", endDate: "2024-12-31") { all { lines } } }';
    const spans = await collect({}, async (url, { apiProvision }) => void (await graphql(url, query, { provision: apiProvision })));
    const request = spans.find(({ kind }) => kind === 2)!;
    expect([request.name, attributesOf(request)['graphql.operation.name']]).toEqual(['POST /graphql', 'depositSummary']);
    const operation = childrenOf(spans, request)[0]!;
    expect(operation.name).toBe('resolve depositSummary');
    expect(childrenOf(spans, operation).length).toBeGreaterThan(1);
    expect(JSON.stringify(spans)).not.toContain('Lovelace');
  });

  test('gets the share of traces that the setting says, whatever id and flag their callers send', async () => {
    const unsampled = await collect({}, (url, organization) => askReport(url, organization, `00-${TRACE}-${PARENT}-00`));
    expect(unsampled.filter(({ kind }) => kind === 2).map(({ traceId }) => traceId)).toEqual([TRACE]);
    const lowest = `00-0000000a0000000a0000000b0000000b-${PARENT}-01`;
    const rare = { OTEL_TRACES_SAMPLER_ARG: '0.0001' };
    expect(await collect(rare, (url, organization) => askReport(url, organization, lowest))).toEqual([]);
    const none = { OTEL_TRACES_SAMPLER_ARG: '0' };
    const sent = await collect(none, async (url, organization) => {
      for (const traceparent of [undefined, `00-${TRACE}-${PARENT}-01`]) await askReport(url, organization, traceparent);
    });
    expect(sent).toEqual([]);
  });

  test('that never answers holds the stop of the gateway for about a second', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    const sockets: Socket[] = [];
    silent.on('connection', (socket) => sockets.push(socket.on('error', () => undefined)));
    await once(silent, 'listening');
    const database = await createTestDatabase();
    const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const gateway = await startServe({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '1', DATABASE_URL: database.url });
    await (await fetch(`${gateway.url}/live`)).arrayBuffer();
    const asked = performance.now();
    expect(await gateway.end('SIGTERM')).toBe(0);
    const stopMs = performance.now() - asked;
    // The exporter itself gives up after ten seconds.
    expect([stopMs < 8000, sockets.length]).toEqual([true, 1]);
    sockets.forEach((socket) => socket.destroy());
    silent.close();
    await database.drop();
  });

  test('that is away does not keep the gateway from answering', async () => {
    await withGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, async ({ url }) => {
      expect((await fetch(`${url}/live`)).status).toBe(200);
    });
  });
});
