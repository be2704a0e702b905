import { useEffect, useMemo, useState } from 'react';
import type { FindDonorsQuery, FindFundsQuery, LineWordsQuery } from '../../../generated/operations/graphql';
import findDonorsQuery from '../queries/find-donors.graphql?raw';
import findFundsQuery from '../queries/find-funds.graphql?raw';
import lineWordsQuery from '../queries/line-words.graphql?raw';
import { askGateway } from '../session/gateway-client';
import { disambiguate } from '../values/namesakes';
import type { Found } from './finder-field';

/** The kinds of things that a condition names by ids. */
const kinds = ['fund', 'donor'] as const;
export type NamedKind = (typeof kinds)[number];

interface Search {
  readonly search?: string;
  readonly ids?: readonly number[];
}

/** Finds funds or donors by a part of a name, or by their ids. */
async function findNamed(kind: NamedKind, provision: string, { search = '', ids }: Search, signal?: AbortSignal): Promise<Found[]> {
  const variables = { ...(search.trim() !== '' && { search }), ...(ids && { ids }) };
  if (kind === 'fund') {
    const { designations } = await askGateway<FindFundsQuery>(provision, { query: findFundsQuery, variables }, signal);
    return (designations?.nodes ?? []).map(({ designationId, name }) => ({
      id: String(designationId),
      name,
      note: `No. ${String(designationId)}`,
      title: disambiguate(name, [designationId]),
    }));
  }
  const { donors } = await askGateway<FindDonorsQuery>(provision, { query: findDonorsQuery, variables }, signal);
  return (donors?.nodes ?? []).map(({ donorId, firstName, lastName, city, state }) => {
    const name = `${firstName} ${lastName}`.trim() || '(no name)';
    const note = [`No. ${String(donorId)}`, [city, state].filter(Boolean).join(', ')].filter(Boolean).join(' · ');
    return { id: String(donorId), name, note, title: disambiguate(name, [donorId, city]) };
  });
}

export interface Names {
  readonly findFunds: (search: string, signal: AbortSignal) => Promise<readonly Found[]>;
  readonly findDonors: (search: string, signal: AbortSignal) => Promise<readonly Found[]>;
  /** The name of an id, with what tells it apart from namesakes; its number until the name is known. */
  readonly nameOf: (kind: NamedKind, id: number) => string;
  /** True once the gateway has said that nothing has an id. It says so only to those who may know. */
  readonly isMissing: (kind: NamedKind, id: number) => boolean;
}

/**
 * Finds funds and donors, and the names of those that the choices hold. Names are kept in memory alone. They are asked for anew with each
 * result of the report: a donor may have been erased, or have another name.
 */
export function useNames(provision: string, wanted: Readonly<Record<NamedKind, readonly number[]>>, result?: unknown): Names {
  // An id that nothing has is known too, without a name.
  const [known, setKnown] = useState<ReadonlyMap<string, string | undefined>>(new Map());
  const missing = kinds.map((kind) => wanted[kind].filter((id) => !known.has(`${kind} ${String(id)}`)));
  const key = JSON.stringify(missing);
  const finders = useMemo(() => {
    const keep = (kind: NamedKind, found: readonly Found[], asked: readonly number[] = []): readonly Found[] => {
      setKnown((before) => new Map([...before, ...toEntries(kind, found, asked)]));
      return found;
    };
    const finder = (kind: NamedKind) => async (search: string, signal: AbortSignal) =>
      keep(kind, await findNamed(kind, provision, { search }, signal));
    return { keep, findFunds: finder('fund'), findDonors: finder('donor') };
  }, [provision]);
  useEffect(() => {
    for (const [kind, ids] of toAsked(key))
      findNamed(kind, provision, { ids }).then(
        (found) => finders.keep(kind, found, ids),
        // A name that cannot be found leaves the number, which is as exact.
        () => undefined,
      );
  }, [key, provision, finders]);
  const wantedKey = JSON.stringify(kinds.map((kind) => wanted[kind]));
  useEffect(() => {
    const asked = toAsked(wantedKey);
    if (result === undefined || asked.length === 0) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const asking = asked.map(async ([kind, ids]) => toEntries(kind, await findNamed(kind, provision, { ids }, signal), ids));
    Promise.all(asking).then(
      (found) => setKnown(new Map(found.flat())),
      () => {
        if (!signal.aborted) setKnown(new Map());
      },
    );
    return () => controller.abort();
  }, [result, wantedKey, provision]);
  const toKey = (kind: NamedKind, id: number): string => `${kind} ${String(id)}`;
  return {
    ...finders,
    nameOf: (kind, id) => known.get(toKey(kind, id)) ?? `No. ${String(id)}`,
    isMissing: (kind, id) => known.has(toKey(kind, id)) && known.get(toKey(kind, id)) === undefined,
  };
}

/** The names of what was found, after the ids that were asked for, which have none where nothing was found. */
const toEntries = (kind: NamedKind, found: readonly Found[], asked: readonly number[]) => [
  ...asked.map((id) => [`${kind} ${String(id)}`, undefined] as const),
  ...found.map(({ id, name, title = name }) => [`${kind} ${id}`, title] as const),
];

/** The kinds that have ids in a key, with the ids. */
const toAsked = (key: string): [NamedKind, readonly number[]][] =>
  (JSON.parse(key) as readonly (readonly number[])[]).flatMap((ids, place) => (ids.length > 0 ? [[kinds[place]!, ids]] : []));

export type LineWords = Readonly<Record<'paymentTypes' | 'accountTypes' | 'statuses', readonly string[]>>;

/** Fetches the words that the lines of all time use. Throws an Error whose message the page shows. */
export async function fetchLineWords(provision: string, signal: AbortSignal): Promise<LineWords> {
  const answer = await askGateway<LineWordsQuery>(provision, { query: lineWordsQuery }, signal);
  const wordsOf = (name: keyof LineWords): string[] =>
    (answer[name]?.groups?.nodes ?? []).flatMap(({ key: { word } }) => (word === null || word === '' ? [] : [word]));
  return { paymentTypes: wordsOf('paymentTypes'), accountTypes: wordsOf('accountTypes'), statuses: wordsOf('statuses') };
}
