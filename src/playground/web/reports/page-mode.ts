import { useCallback, useEffect, useRef, useState } from 'react';
import { readViewParameters, withoutView } from '../choices/linked-view';
import { findUnread, readAddress, SAVED_PARAMETER, toAddress, toSavedParameter } from '../choices/report-choices';
import type { ViewParameters } from '../tables/view-link';
import type { OpenChoices } from './saved-choices';

/** Reports mode, with the choices of a report; without them, the list of reports. */
interface ReportsMode extends OpenChoices {
  readonly kind: 'reports';
  /** The rows that a followed link names. */
  readonly view?: ViewParameters | undefined;
  /** The parameters of a link or of an opened saved report that nobody can read. They stay in the address. */
  readonly unread?: URLSearchParams;
}

/** The mode that the part of the page's address behind `#` names. Browsers never send that part. */
export type PageMode =
  | ReportsMode
  /** A saved report by its name, and the choices that a link names in place of those that were saved. */
  | { readonly kind: 'saved'; readonly name: string; readonly linked?: URLSearchParams | undefined }
  /** The home, which says where the books stand. */
  | { readonly kind: 'home' }
  /** GraphQL mode. An address with a query is that of a link to it. */
  | { readonly kind: 'graphql' };

/** Reports mode with its list of reports. */
export const NO_REPORT = {
  kind: 'reports',
  choices: undefined,
  view: undefined,
  saved: undefined,
  lost: undefined,
} as const satisfies PageMode;

const HOME: PageMode = { kind: 'home' };
export const HOME_ADDRESS = '#home';
const SAVED = '#saved/';

function readMode(hash: string): PageMode | undefined {
  if (hash === '#graphql' || hash.startsWith('#query=')) return { kind: 'graphql' };
  if (hash.startsWith(SAVED)) return readSaved(hash.slice(SAVED.length));
  const choices = readAddress(hash);
  if (choices) {
    const name = new URLSearchParams(hash.split('?', 2)[1]).get(SAVED_PARAMETER);
    const saved = name === null ? undefined : { name, updatedAt: readStep(history.state) };
    return { kind: 'reports', choices, view: readViewParameters(hash), unread: findUnread(hash, choices), saved };
  }
  if (hash === HOME_ADDRESS) return HOME;
  return hash === '#reports' ? NO_REPORT : undefined;
}

function readSaved(place: string): PageMode | undefined {
  const [name = '', linked] = place.split('?', 2);
  try {
    return { kind: 'saved', name: decodeURIComponent(name), linked: linked === undefined ? undefined : new URLSearchParams(linked) };
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

/** The time at which the open report was last saved, in a step of the browser's history. Back and a reload find it there again. */
const toStep = (mode: PageMode) => (mode.kind === 'reports' && mode.saved ? { updatedAt: mode.saved.updatedAt } : null);
const readStep = (step: unknown): string | undefined =>
  typeof step === 'object' && step !== null && 'updatedAt' in step && typeof step.updatedAt === 'string' ? step.updatedAt : undefined;

/** Whoever edits the address of an open report has it as it was opened. */
function keepOpened(next: PageMode, before: PageMode): PageMode {
  if (next.kind !== 'reports' || before.kind !== 'reports' || next.saved?.updatedAt !== undefined) return next;
  return next.saved && next.saved.name === before.saved?.name ? { ...next, saved: before.saved } : next;
}

const toHash = (mode: PageMode): string =>
  mode.kind === 'graphql'
    ? '#graphql'
    : mode.kind === 'home'
      ? HOME_ADDRESS
      : mode.kind === 'saved'
        ? SAVED + encodeURIComponent(mode.name) + (mode.linked ? `?${mode.linked.toString()}` : '')
        : mode.choices
          ? toAddress(mode.choices, withSaved(mode))
          : '#reports';

/** The parameters of an address that are none of the choices. */
const withSaved = ({ unread, saved }: ReportsMode): URLSearchParams =>
  new URLSearchParams([...(unread ?? []), ...toSavedParameter(saved?.name)]);

/**
 * Turns to another mode, or to the one that a function makes of the present one. `step` is false for one that takes the place of the present
 * one in the browser's history.
 */
export type SetMode = (mode: PageMode | ((now: PageMode) => PageMode), step?: boolean) => void;

/** The mode that the page is in. Each change is a step of the browser's history, so that Back leads to the choices before. */
export function usePageMode(): readonly [PageMode, SetMode] {
  const [mode, setMode] = useState(firstMode);
  const followed = useRef(withoutView(location.hash));
  const present = useRef(mode);
  const show = useCallback((next: PageMode) => {
    present.current = next;
    setMode(next);
  }, []);
  useEffect(() => {
    // One step fires both events, and the report may have taken the rows of a link out of the address between them.
    const follow = (): void => {
      if (location.hash === followed.current) return;
      followed.current = withoutView(location.hash);
      const next = readMode(location.hash) ?? (location.hash === '' ? firstMode() : present.current);
      show(keepOpened(next, present.current));
      history.replaceState(toStep(present.current), '');
    };
    window.addEventListener('hashchange', follow);
    window.addEventListener('popstate', follow);
    return () => {
      window.removeEventListener('hashchange', follow);
      window.removeEventListener('popstate', follow);
    };
  }, [show]);
  useEffect(() => {
    if (mode.kind === GRAPHQL) localStorage.setItem(LAST_MODE, GRAPHQL);
    else localStorage.removeItem(LAST_MODE);
  }, [mode.kind]);
  const change = useCallback<SetMode>(
    (to, step = true) => {
      const next = typeof to === 'function' ? to(present.current) : to;
      if (typeof to === 'function' && next === present.current) return;
      const isStep = step && location.hash !== toHash(next);
      history[isStep ? 'pushState' : 'replaceState'](toStep(next), '', toHash(next));
      followed.current = location.hash;
      show(next);
    },
    [show],
  );
  return [mode, change];
}
