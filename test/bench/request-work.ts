import type { HttpClient, HttpRequest } from './http-client';
import { median, p99, type Result } from './results';

/** V8 compiles a server's code while it answers its first thousand requests. */
const WARM_UP_MS = 4_000;

/** One who answers a request. */
export interface Answerer {
  readonly name: string;
  /** The request, or the function that asks without HTTP. */
  readonly request: HttpRequest | (() => Promise<unknown>);
}

export interface RequestWork {
  readonly name: string;
  readonly rounds: number;
  /** Answers in one round, one after the other, of each client. */
  readonly repeats: number;
}

/** Measures what answers take; the answerers take turns. What they answer must have been compared before. */
export async function measureRequests(
  { name: work, rounds, repeats }: RequestWork,
  answerers: readonly Answerer[],
  clients: readonly HttpClient[],
): Promise<Result[]> {
  const measured = answerers.map(({ name, request }) => ({ name, request, times: [] as number[] }));
  const ask = (request: Answerer['request'], times: number[]) =>
    Promise.all(
      clients.map(async (client) => {
        for (let count = 0; count < repeats; count++)
          times.push(await (typeof request === 'function' ? time(request) : wait(client, request)));
      }),
    );
  for (const { request } of measured) await warmUp(() => ask(request, []));
  for (let round = 0; round < rounds; round++) for (const { request, times } of measured) await ask(request, times);
  return measured.map(({ name, times }) => ({
    ...{ work, contender: name, rounds },
    ...{ medianMs: median(times), minMs: Math.min(...times), p99Ms: p99(times) },
  }));
}

/** Asks again and again, so that what is measured afterwards is a server that runs, and not one that begins. */
export async function warmUp(ask: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < WARM_UP_MS) await ask();
}

const wait = async (client: HttpClient, request: HttpRequest): Promise<number> => (await client.read(request)).wallMs;

async function time(ask: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await ask();
  return performance.now() - startedAt;
}
