import { Agent, request, type IncomingMessage } from 'node:http';
import { v2Line, type TestOrganization } from '../support/gateway';

/** The file of all lines, with which a copy of the books begins. */
export const BASELINE = '/export/deposit-details.ndjson?start_date=0001-01-01&end_date=9999-12-31&pending=WITH&columns=all';
export const changesSince = (place: string, waitSeconds: number): string =>
  `/export/deposit-changes.ndjson?since=${place}&wait=${waitSeconds}`;

/** An answer that was read to its end. */
export interface FileAnswer {
  readonly status: number;
  readonly retryAfterMs: number;
  readonly place: string | undefined;
  readonly rows: readonly string[];
}

export interface FileReader {
  /** Resolves to undefined for an answer that was cut, by the reader itself or by the gateway. */
  get(path: string, isCut?: boolean): Promise<FileAnswer | undefined>;
  close(): void;
}

/** A reader over a bounded number of connections. */
export function createFileReader(url: string, { apiProvision }: TestOrganization, connections: number): FileReader {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const get: FileReader['get'] = (path, isCut = false) =>
    new Promise((resolve) => {
      const asked = request(url + path, { agent, headers: { Provision: apiProvision } }, (response: IncomingMessage) => {
        const pieces: Buffer[] = [];
        if (isCut) response.destroy();
        response
          .on('data', (piece: Buffer) => pieces.push(piece))
          .on('error', () => resolve(undefined))
          .on('close', () => {
            if (!response.complete) return resolve(undefined);
            const { headers } = response;
            resolve({
              status: response.statusCode!,
              retryAfterMs: 1000 * Number(headers['retry-after'] ?? 1),
              place: headers['x-export-place'] as string | undefined,
              rows: Buffer.concat(pieces).toString().split('\n').slice(0, -1),
            });
          });
      });
      asked.on('error', () => resolve(undefined)).end();
    });
  return { get, close: () => agent.destroy() };
}

export const pick = (count: number): number => Math.floor(Math.random() * count);
export const monthOf = (number: number): string => String(1 + (number % 12)).padStart(2, '0');

/** A gift with other money, another donor or another fund each time. Gifts of one month lie in one deposit. */
export const anyGift = (number: number): Record<string, unknown> => {
  const amount = `${1 + pick(500)}.00`;
  return v2Line({
    ...{ deposit_id: `D${number % 12}`, transaction_id: `T${number}`, allocation_id: `A${number}` },
    ...{ deposit_date: `2024-${monthOf(number)}-10`, donor_id: 1 + (number % 7), city: ['Bern', 'Lyon', 'Rome'][(number % 7) % 3] },
    ...{ amount, fee_amount: '0.00', net_amount: amount, designation_id: 1 + pick(3), designation: 'Fund' },
  });
};
