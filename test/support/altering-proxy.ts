import { once } from 'node:events';
import { createServer, request as ask, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

/** One answer on its way through a proxy. A test changes its parts. */
export interface PassingAnswer {
  /** The path of the request, and its body. */
  readonly asked: string;
  status: number;
  body: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly trailers: Record<string, string | undefined>;
  /** True when the answer shall break off in its middle. */
  isCut?: boolean;
}

/** A server in front of a gateway that changes answers. */
export class AlteringProxy {
  private alter: (answer: PassingAnswer) => unknown = () => undefined;
  private constructor(
    readonly url: string,
    private readonly stopServer: () => Promise<void>,
  ) {}

  static async start(gateway: string): Promise<AlteringProxy> {
    let proxy: AlteringProxy | undefined = undefined;
    const server = createServer((incoming, outgoing) => {
      void (async () => {
        const body = await text(incoming);
        const forwarded = ask(`${gateway}${incoming.url}`, {
          method: incoming.method,
          headers: { ...incoming.headers, connection: 'close' },
        });
        forwarded.end(body);
        const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
        const content = (await buffer(response)).toString();
        const answer: PassingAnswer = {
          asked: `${incoming.url} ${body}`,
          ...{ status: response.statusCode!, body: content, headers: response.headers, trailers: { ...response.trailers } },
        };
        await proxy?.alter(answer);
        const { connection: _connection, 'content-length': _length, 'transfer-encoding': _coding, ...headers } = answer.headers;
        outgoing.writeHead(answer.status, Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)));
        if (answer.isCut) {
          outgoing.write(answer.body.slice(0, answer.body.length / 2), () => outgoing.destroy());
          return;
        }
        outgoing.addTrailers(Object.fromEntries(Object.entries(answer.trailers).filter(([, value]) => value !== undefined)));
        outgoing.end(answer.body);
      })().catch(() => outgoing.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const stop = async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    };
    proxy = new AlteringProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop);
    return proxy;
  }

  /** Changes answers while a function runs. */
  async while<Result>(alter: (answer: PassingAnswer) => unknown, run: () => Promise<Result>): Promise<Result> {
    this.alter = alter;
    try {
      return await run();
    } finally {
      this.alter = () => undefined;
    }
  }

  stop(): Promise<void> {
    return this.stopServer();
  }
}
