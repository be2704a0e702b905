import { useSyncExternalStore } from 'react';
import { TOTAL } from '../rows/pivot-rows';
import { isTime, type TableColumn } from '../values/table-types';

/** A screen on which a table of more than three columns would have to be moved about to be read, such as that of a phone. */
const NARROW = '(width <= 480px)';

/** True while the screen is narrow. */
export const useNarrowScreen = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(NARROW).matches);

function subscribe(onChange: () => void): () => void {
  const query = matchMedia(NARROW);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

const LAST_NAMES = ['key.donorLastName', 'donorLastName'];

/** The three columns that a narrow screen shows: what a row is of, what else names it, and its money. */
export function findMainColumns(columns: readonly TableColumn[]): readonly string[] {
  const shown = columns.filter(({ isHidden = false }) => !isHidden);
  const name = shown[0];
  const money = shown.filter(({ kind }) => kind === 'money');
  const amount = money.find(({ id }) => id === TOTAL) ?? money.find(({ adds }) => adds) ?? money[0];
  const others = shown.filter((column) => column !== name && column !== amount);
  const text = others.find(({ kind, isCode = false }) => !isCode && (kind === 'text' || kind === 'instant'));
  const key = others.find(({ id, isCode = false }) => isCode && id.startsWith('key.'));
  const count = others.find(({ kind }) => kind === 'count' || kind === 'percent');
  const isOfTime = name !== undefined && (isTime(name.kind) || name.kind === 'word' || name.kind === 'count');
  const difference = others.find(({ id }) => id.endsWith('.difference'));
  const second =
    others.find(({ id }) => LAST_NAMES.includes(id)) ?? difference ?? (isOfTime ? (text ?? key) : undefined) ?? count ?? others[0];
  // A time is long, and leaves room for a word.
  const third = second?.kind === 'instant' ? (others.find(({ kind }) => kind === 'word') ?? amount) : amount;
  return [name, second, third].flatMap((column) => column?.id ?? []);
}
