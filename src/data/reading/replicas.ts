import { BookSource } from './book-source';
import type { Database, DatabaseAddress, PoolFigures } from '../postgres/database';
import { Replica, type BookState, type ReplicaFigures } from './replica';

interface ReplicasOptions {
  readonly addresses: readonly DatabaseAddress[];
  /** Opens connections to a replica: those for its readings, or one. `onConnectionLost` is called when an idle one is lost. */
  readonly open: (address: DatabaseAddress, onConnectionLost: () => void, purpose: 'readings' | 'checks') => Database;
  /** The longest wait of a request for a replica to reach its version, in milliseconds. */
  readonly waitMs: number;
  /** Called with the number of a replica, from 1 on, and the reason when it is set aside, or undefined when it serves. */
  readonly onChange: (replica: number, reason: string | undefined) => void;
}

const NONE: ReplicasOptions = {
  addresses: [],
  open: () => {
    throw new Error('There is no replica to open');
  },
  waitMs: 0,
  onChange: () => undefined,
};

/**
 * The servers that the books are read from. Who may read them is asked of the primary for every request, and the same statement tells the
 * newest version of the books. A replica that has this very version answers like the primary, so that no caller ever goes back in time,
 * whichever replica, connection or gateway answers. When no replica has it, the primary answers.
 */
export class Replicas {
  private readonly replicas: readonly Replica[];
  private turn = 0;

  constructor(
    private readonly primary: Database,
    { addresses, open, waitMs, onChange } = NONE,
  ) {
    this.replicas = addresses.map((address, index) => {
      const doubt = (): void => replica.doubt();
      const tell = (reason: string | undefined): void => onChange(index + 1, reason);
      const replica: Replica = new Replica(open(address, doubt, 'readings'), open(address, doubt, 'checks'), waitMs, tell);
      return replica;
    });
  }

  get figures(): readonly ReplicaFigures[] {
    return this.replicas.map(({ figures }) => figures);
  }

  /** The connections to each replica, by the pool and the number of the replica. */
  get pools(): Readonly<Record<string, PoolFigures>> {
    return Object.fromEntries(
      this.replicas.flatMap(({ database }, index) =>
        Object.entries(database.figures).map(([pool, figures]) => [`${pool} of replica ${index + 1}`, figures]),
      ),
    );
  }

  /**
   * Opens the source of a request. `findState` is asked with the first reading; where it knows nothing, the primary is read. With
   * `isPrimary` no replica is asked.
   */
  openSource(findState: () => BookState | undefined, isPrimary: boolean): BookSource {
    if (isPrimary || this.replicas.length === 0) return new BookSource(this.primary);
    return new BookSource(this.primary, async () => {
      const state = findState();
      const replica = state && (await this.choose(state));
      return state && replica && { state, replica };
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.close()));
  }

  /** The next replica that has the version, or the first to reach it. */
  private async choose(state: BookState): Promise<Replica | undefined> {
    const first = this.turn++ % this.replicas.length;
    const inTurn = [...this.replicas.slice(first), ...this.replicas.slice(0, first)];
    const reaching = async (replica: Replica): Promise<Replica> => {
      if (!(await replica.reaches(state))) throw new Error('The replica does not have the version');
      return replica;
    };
    const chosen = inTurn.find((replica) => replica.has(state)) ?? (await Promise.any(inTurn.map(reaching)).catch(() => undefined));
    chosen?.countReading();
    return chosen;
  }
}
