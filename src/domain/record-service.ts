import DataLoader from 'dataloader';
import {
  childOrder,
  recordOrders,
  type ChildKind,
  type Children,
  type DepositFilter,
  type DepositRecord,
  type DesignationRecord,
  type DonorRecord,
  type RecordId,
  type RecordKind,
  type RecordOf,
  type RecordScope,
  type RecordStore,
} from '../data/record-store';
import type { KeysetPage, OrderKey } from '../data/keyset';
import type { PendingChoice } from '../data/line-selection';
import type { LocalDate } from '../dates';
import { InputError } from '../errors';
import { readPage, toBounds, toPage, type Page, type PageParameters, type PagedList } from './keyset-page';
import { toText } from './line-filter';

export type {
  AllocationRecord,
  Children,
  DepositRecord,
  DesignationRecord,
  DonorRecord,
  RecordScope,
  TransactionRecord,
} from '../data/record-store';

/** From a record to those under it, or to the one that it names. */
export type Edge = { readonly children: Children } | { readonly find: RecordKind; readonly by: 'depositId' | 'transactionId' | 'donorId' };

/** What will be asked of each record of a list: it is read for all of them as soon as the list is there. */
export type ReadAhead = readonly { readonly edge: Edge; readonly page: PageParameters; readonly then: ReadAhead }[];
/** Worked out where something is read. */
type Ahead = () => ReadAhead;

export interface DepositParameters {
  readonly startDate?: LocalDate | null | undefined;
  readonly endDate?: LocalDate | null | undefined;
  readonly pending: PendingChoice;
}

export class RecordService {
  constructor(private readonly store: RecordStore) {}

  /** The records as one request reads them, whoever it will turn out to be. */
  open(): RequestRecords {
    return new RequestRecords(this.store);
  }
}

/** The records of a request: nothing is read before its access was checked. */
export class RequestRecords {
  private opened: RecordGraph | undefined;

  constructor(private readonly store: RecordStore) {}

  /** For whom a checked request reads; the same for all of it. */
  enter(scope: RecordScope): RecordGraph {
    return (this.opened ??= new RecordGraph(this.store, scope));
  }

  /** For the edges of records that the request has been given. */
  get graph(): RecordGraph {
    if (!this.opened) throw new Error('A record was read before the access was checked');
    return this.opened;
  }
}

/**
 * The deposit data as records and the edges between them. What is asked for at the same time is read by one statement for each kind of
 * it, however many records there are; a record is read once. What was read ahead is given at once, without a promise: thousands of them
 * would take longer than the statements. Each statement sees the newest state.
 */
export class RecordGraph {
  private readonly loaders = new Map<string, Loader<unknown>>();

  constructor(
    private readonly store: RecordStore,
    private readonly scope: RecordScope,
  ) {}

  /** Null where there is none. */
  find<Kind extends RecordKind>(kind: Kind, id: RecordId, ahead: Ahead): RecordOf<Kind> | null | Promise<RecordOf<Kind> | null> {
    return this.finder(kind).get(id, ahead);
  }

  async deposits(parameters: DepositParameters, page: PageParameters, ahead: Ahead): Promise<Page<DepositRecord>> {
    const [startDate, endDate] = [parameters.startDate ?? undefined, parameters.endDate ?? undefined];
    if (startDate !== undefined && endDate !== undefined && startDate > endDate) throw new InputError('startDate is later than endDate');
    const filter: DepositFilter = { startDate, endDate, pending: parameters.pending };
    const list = {
      order: recordOrders.deposits,
      query: ['deposits', this.scope.organizationId, filter],
      count: () => this.store.countDeposits(this.scope, filter),
    };
    const found = await readPage(page, list, (bounds) => this.store.listDeposits(this.scope, filter, bounds));
    await this.readAhead(found.nodes, ahead());
    return found;
  }

  async designations(page: PageParameters, ahead: Ahead): Promise<Page<DesignationRecord>> {
    const list = {
      order: recordOrders.designations,
      query: ['designations', this.scope.organizationId],
      count: () => this.store.countDesignations(this.scope),
    };
    const found = await readPage(page, list, (bounds) => this.store.listDesignations(this.scope, bounds));
    await this.readAhead(found.nodes, ahead());
    return found;
  }

  async donors(search: string | null | undefined, page: PageParameters, ahead: Ahead): Promise<Page<DonorRecord>> {
    const wanted = search === undefined || search === null ? undefined : toText('search', search);
    const list = {
      order: recordOrders.donors,
      query: ['donors', this.scope.organizationId, wanted],
      count: () => this.store.countDonors(this.scope, wanted),
      hasPlace: async ([id]: OrderKey) => (await this.store.find('donor', this.scope, [id!])).length > 0,
    };
    const found = await readPage(page, list, (bounds) => this.store.listDonors(this.scope, wanted, bounds));
    await this.readAhead(found.nodes, ahead());
    return found;
  }

  /** A page of the records under another one. */
  children<Of extends Children>(
    children: Of,
    parentId: RecordId,
    page: PageParameters,
    ahead: Ahead,
  ): Page<RecordOf<ChildKind<Of>>> | Promise<Page<RecordOf<ChildKind<Of>>>> {
    const list: PagedList = {
      order: childOrder(children),
      query: [children, this.scope.organizationId, parentId],
      count: async () => this.counts(children).get(parentId, NOTHING),
    };
    const bounds = toBounds(page, list);
    const rows = this.pages(children, bounds).get(parentId, ahead);
    return rows instanceof Promise ? rows.then((read) => toPage(read, bounds, list)) : toPage(rows, bounds, list);
  }

  private async readAhead(records: readonly object[], ahead: ReadAhead): Promise<void> {
    // What cannot be read ahead is read where it is asked for, or says there what is wrong with it.
    await Promise.all(ahead.map((each) => this.readEdge(records, each).catch(() => undefined)));
  }

  private async readEdge(records: readonly object[], { edge, page, then }: ReadAhead[number]): Promise<void> {
    const field = 'find' in edge ? edge.by : 'id';
    const ids = records.flatMap((record) => (record as Readonly<Record<string, RecordId | null>>)[field] ?? []);
    await this.aheadOf(edge, page).readAhead(ids, then);
  }

  private aheadOf(edge: Edge, page: PageParameters): Loader<unknown> {
    if ('find' in edge) return this.finder(edge.find);
    // A cursor is of one parent's list, so that no page of several begins at one.
    const anyParents = { order: childOrder(edge.children), query: [], count: () => Promise.resolve(0) };
    return this.pages(edge.children, toBounds(page, anyParents));
  }

  private finder<Kind extends RecordKind>(kind: Kind): Loader<RecordOf<Kind> | null> {
    return this.loader(`find ${kind}`, () => ({
      read: async (ids) => {
        const found = new Map<RecordId, RecordOf<Kind>>();
        // No text of the database holds a NUL.
        const possible = ids.filter((each) => !String(each).includes('\0'));
        for (const record of await this.store.find(kind, this.scope, possible)) found.set(record.id, record);
        return ids.map((each) => found.get(each) ?? null);
      },
      recordsOf: (found) => found.filter((record) => record !== null),
    }));
  }

  private pages<Of extends Children>(children: Of, bounds: KeysetPage): Loader<readonly RecordOf<ChildKind<Of>>[]> {
    return this.loader(`${children} ${JSON.stringify(bounds)}`, () => ({
      read: async (parentIds) => {
        const lists = await this.store.listChildren(children, this.scope, parentIds, bounds);
        return parentIds.map((id) => lists.get(id) ?? []);
      },
      recordsOf: (lists) => lists.flat(),
    }));
  }

  private counts(children: Children): Loader<number> {
    return this.loader(`count ${children}`, () => ({
      read: async (parentIds) => {
        const found = await this.store.countChildren(children, this.scope, parentIds);
        return parentIds.map((id) => found.get(id) ?? 0);
      },
      recordsOf: () => [],
    }));
  }

  /** One loader for each thing that is read. */
  private loader<Value>(name: string, toSource: () => Source<Value>): Loader<Value> {
    const known = this.loaders.get(name);
    if (known) return known as Loader<Value>;
    const loader = new Loader(toSource(), (records, ahead) => this.readAhead(records, ahead));
    this.loaders.set(name, loader);
    return loader;
  }
}

interface Source<Value> {
  /** The values of these ids, in their order. */
  read(ids: readonly RecordId[]): Promise<readonly Value[]>;
  /** The records that values hold. */
  recordsOf(values: readonly Value[]): readonly object[];
}

/** Values by id, each read once: those asked for at the same time by one statement, or ahead of being asked for. */
class Loader<Value> {
  private readonly known = new Map<RecordId, Value>();
  private readonly batches: DataLoader<RecordId, Value>;
  private ahead: ReadAhead | undefined;

  constructor(
    private readonly source: Source<Value>,
    private readonly goOn: (records: readonly object[], ahead: ReadAhead) => Promise<void>,
  ) {
    this.batches = new DataLoader(async (ids) => {
      await this.readAhead(ids, this.ahead ?? []);
      return ids.map((id) => this.known.get(id)!);
    });
  }

  get(id: RecordId, ahead: Ahead): Value | Promise<Value> {
    const value = this.known.get(id);
    if (value !== undefined) return value;
    this.ahead ??= ahead();
    return this.batches.load(id);
  }

  async readAhead(ids: readonly RecordId[], ahead: ReadAhead): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.known.has(id));
    const values = missing.length > 0 ? await this.source.read(missing) : [];
    for (const [index, id] of missing.entries()) this.known.set(id, values[index]!);
    await this.goOn(this.source.recordsOf(ids.map((id) => this.known.get(id)!)), ahead);
  }
}

const NOTHING: Ahead = () => [];
