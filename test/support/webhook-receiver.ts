import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A message as its receiver has verified it. */
export interface ReceivedMessage {
  readonly id: string;
  readonly timestamp: number;
  readonly signature: string;
  readonly headers: IncomingHttpHeaders;
  readonly at: number;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> };
}

type Answer = (response: ServerResponse, message: ReceivedMessage) => void;

/** The seconds by which a timestamp may be away from now. */
const TOLERANCE = 300;

/** A receiver of webhooks on loopback. Its verification follows the text of Standard Webhooks 1.0 and uses nothing of the gateway. */
export class WebhookReceiver {
  readonly messages: ReceivedMessage[] = [];
  /** The faults of messages that were refused. */
  readonly faults: string[] = [];
  /** The requests to other paths than that of the hook. */
  readonly others: string[] = [];
  readonly secret = `whsec_${randomBytes(32).toString('base64')}`;
  answer: Answer = (response) => void response.writeHead(204).end();
  private readonly open = new Set<ServerResponse>();

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      this.open.add(response);
      response.on('close', () => this.open.delete(response));
      if (request.url !== '/hook/path-is-secret') {
        this.others.push(request.url!);
        response.writeHead(204).end();
        return;
      }
      void text(request).then((body) => {
        const message = this.verify(request.headers, body);
        if (message) this.messages.push(message);
        if (message) this.answer(response, message);
        else response.writeHead(400).end();
      });
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new WebhookReceiver(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook/path-is-secret`;
  }

  /** The requests that have no whole answer yet. */
  get hanging(): number {
    return this.open.size;
  }

  get last(): ReceivedMessage | undefined {
    return this.messages.at(-1);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private verify(headers: IncomingHttpHeaders, body: string): ReceivedMessage | undefined {
    const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => String(headers[name]));
    const key = Buffer.from(this.secret.replace('whsec_', ''), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
    const isSigned = signatures!.split(' ').some((each) => {
      const [version, signature = ''] = each.split(',');
      const given = Buffer.from(signature, 'base64');
      return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
    });
    if (!isSigned) this.faults.push('signature');
    else if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE) this.faults.push('timestamp');
    else {
      const parsed = JSON.parse(body) as ReceivedMessage['body'];
      return { id: id!, timestamp: Number(timestamp), signature: signatures!, headers, at: Date.now(), body: parsed };
    }
    return undefined;
  }
}
