import type { ProcessChannel } from '../../processes/process-channel';
import { createFamiliar, type GuessFigures, type GuessGate, type LookOutcome } from './guess-gate';

const ENTER = 'guess.enter';
const END = 'guess.end';

interface TrialQuestion {
  readonly trial: number;
  readonly subscriber: string;
  readonly name: string;
}

interface TrialEnd {
  readonly trial: number;
  readonly outcome: LookOutcome;
}

/** The gate of the primary, as a worker uses it. A UUID that the worker has found good needs no further question. */
export class RemoteGuessGate implements GuessGate {
  private readonly familiar = createFamiliar();
  private lastTrial = 0;

  constructor(private readonly channel: ProcessChannel) {}

  isFamiliar(name: string): boolean {
    return this.familiar.get(name) ?? false;
  }

  async enter(subscriber: string, name: string): Promise<(outcome: LookOutcome) => void> {
    const trial = ++this.lastTrial;
    await this.channel.ask(ENTER, { trial, subscriber, name } satisfies TrialQuestion);
    return (outcome) => {
      if (outcome === 'found') this.familiar.set(name, true);
      this.channel.tell(END, { trial, outcome } satisfies TrialEnd);
    };
  }

  /** The primary has the figures of all workers. */
  get figures(): GuessFigures {
    return { unknown: 0, refused: 0 };
  }
}

/** Serves the gate to a worker. A look-up that ends with its worker counts as failed. */
export function serveGuesses(channel: ProcessChannel, gate: GuessGate): void {
  const ends = new Map<number, (outcome: LookOutcome) => void>();
  channel.handle(ENTER, async ({ trial, subscriber, name }: TrialQuestion) => {
    // Good at another worker is good at this one.
    if (gate.isFamiliar(name)) return;
    const end = await gate.enter(subscriber, name);
    if (channel.closed.aborted) end('failed');
    else ends.set(trial, end);
  });
  channel.handle(END, ({ trial, outcome }: TrialEnd) => {
    ends.get(trial)?.(outcome);
    ends.delete(trial);
  });
  channel.closed.addEventListener('abort', () => {
    for (const end of ends.values()) end('failed');
    ends.clear();
  });
}
