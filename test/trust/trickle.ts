import { setMaxListeners } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTarget, type Finding } from './attack';
import { askBeside, createNeighbours, YEAR } from './neighbours';

const READERS = 60;
const SIP_BYTES = 256 * 1024;
const SIP_EVERY_MS = 10_000;

/** One organization has many readers, each of which takes a little now and then, so that it is never silent. */
export async function run(): Promise<readonly Finding[]> {
  // Short enough that slow readers are let go while the neighbour asks.
  const target = await startTarget({ READER_STALL_SECONDS: '5' });
  const over = new AbortController();
  setMaxListeners(READERS * 2, over.signal);
  try {
    const neighbours = await createNeighbours(target);
    const headers = { Provision: neighbours.attacker.apiProvision };
    for (let reader = 0; reader < READERS; reader++) void sip(target.serve.url + YEAR, headers, over.signal);
    // Until they hold all that they can get.
    await sleep(2000);
    return await askBeside(target, neighbours);
  } finally {
    over.abort();
    await target.stop();
  }
}

async function sip(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const response = await new Promise<IncomingMessage | undefined>((resolve) => {
      request(url, { headers, agent: false, signal }, resolve)
        .on('error', () => resolve(undefined))
        .end();
    });
    response?.on('error', () => undefined).pause();
    while (response && !isOver(response, signal)) {
      for (let taken = 0; taken < SIP_BYTES;) {
        const piece = response.read() as Buffer | null;
        if (!piece) break;
        taken += piece.length;
      }
      await sleep(SIP_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
    await sleep(100);
  }
}

const isOver = (response: IncomingMessage, signal: AbortSignal): boolean => response.destroyed || signal.aborted;
