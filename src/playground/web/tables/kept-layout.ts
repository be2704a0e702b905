/** The changes that a person made to the columns of a table, by column id. The ids are names of fields, and hold nothing of the rows. */
export interface KeptLayout {
  /** True for a column that was chosen, false for one that was hidden. */
  readonly chosen: Readonly<Record<string, boolean>>;
  readonly order: readonly string[];
  /** Widths in pixels. */
  readonly sizes: Readonly<Record<string, number>>;
}

const NO_CHANGES: KeptLayout = { chosen: {}, order: [], sizes: {} };

const keyOf = (name: string): string => `deposit-gateway.columns.${name}`;

/** Reads the layout that this browser keeps under a name. One that cannot be read is as good as none. */
export function readKeptLayout(name: string | undefined): KeptLayout {
  if (name === undefined) return NO_CHANGES;
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(name)) ?? '{}') as Partial<Record<keyof KeptLayout, unknown>>;
    return {
      chosen: toRecord(stored.chosen, (value) => typeof value === 'boolean'),
      order: Array.isArray(stored.order) ? stored.order.filter((id) => typeof id === 'string') : [],
      sizes: toRecord(stored.sizes, (value): value is number => typeof value === 'number' && value > 0),
    };
  } catch {
    return NO_CHANGES;
  }
}

/** The columns of a table in a kept order. One that the order does not know stands behind the column that it follows at first. */
export function inKeptOrder(order: readonly string[], ids: readonly string[]): string[] {
  if (order.length === 0) return [];
  return withMissing(
    order.filter((id) => ids.includes(id)),
    ids,
  );
}

/** Adds the ids that an order lacks, each behind the one that it follows in a full list. */
function withMissing(order: readonly string[], all: readonly string[]): string[] {
  const whole = [...order];
  all.forEach((id, place) => {
    if (!whole.includes(id)) whole.splice(whole.indexOf(all[place - 1] ?? '') + 1, 0, id);
  });
  return whole;
}

/**
 * Keeps a layout in this browser. Of columns that the table does not have at the moment, such as those of a comparison, it keeps what it
 * knew before. A layout without any change forgets all.
 */
export function keepLayout(name: string, { chosen, order, sizes }: KeptLayout): void {
  const before = readKeptLayout(name);
  const isUnchanged = Object.keys(chosen).length + order.length + Object.keys(sizes).length === 0;
  const layout: KeptLayout = {
    chosen: { ...before.chosen, ...chosen },
    order: order.length === 0 ? before.order : withMissing(order, before.order),
    sizes: { ...before.sizes, ...sizes },
  };
  try {
    if (isUnchanged) localStorage.removeItem(keyOf(name));
    else localStorage.setItem(keyOf(name), JSON.stringify(layout));
  } catch {
    // A browser without room, or that stores nothing, shows the columns all the same.
  }
}

function toRecord<Value>(stored: unknown, isFit: (value: unknown) => value is Value): Readonly<Record<string, Value>> {
  if (typeof stored !== 'object' || stored === null) return {};
  return Object.fromEntries(Object.entries(stored).filter((entry): entry is [string, Value] => isFit(entry[1])));
}
