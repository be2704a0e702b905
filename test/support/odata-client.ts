import { lineFields, v2Names } from '../../src/line/line-fields';
import { ask, readAll } from './http-client';

/** A row of a feed. Amounts and numbers are texts where the client has asked for those. */
export type FeedRow = Readonly<Record<string, string | number | boolean | null>>;

export interface FeedPage {
  readonly status: number;
  readonly headers: Headers;
  readonly rows: readonly FeedRow[];
  readonly count: number | undefined;
  readonly next: string | undefined;
}

/** The header of a client that was given a provision as the password. */
export const basic = (provision: string, user = 'anybody'): { readonly Authorization: string } => ({
  Authorization: `Basic ${Buffer.from(`${user}:${provision}`).toString('base64')}`,
});

/** Asks a path of the door, as a client that has no password but a provision. */
export async function askFeed(address: string, provision: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const response = await ask(address, { method, headers: { ...basic(provision), ...headers } });
  const { body } = await readAll(response);
  return { status: response.statusCode, headers: response.headers, body, text: body.toString() };
}

export const json = ({ text }: { readonly text: string }) => JSON.parse(text) as Readonly<Record<string, unknown>>;

const EXACT = 'application/json;odata.metadata=minimal;IEEE754Compatible=true';

/** Reads a page of a feed, with amounts as texts. */
export async function readPage(address: string, provision: string, pageRows?: number): Promise<FeedPage> {
  const headers = { ...basic(provision), Accept: EXACT, ...(pageRows !== undefined && { Prefer: `odata.maxpagesize=${pageRows}` }) };
  const response = await fetch(address, { headers });
  const body = (await response.json()) as Readonly<Record<string, unknown>>;
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return {
    status: response.status,
    headers: response.headers,
    rows: body.value as readonly FeedRow[],
    count: body['@odata.count'] === undefined ? undefined : Number(body['@odata.count']),
    next: body['@odata.nextLink'] as string | undefined,
  };
}

/** Reads all pages of a feed, and calls `between` before each page but the first. */
export async function readFeed(
  address: string,
  provision: string,
  { pageRows, between = () => Promise.resolve() }: { readonly pageRows?: number; readonly between?: () => Promise<unknown> } = {},
): Promise<readonly FeedPage[]> {
  const pages = [await readPage(address, provision, pageRows)];
  for (let next = pages[0]!.next; next !== undefined; next = pages.at(-1)!.next) {
    await between();
    pages.push(await readPage(next, provision, pageRows));
  }
  return pages;
}

/** The lines of v2 as JSON, each followed by LF, from the rows of a feed: the bytes that a file's digest is of. */
export const toDigestRows = (rows: readonly FeedRow[]): string =>
  rows
    .map((row) => {
      const line = v2Names.map((name) => {
        const { field, type } = lineFields[name];
        return [name, type === 'number' ? Number(row[field]) : row[field]] as const;
      });
      return `${JSON.stringify(Object.fromEntries(line))}\n`;
    })
    .join('');
