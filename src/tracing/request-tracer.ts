import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace, type Context, type Span, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, ParentBasedSampler, SamplingDecision, TracerProvider, type Sampler } from '@opentelemetry/sdk-trace';
import type { RequestSpans, Wait } from '../data/postgres/request-times';
import { findSqlFault } from '../data/postgres/sql-fault';
import { toAppError } from '../errors';
import type { RequestEnd, RequestObserver } from '../http/request-log';
import type { RequestRecord, TraceParent } from '../http/request-record';

interface TracerOptions {
  /** The address of a collector that takes OTLP over HTTP. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** The share of requests that are traced, from 0 to 1. */
  readonly ratio: number;
}

const SERVER_ERROR = 500;
/** The longest text of an attribute. The whole text of a statement, of some kilobytes, takes a third of the time that a trace costs. */
const MAX_TEXT_LENGTH = 256;
/** The longest wait of a stop for the collector. */
const CLOSE_MS = 1000;

/**
 * Sends a trace of each request to a collector: the request, its operation, and its waits for a lane and for the database, by the semantic
 * conventions of OpenTelemetry for HTTP, GraphQL and databases. The spans are begun where the gateway waits, and no module is patched. No
 * attribute holds an address, a header, a parameter or a text of a caller, so `url.path`, `client.address` and `graphql.document` are left
 * out. The share of requests that are traced is drawn by lot. A trace's id and its flag decide nothing, because strangers may send any.
 */
export class RequestTracer {
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  constructor({ endpoint, serviceName, ratio }: TracerOptions) {
    const sampler = drawShare(ratio);
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName }),
      spanLimits: { attributeValueLengthLimit: MAX_TEXT_LENGTH },
      sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler, remoteParentNotSampled: sampler }),
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` }) })],
    });
    this.tracer = this.provider.getTracer('deposit-gateway');
  }

  /** Begins the span of a request, and returns the function that ends it. */
  begin(record: RequestRecord): RequestObserver {
    const options = { kind: SpanKind.SERVER, attributes: { 'http.request.method': record.method } };
    const span = this.tracer.startSpan(record.method, options, toContext(record.traceParent));
    // A request that is not sampled costs nothing more.
    if (span.isRecording()) record.times.spans = new SpansOfRequest(this.tracer, trace.setSpan(ROOT_CONTEXT, span));
    return (ended, end) => endRequest(span, ended, end);
  }

  /** Sends what was not sent yet. A collector that is away, or that does not answer within a second, loses it. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      const finish = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.provider.shutdown().then(finish, finish);
    });
  }
}

const drawShare = (ratio: number): Sampler => ({
  shouldSample: () => ({ decision: Math.random() < ratio ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD }),
  toString: () => `drawShare(${ratio})`,
});

class SpansOfRequest implements RequestSpans {
  private parent: Context;

  constructor(
    private readonly tracer: Tracer,
    private readonly root: Context,
  ) {
    this.parent = root;
  }

  resolve(): (name: string) => void {
    const span = this.tracer.startSpan('resolve', {}, this.root);
    this.parent = trace.setSpan(this.root, span);
    return (name) => {
      if (name !== '') span.updateName(`resolve ${name}`);
      span.end();
      this.parent = this.root;
    };
  }

  wait({ name, sql }: Wait): (error?: unknown) => void {
    const statement = sql === undefined ? {} : { 'db.system.name': 'postgresql', 'db.operation.name': name, 'db.query.text': sql };
    const span = this.tracer.startSpan(
      name,
      { kind: sql === undefined ? SpanKind.INTERNAL : SpanKind.CLIENT, attributes: statement },
      this.parent,
    );
    return (error) => {
      if (error !== undefined) {
        // The message of a database error may repeat a donor's data.
        const sqlState = findSqlFault(error)?.sqlState;
        if (sqlState !== undefined) span.setAttribute('db.response.status_code', sqlState);
        span.setAttribute('error.type', sqlState ?? toAppError(error).code);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    };
  }
}

function endRequest(span: Span, record: RequestRecord, { status, isWhole }: RequestEnd): void {
  if (!span.isRecording()) return;
  const { method, path, door, label, codes, access } = record;
  if (path !== '*') span.updateName(`${method} ${path}`).setAttribute('http.route', path);
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  if (door === 'graphql' && label !== path) span.setAttribute('graphql.operation.name', label);
  if (codes.size > 0) span.setAttribute('gateway.error.codes', [...codes]);
  if (access?.caller.identity) span.setAttribute('gateway.organization.id', access.caller.identity.organizationId);
  const [code] = codes;
  if (!isWhole || (status ?? 0) >= SERVER_ERROR) {
    span.setAttribute('error.type', isWhole ? (code ?? String(status)) : 'BROKEN').setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function toContext(parent: TraceParent | undefined): Context {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags & TraceFlags.SAMPLED, isRemote: true });
}
