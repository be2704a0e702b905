import { useSyncExternalStore } from 'react';

interface Place {
  readonly screen: string;
  readonly year: number;
  /** The record that the screen shows, if it shows one. */
  readonly id: string | undefined;
}

const onMove = (notify: () => void): (() => void) => {
  addEventListener('hashchange', notify);
  return () => removeEventListener('hashchange', notify);
};

/** The address within the app, such as `#/donors/2026`. It stays as it is while a user logs in again. */
export function usePlace(): Place {
  const hash = useSyncExternalStore(onMove, () => location.hash);
  const [screen, year, id] = hash.slice(2).split('/');
  return { screen: screen || 'deposits', year: Number(year) || new Date().getFullYear(), id: id && decodeURIComponent(id) };
}

export const addressOf = (screen: string, year: number, id?: string): string =>
  `#/${[screen, year, ...(id === undefined ? [] : [encodeURIComponent(id)])].join('/')}`;
