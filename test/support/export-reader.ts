import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ask, readAll } from './http-client';
import type { OpenGateway } from './open-gateway';
import { until } from './until';

/** The year of `depositBook`, as the file doors take it. */
export const RANGE = 'start_date=2024-01-01&end_date=2024-12-31&include_pending=true';

type Headers = Readonly<Record<string, string>>;

interface Download {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: NodeJS.Dict<string>;
  readonly body: Buffer;
}

export interface Receipt {
  readonly outcome: string | null;
  readonly lines: number | null;
  readonly bytes: number | null;
  readonly digest: string | null;
  readonly fileSha256: string | null;
  readonly username: string | null;
  readonly provision: string | null;
  readonly conditions: string[];
}

/** A reader of the file doors. It sends the API provision of the gateway's organization unless a test's headers name another. */
export interface ExportReader {
  readonly get: (path: string, headers?: Headers, method?: string) => Promise<Download>;
  /** Takes a file of the year; `query` begins with an ampersand. */
  readonly download: (file: string, query?: string, headers?: Headers) => Promise<Download>;
  /** Waits for the export to be accounted for, which is a moment after its last byte. */
  readonly receiptOf: (id: string | undefined, headers?: Headers) => Promise<Receipt>;
}

export const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

export function createExportReader(gateway: OpenGateway): ExportReader {
  async function get(path: string, headers: Headers = {}, method = 'GET'): Promise<Download> {
    const response = await ask(gateway.url + path, { method, headers: { Provision: gateway.organization.apiProvision, ...headers } });
    const { body, complete } = await readAll(response);
    expect(complete).toBe(true);
    return { status: response.statusCode!, headers: response.headers, trailers: response.trailers, body };
  }
  return {
    get,
    download: (file, query = '', headers) => get(`/export/${file}?${RANGE}${query}`, headers),
    receiptOf: async (id, headers) => {
      let receipt: Receipt | undefined;
      await until(async () => {
        receipt = JSON.parse((await get(`/export/receipts/${id}`, headers)).body.toString()) as Receipt;
        return receipt.outcome !== null;
      });
      return receipt!;
    },
  };
}
