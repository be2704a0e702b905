import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Finding } from '../trust/attack';

interface LoadOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The path that is asked at the pace. */
  readonly path: string;
  readonly perSecond: number;
  /** The path of a report that is read whole, at its own pace. */
  readonly report: string;
  readonly reportsPerSecond: number;
}

/** The outcomes of requests, each with its number. */
export type Outcomes = ReadonlyMap<string, number>;

/** The requests of a load that failed, and how, in words. */
export function toLoadFinding(name: string, outcomes: Outcomes): Finding {
  const total = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
  const failures = [...outcomes].filter(([outcome]) => outcome !== 'whole');
  const failed = failures.reduce((sum, [, count]) => sum + count, 0);
  return {
    name,
    figure: `${failed} of ${total} failed (goal 0)${failed > 0 ? `: ${failures.map(([outcome, count]) => `${count} × ${outcome}`).join(', ')}` : ''}`,
    holds: failed === 0 && total > 0,
  };
}

/** The end of a whole report of v2. */
const REPORT_END = ']}';

/** Asks at a pace, whether or not the answers before have come, on connections that are kept, until it is stopped. */
export function startLoad({ url, headers, path, perSecond, report, reportsPerSecond }: LoadOptions): { stop(): Promise<Outcomes> } {
  const agent = new Agent({ keepAlive: true });
  const outcomes = new Map<string, number>();
  const asked: Promise<void>[] = [];
  let isOn = true;
  const note = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const pace = async (everyMs: number, ask: () => Promise<string>): Promise<void> => {
    const startedAt = Date.now();
    for (let count = 0; isOn; count++) {
      asked.push(ask().then(note));
      // A late turn is made up for, so that the pace is kept.
      await sleep(Math.max(startedAt + (count + 1) * everyMs - Date.now(), 0));
    }
  };
  const pacing = [
    pace(1000 / perSecond, () => askOnce(url + path, headers, agent, '}')),
    pace(1000 / reportsPerSecond, () => askOnce(url + report, headers, agent, REPORT_END)),
  ];
  return {
    stop: async () => {
      isOn = false;
      await Promise.all(pacing);
      await Promise.all(asked);
      agent.destroy();
      return outcomes;
    },
  };
}

/** `whole`, or what went wrong: a status, an answer that is cut, or the error of the connection. */
function askOnce(url: string, headers: Readonly<Record<string, string>>, agent: Agent, end: string): Promise<string> {
  return new Promise((resolve) => {
    request(url, { headers: { ...headers }, agent }, (response) => {
      let tail = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => (tail = (tail + piece).slice(-end.length)))
        .on('end', () => resolve(response.statusCode !== 200 ? `status ${response.statusCode}` : tail === end ? 'whole' : 'cut'))
        .on('error', ({ message }) => resolve(message));
    })
      .on('error', ({ message }) => resolve(message))
      .end();
  });
}
