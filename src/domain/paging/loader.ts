import type { EntityId as Id } from '../../formats/entity-edges';

/** A value that is already known, or a promise of one that must be read. */
export type Eventually<Value> = Value | Promise<Value>;

export interface Source<Value> {
  /** The values of these ids, in their order. */
  read(ids: readonly Id[]): Promise<readonly Value[]>;
  /** The entities that values hold. */
  entitiesOf(values: readonly Value[]): readonly object[];
}

/** Reads values by id, each once. One statement reads all that are asked for at the same time; values can also be read ahead. */
export class Loader<Value> {
  private readonly known = new Map<Id, Value>();
  /** The reading of each id that was asked for, which may still be under way. */
  private readonly readings = new Map<Id, Promise<void>>();
  private next: { readonly ids: Id[]; readonly reading: Promise<void> } | undefined;

  constructor(private readonly source: Source<Value>) {}

  get(id: Id): Eventually<Value> {
    const value = this.known.get(id);
    return value === undefined ? this.readingOf(id).then(() => this.known.get(id)!) : value;
  }

  /** Reads the values of these ids, so that `get` returns them at once. Resolves to the entities that the values hold. */
  async readAhead(ids: readonly Id[]): Promise<readonly object[]> {
    await Promise.all(new Set(ids.filter((id) => !this.known.has(id)).map((id) => this.readingOf(id))));
    return this.source.entitiesOf(ids.map((id) => this.known.get(id)!));
  }

  private readingOf(id: Id): Promise<void> {
    const known = this.readings.get(id);
    if (known) return known;
    this.next ??= this.gather();
    this.next.ids.push(id);
    this.readings.set(id, this.next.reading);
    return this.next.reading;
  }

  private gather(): NonNullable<typeof this.next> {
    const ids: Id[] = [];
    // When the immediate runs, all code that does not wait has asked for the ids that it needs.
    const reading = new Promise(setImmediate).then(async () => {
      this.next = undefined;
      const values = await this.source.read(ids);
      for (const [index, id] of ids.entries()) this.known.set(id, values[index]!);
    });
    return { ids, reading };
  }
}
