import { useCallback, useEffect, useRef, useState } from 'react';
import { readViewParameters, withoutView } from '../choices/linked-view';
import { findUnread, readAddress, SAVED_PARAMETER, toAddress, type ReportChoices } from '../choices/report-choices';
import type { ViewParameters } from '../tables/view-link';

/** The mode that the part of the page's address behind `#` names. Browsers never send that part. */
export type PageMode =
  /** Reports mode, with the choices of a report; without them, the list of reports. */
  | {
      readonly kind: 'reports';
      readonly choices: ReportChoices | undefined;
      /** The rows that a followed link names. */
      readonly view?: ViewParameters | undefined;
      /** The parameters of a link or of an opened saved report that nobody can read. They stay in the address. */
      readonly unread?: URLSearchParams;
      /** The name of the saved report that is open. */
      readonly saved?: string | undefined;
    }
  /** A saved report by its name. */
  | { readonly kind: 'saved'; readonly name: string }
  /** The home, which says where the books stand. */
  | { readonly kind: 'home' }
  /** GraphQL mode. An address with a query is that of a link to it. */
  | { readonly kind: 'graphql' };

/** Reports mode with its list of reports. */
export const NO_REPORT = { kind: 'reports', choices: undefined, view: undefined, saved: undefined } as const satisfies PageMode;

const HOME: PageMode = { kind: 'home' };
export const HOME_ADDRESS = '#home';
const SAVED = '#saved/';

function readMode(hash: string): PageMode | undefined {
  if (hash === '#graphql' || hash.startsWith('#query=')) return { kind: 'graphql' };
  if (hash.startsWith(SAVED)) return readSaved(hash.slice(SAVED.length));
  const choices = readAddress(hash);
  if (choices) {
    const saved = new URLSearchParams(hash.split('?', 2)[1]).get(SAVED_PARAMETER) ?? undefined;
    return { kind: 'reports', choices, view: readViewParameters(hash), unread: findUnread(hash, choices), saved };
  }
  if (hash === HOME_ADDRESS) return HOME;
  return hash === '#reports' ? NO_REPORT : undefined;
}

function readSaved(name: string): PageMode | undefined {
  try {
    return { kind: 'saved', name: decodeURIComponent(name) };
  } catch {
    // The address was cut within a character. The page opens as if it had none.
    return undefined;
  }
}

/** The name under which the browser keeps that GraphQL mode was the last one. */
const LAST_MODE = 'deposit-gateway.mode';
const GRAPHQL = 'graphql';

/** The mode of a page that was opened without an address: GraphQL for those who were in it last, and the home for everybody else. */
const firstMode = (): PageMode => readMode(location.hash) ?? (localStorage.getItem(LAST_MODE) === GRAPHQL ? { kind: GRAPHQL } : HOME);

const toHash = (mode: PageMode): string =>
  mode.kind === 'graphql'
    ? '#graphql'
    : mode.kind === 'home'
      ? HOME_ADDRESS
      : mode.kind === 'saved'
        ? SAVED + encodeURIComponent(mode.name)
        : mode.choices
          ? toAddress(mode.choices, withSaved(mode))
          : '#reports';

/** The parameters of an address that are none of the choices. */
const withSaved = ({ unread, saved }: Extract<PageMode, { kind: 'reports' }>): URLSearchParams =>
  new URLSearchParams([...(unread ?? []), ...(saved === undefined ? [] : [[SAVED_PARAMETER, saved]])]);

/** Turns to another mode. `step` is false for one that takes the place of the present one in the browser's history. */
export type SetMode = (mode: PageMode, step?: boolean) => void;

/** The mode that the page is in. Each change is a step of the browser's history, so that Back leads to the choices before. */
export function usePageMode(): readonly [PageMode, SetMode] {
  const [mode, setMode] = useState(firstMode);
  const followed = useRef(withoutView(location.hash));
  useEffect(() => {
    // One step fires both events, and the report may have taken the rows of a link out of the address between them.
    const follow = (): void => {
      if (location.hash === followed.current) return;
      followed.current = withoutView(location.hash);
      setMode((before) => readMode(location.hash) ?? (location.hash === '' ? firstMode() : before));
    };
    window.addEventListener('hashchange', follow);
    window.addEventListener('popstate', follow);
    return () => {
      window.removeEventListener('hashchange', follow);
      window.removeEventListener('popstate', follow);
    };
  }, []);
  useEffect(() => {
    if (mode.kind === GRAPHQL) localStorage.setItem(LAST_MODE, GRAPHQL);
    else localStorage.removeItem(LAST_MODE);
  }, [mode.kind]);
  const change = useCallback((next: PageMode, step = true) => {
    if (location.hash !== toHash(next)) history[step ? 'pushState' : 'replaceState'](null, '', toHash(next));
    followed.current = location.hash;
    setMode(next);
  }, []);
  return [mode, change];
}
