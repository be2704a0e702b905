import type { HttpClient, HttpRequest } from './http-client';
import { median, p99, type Result } from './results';

/** One who answers a request. */
export interface Answerer {
  readonly name: string;
  readonly request: HttpRequest;
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
  const ask = (request: HttpRequest, times: number[]) =>
    Promise.all(
      clients.map(async (client) => {
        for (let count = 0; count < repeats; count++) times.push((await client.read(request)).wallMs);
      }),
    );
  // The first round is for warming up.
  for (const { request } of measured) await ask(request, []);
  for (let round = 0; round < rounds; round++) for (const { request, times } of measured) await ask(request, times);
  return measured.map(({ name, times }) => ({
    ...{ work, contender: name, rounds },
    ...{ medianMs: median(times), minMs: Math.min(...times), p99Ms: p99(times) },
  }));
}
