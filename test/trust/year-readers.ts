import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { hammer, send } from './attack';

/** Clients that ask for the same report, at once and again and again. */
interface YearReaders {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly clients: number;
  readonly seconds: number;
}

/** A refused client is told to come back after five seconds, and does not listen. */
const REFUSED_MS = 1000;

/** The number of reports that were read, and the times of the refusals. */
export interface YearReadings {
  readonly served: number;
  readonly refused: readonly { readonly status: number; readonly ms: number }[];
}

/** Reads in a thread of its own, because the bytes of so many reports would delay the clock of those who are measured beside it. */
export function readYears(readers: YearReaders): Promise<YearReadings> {
  return new Promise((resolve, reject) => {
    new Worker(__filename, { workerData: readers }).once('message', resolve).once('error', reject);
  });
}

async function main(): Promise<void> {
  const { url, headers, clients, seconds } = workerData as YearReaders;
  let served = 0;
  const refused: { status: number; ms: number }[] = [];
  await hammer(clients, seconds, async () => {
    const { status, ms } = await send(url, { headers });
    if (status === 200) served++;
    else {
      refused.push({ status, ms });
      await sleep(REFUSED_MS);
    }
  });
  parentPort!.postMessage({ served, refused } satisfies YearReadings);
}

if (!isMainThread) void main();
