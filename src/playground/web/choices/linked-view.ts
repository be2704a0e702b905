import { useEffect, useMemo, useRef } from 'react';
import { toArrangement, type KeptView } from '../rows/filter-text';
import type { TableColumn } from '../values/table-types';
import { isViewParameter, readView, toViewParameters, type ViewParameters } from '../tables/view-link';
import { toAddress, toSavedParameter, type ReportChoices } from './report-choices';

/** The parameters in the address of a report that are about the rows of its table; undefined without one. */
export function readViewParameters(hash: string): ViewParameters | undefined {
  const [, query = ''] = hash.split('?', 2);
  const found = [...new URLSearchParams(query)].filter(([name]) => isViewParameter(name));
  return found.length > 0 ? found : undefined;
}

/** The address of a report whose table shows these rows, under the name of the saved report that is open. */
export function toViewAddress(choices: ReportChoices, columns: readonly TableColumn[], view: KeptView, saved: string | undefined): string {
  const parameters = toViewParameters(toArrangement(columns, view, navigator.languages), view.shape);
  const address = toAddress(choices, toSavedParameter(saved));
  if (parameters.length === 0) return address;
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString()}`;
}

/**
 * Gives the view of a followed link to the report's table, once. Returns the names of its parameters that cannot be read. The texts leave the
 * address: browsers keep addresses, and somebody may have searched for a name.
 */
export function useLinkedView(
  linked: ViewParameters | undefined,
  columns: readonly TableColumn[] | undefined,
  kept: { current: KeptView },
): readonly string[] {
  const read = useMemo(() => linked && readView(linked, columns ?? [], navigator.languages), [linked, columns]);
  const applied = useRef<ViewParameters>(undefined);
  useEffect(() => {
    if (!linked || !read || applied.current === linked) return;
    applied.current = linked;
    kept.current = read.view;
    history.replaceState(history.state, '', withoutView(location.hash));
  }, [linked, read, kept]);
  return read?.unread ?? [];
}

/** The address of a report without what it says about rows. */
export function withoutView(hash: string): string {
  if (readViewParameters(hash) === undefined) return hash;
  const [address = '', query = ''] = hash.split('?', 2);
  const others = [...new URLSearchParams(query)].filter(([name]) => !isViewParameter(name));
  return others.length === 0 ? address : `${address}?${new URLSearchParams(others).toString()}`;
}
