import type { GiftsOfAmountQuery, GiftsOfAmountQueryVariables } from '../../../generated/operations/graphql';
import giftsOfAmountQuery from '../queries/gifts-of-amount.graphql?raw';
import { askGateway } from '../session/gateway-client';
import type { EqualGifts } from '../values/equal-gifts';
import type { LoadedTable } from '../values/table-types';
import type { TableClient } from './table-client';

/** The largest gifts as they were asked for. */
interface LargestGifts {
  /** The most rows; 0 for all. */
  readonly limit: number;
  readonly columns: readonly { readonly id: string }[];
  readonly variables: object;
}

/** Counts the gifts that equal the last row and are not shown, in the state that the rows are of; undefined for none. */
export async function readEqualGifts(
  { limit, columns, variables: given }: LargestGifts,
  { id, count, version }: LoadedTable,
  { client, provision, signal }: { readonly client: TableClient; readonly provision: string; readonly signal: AbortSignal },
): Promise<EqualGifts | undefined> {
  if (limit === 0 || count < limit) return undefined;
  const place = columns.findIndex((column) => column.id === 'all.byTransaction.amount');
  const amounts = (await client.loadedRows(id, 0, count)).map((row) => String(row[place]));
  const amount = amounts.at(-1)!;
  const asked = given as Omit<GiftsOfAmountQueryVariables, 'asOf'> & Partial<GiftsOfAmountQueryVariables>;
  const filter = { ...asked.filter, amount: { min: amount, max: amount } };
  const variables: GiftsOfAmountQueryVariables = { ...asked, filter, asOf: asked.asOf ?? { version } };
  const { depositSummary } = await askGateway<GiftsOfAmountQuery>(provision, { query: giftsOfAmountQuery, variables }, signal);
  const gifts = (depositSummary?.all.transactions ?? 0) - amounts.filter((each) => each === amount).length;
  return gifts > 0 ? { gifts, amount } : undefined;
}
