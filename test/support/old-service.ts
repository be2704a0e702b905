import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** A gift as the old service records it. */
export interface OldGift {
  deposit: string;
  depositDate: string;
  isPending: boolean;
  transaction: string;
  date: string;
  cents: number;
  donor: number;
  /** The name in the lines of this gift, where they contradict those of others. */
  donorName?: string;
  memo: string;
  readonly shares: { allocation: string; fund: number; memo: string }[];
}

/** The ways in which an old service fails to answer one request. */
export const faults = [
  ...(['404', '500', '503', '429', 'cut', 'cut after headers', 'no JSON', 'half JSON', 'page', 'login', 'maintenance', 'stopped'] as const),
] as const;
export type Fault = (typeof faults)[number];

/** Ways of sending a good answer. */
export const forms = ['chunks', 'length', 'gzip', 'deflated by gzip in small chunks', 'HTTP/1.0'] as const;
export type Form = (typeof forms)[number];

export const OLD_PROVISION = '9b2f4a1e-6f0c-4f5e-8d5a-0d6a3f6c2b11';
export const OLD_COOKIE = 'session=aVeryOldSession';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const SYSTEM = '/api/v2/authenticated_test_system';
const SESSION = '/api/v2/authenticated_test_session';

const toMoney = (cents: number): string =>
  `${cents < 0 ? '-' : ''}${String(Math.trunc(Math.abs(cents) / 100))}.${String(Math.abs(cents) % 100).padStart(2, '0')}`;

/** The old v2 service: a plain HTTP server over books of its own, which knows nothing of the gateway. */
export class OldService {
  readonly gifts: OldGift[] = [];
  /** The names of donors and funds, which may change. */
  readonly donors = new Map<number, string>();
  readonly funds = new Map<number, string>();
  /** The faults of the next requests, one for each; undefined for a good answer. */
  readonly plan: (Fault | undefined)[] = [];
  form: Form = 'chunks';
  /** Called before each answer to the report, which may change the books. */
  onRequest: (query: URLSearchParams) => void = () => undefined;
  /** The fault of a request; undefined for the next of the plan. */
  faultAt: (query: URLSearchParams) => Fault | undefined = () => undefined;
  /** True for a request that gets no answer. */
  hangsAt: (query: URLSearchParams) => boolean = () => false;
  /** The address that every request is sent on to. */
  redirect: string | undefined;
  needsCookie = false;
  /** True where lines come in the order of the gateway's; otherwise as the books have them. */
  isSorted = false;
  /** Changes the text of a good answer before it is sent. */
  edit: (body: string, query: URLSearchParams) => string = (body) => body;
  /** Changes the text of an error. */
  errorText: (text: string) => string = (text) => text;
  /** The status of an answer that says that it is packed, and is not. */
  breaksErrors: number | undefined;
  /** True where the body of an error is packed. */
  packsErrors = false;
  contentType = 'application/json; charset=utf-8';
  encoding: BufferEncoding = 'utf8';
  requests = 0;
  /** The most requests that were open at once. */
  most = 0;
  private open = 0;
  private close: (() => Promise<void>) | undefined;
  url = '';

  static async start(tls?: { readonly key: Buffer; readonly cert: Buffer }): Promise<OldService> {
    const service = new OldService();
    const listener: RequestListener = (request, response) => service.answer(request, response);
    const server = tls ? createTlsServer(tls, listener) : createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    service.url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    service.keepsConnections = () => (server.keepAliveTimeout = 0);
    service.close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return service;
  }

  /** Never ends a connection that is not used. */
  keepsConnections: () => void = () => undefined;

  stop(): Promise<void> {
    return this.close!();
  }

  /** The lines of a report, in the order of the old books. */
  lines(from: string, to: string, includePending: boolean): Record<string, string | number>[] {
    const chosen = this.gifts.filter((gift) => gift.depositDate >= from && gift.depositDate <= to && (includePending || !gift.isPending));
    if (this.isSorted) chosen.sort(byPlace);
    return chosen.flatMap((gift) => gift.shares.map((share) => this.toLine(gift, share)));
  }

  private toLine(gift: OldGift, { allocation, fund, memo }: OldGift['shares'][number]): Record<string, string | number> {
    const name = gift.donorName ?? this.donors.get(gift.donor) ?? '';
    const isKnown = gift.donor !== 0;
    return {
      deposit_id: gift.deposit,
      transaction_date: gift.date,
      deposit_date: gift.depositDate,
      transaction_id: gift.transaction,
      allocation_id: allocation,
      donor_id: gift.donor,
      donor_first_name: isKnown ? 'Ada' : '',
      donor_last_name: isKnown ? name : '',
      address1: isKnown ? `${gift.donor} Main St` : '',
      address2: '',
      address3: '',
      city: isKnown ? 'Zürich' : '',
      state: '',
      zip: '',
      phone: '',
      email_address: '',
      amount: toMoney(gift.cents),
      fee_amount: '0.00',
      net_amount: toMoney(gift.cents),
      status: 'Complete',
      account_type: '',
      payment_type: 'Check',
      designation_id: fund,
      designation: this.funds.get(fund) ?? `Fund ${fund}`,
      designation_memo: memo,
      main_memo: gift.memo,
    };
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests++;
    this.most = Math.max(this.most, ++this.open);
    response.on('close', () => this.open--);
    if (this.breaksErrors !== undefined) return void response.writeHead(this.breaksErrors, { 'content-encoding': 'gzip' }).end('none');
    if (this.redirect !== undefined) return void response.writeHead(302, { location: this.redirect }).end();
    const { pathname, searchParams } = new URL(request.url!, this.url);
    const { provision, cookie } = request.headers;
    if (provision === undefined) return this.refuse(response, 422, 'Provision header missing');
    if (provision !== OLD_PROVISION) return this.refuse(response, 422, 'Invalid provision');
    if (pathname === '/login') return sendPage(response);
    const needsCookie = pathname === SESSION || (this.needsCookie && pathname !== SYSTEM);
    if (needsCookie && cookie !== OLD_COOKIE) return this.refuse(response, 422, 'Not logged in');
    if ([SYSTEM, SESSION].includes(pathname)) {
      const message = `${pathname === SYSTEM ? 'System' : 'Session'} request authenticated`;
      return this.send(response, this.edit(JSON.stringify({ data: { message, provision } }), searchParams));
    }
    if (pathname !== REPORT) return this.refuse(response, 404, 'Not found');
    const fault = this.hangsAt(searchParams) ? 'hangs' : (this.faultAt(searchParams) ?? this.plan.shift());
    if (fault === 'hangs') return;
    if (fault !== undefined) return this.fail(fault, response);
    const parameterFault = findParameterFault(searchParams);
    if (parameterFault !== undefined) return this.refuse(response, 422, parameterFault);
    this.onRequest(searchParams);
    const [from, to] = [searchParams.get('start_date')!, searchParams.get('end_date')!];
    const lines = this.lines(from, to, searchParams.get('include_pending') === 'true');
    this.send(response, this.edit(JSON.stringify({ response: lines }), searchParams));
  }

  private send(response: ServerResponse, body: string): void {
    const bytes = Buffer.from(body, this.encoding);
    response.setHeader('content-type', this.contentType);
    if (this.form === 'length') response.setHeader('content-length', bytes.length).end(bytes);
    else if (this.form === 'gzip') response.setHeader('content-encoding', 'gzip').end(gzipSync(bytes));
    else if (this.form === 'HTTP/1.0')
      response.socket!.end(Buffer.concat([Buffer.from('HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n'), bytes]));
    else if (this.form === 'chunks') response.end(bytes);
    else {
      response.setHeader('content-encoding', 'gzip');
      const packed = gzipSync(bytes);
      for (let at = 0; at < packed.length; at += 7) response.write(packed.subarray(at, at + 7));
      response.end();
    }
  }

  private refuse(response: ServerResponse, status: number, text: string): void {
    if (this.packsErrors) response.setHeader('content-encoding', 'gzip');
    sendError(response, status, this.errorText(text), this.packsErrors ? gzipSync : undefined);
  }

  private fail(fault: Fault, response: ServerResponse): void {
    const part = '{"response":[{"deposit_id":"half a li';
    if (fault === '404') sendError(response, 404, 'Data source query failed');
    else if (fault === '500') sendError(response, 500, 'No connection to data source');
    else if (fault === '503') response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Busy</h1>');
    else if (fault === '429') response.writeHead(429, { 'retry-after': '1' }).end();
    else if (fault === 'maintenance') this.refuse(response, 422, 'Under maintenance');
    else if (fault === 'page') sendPage(response);
    else if (fault === 'login') response.writeHead(302, { location: '/login' }).end();
    else if (fault === 'no JSON') response.writeHead(200, { 'content-type': 'application/json' }).end('oops');
    else if (fault === 'half JSON') response.writeHead(200, { 'content-type': 'application/json' }).end(part);
    else if (fault === 'stopped') response.destroy();
    else {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 10_000 });
      if (fault === 'cut') response.write(part);
      response.flushHeaders();
      setImmediate(() => response.socket?.destroy());
    }
  }
}

/** The text of the error of wrong parameters (contract section 4.3). */
function findParameterFault(query: URLSearchParams): string | undefined {
  const [from, to, pending] = ['start_date', 'end_date', 'include_pending'].map((name) => query.get(name));
  const isDate = (text: string | null | undefined): boolean =>
    /^\d{4}-\d{2}-\d{2}$/.test(text ?? '') &&
    !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) &&
    new Date(`${text}T00:00:00Z`).toISOString().startsWith(text!);
  if (!isDate(from) || !isDate(to) || ![null, 'true', 'false'].includes(pending!)) return 'Invalid parameter(s)';
  return from! > to! ? 'Start date cannot be greater than the end date.' : undefined;
}

function sendError(
  response: ServerResponse,
  status: number,
  error: string,
  pack: (body: string) => string | Buffer = (body) => body,
): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(pack(JSON.stringify({ errors: [{ error, status }] })));
}

const sendPage = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Log in</title><form></form>');

const byPlace = (one: OldGift, other: OldGift): number => {
  const [first, second] = [one, other].map(({ depositDate, deposit, transaction }) => `${depositDate}\0${deposit}\0${transaction}`);
  return first! < second! ? -1 : 1;
};

const now = new Date();
/** The date so many days from now. */
export const day = (days: number): string => new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10);

let number = 0;
/** A gift with ids of its own, of three days ago. */
export const gift = (fields: Partial<OldGift> = {}): OldGift => {
  const n = ++number;
  return {
    ...{
      deposit: `D${n}`,
      depositDate: day(-3),
      isPending: false,
      transaction: `T${n}`,
      date: day(-5),
      cents: 1000 + n,
      donor: 1 + (n % 5),
      memo: '',
    },
    shares: [{ allocation: `A${n}`, fund: 1 + (n % 3), memo: '' }],
    ...fields,
  };
};

/** Lines as texts that can be compared, whatever their order is. */
export const inOrder = (lines: readonly object[]): string[] => lines.map((line) => JSON.stringify(line)).sort();

/** All lines of the old service, with and without those of pending deposits. */
export const sourceOf = (service: OldService): { with: string[]; without: string[] } => ({
  with: inOrder(service.lines('0001-01-01', '9999-12-31', true)),
  without: inOrder(service.lines('0001-01-01', '9999-12-31', false)),
});

/** The ways in which an old service's books change. */
export const edits = ['amount', 'memo', 'date', 'status', 'void', 'rekey', 'new', 'split', 'donor', 'fund', 'name'] as const;

/** Changes the books of an old service in one way. The number chooses the gift and the values. */
export function change({ gifts, donors, funds }: OldService, which: number, edit: (typeof edits)[number]): void {
  const one = gifts[which % Math.max(1, gifts.length)];
  if (edit === 'new' || !one) gifts.push(gift({ depositDate: day(-(which % 40)), isPending: which % 3 === 0 }));
  else if (edit === 'amount') one.cents = which % 100_000;
  else if (edit === 'memo') one.memo = `memo ${which} "é\\`;
  else if (edit === 'date')
    for (const each of gifts.filter(({ deposit }) => deposit === one.deposit)) each.depositDate = day(20 - (which % 60));
  else if (edit === 'status') for (const each of gifts.filter(({ deposit }) => deposit === one.deposit)) each.isPending = which % 2 === 0;
  else if (edit === 'void') gifts.splice(gifts.indexOf(one), 1);
  else if (edit === 'rekey') one.transaction = `R${which}-${number++}`;
  else if (edit === 'split') one.shares.push({ allocation: `X${number++}`, fund: which % 4, memo: '' });
  else if (edit === 'donor') one.donor = which % 6;
  else if (edit === 'name') donors.set(one.donor, `Name ${which}`);
  else funds.set(one.shares[0]!.fund, `Fund ${which}`);
}
