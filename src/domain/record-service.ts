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
import { readPage, toBounds, toPage, toSharedBounds, type Page, type PageParameters, type PagedList } from './keyset-page';
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

/** The way from a record to those under it, or to the one that it names. */
export type Link = { readonly children: Children } | { readonly find: RecordKind; readonly by: 'depositId' | 'transactionId' | 'donorId' };

/** What will be asked of each record of a list: it is read for all of them as soon as the list is there. */
export type ReadAhead = readonly { readonly link: Link; readonly page: PageParameters; readonly then: ReadAhead }[];
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
 * The deposit data as records and the links between them. What is asked for at the same time is read by one statement for each kind of
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
  find<Kind extends RecordKind>(kind: Kind, id: RecordId, ahead: Ahead): Eventually<RecordOf<Kind> | null> {
    const record = this.finder(kind).get(id);
    return record instanceof Promise ? record.then((read) => this.goOn(read, read ? [read] : [], ahead)) : record;
  }

  /** What a record is linked to: a page of those under it, or the one that it names, null where it names none. */
  follow(link: Link, record: object, page: PageParameters, ahead: Ahead): Eventually<object | null> {
    const id = idOf(link, record);
    if (id === null) return null;
    return 'find' in link ? this.find(link.find, id, ahead) : this.children(link.children, id, page, ahead);
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
    return this.list(page, list, ahead, (bounds) => this.store.listDeposits(this.scope, filter, bounds));
  }

  async designations(page: PageParameters, ahead: Ahead): Promise<Page<DesignationRecord>> {
    const list = {
      order: recordOrders.designations,
      query: ['designations', this.scope.organizationId],
      count: () => this.store.countDesignations(this.scope),
    };
    return this.list(page, list, ahead, (bounds) => this.store.listDesignations(this.scope, bounds));
  }

  async donors(search: string | null | undefined, page: PageParameters, ahead: Ahead): Promise<Page<DonorRecord>> {
    const wanted = search === undefined || search === null ? undefined : toText('search', search);
    const list = {
      order: recordOrders.donors,
      query: ['donors', this.scope.organizationId, wanted],
      count: () => this.store.countDonors(this.scope, wanted),
      hasPlace: async ([id]: OrderKey) => (await this.store.find('donor', this.scope, [id!])).length > 0,
    };
    return this.list(page, list, ahead, (bounds) => this.store.listDonors(this.scope, wanted, bounds));
  }

  private async list<Row extends object>(
    page: PageParameters,
    list: PagedList,
    ahead: Ahead,
    read: (bounds: KeysetPage) => Promise<readonly Row[]>,
  ): Promise<Page<Row>> {
    const found = await readPage(page, list, read);
    return this.goOn(found, found.nodes, ahead);
  }

  private children(children: Children, parentId: RecordId, page: PageParameters, ahead: Ahead): Eventually<Page<Child>> {
    const list: PagedList = {
      order: childOrder(children),
      query: [children, this.scope.organizationId, parentId],
      count: async () => this.counts(children).get(parentId),
    };
    const bounds = toBounds(page, list);
    const rows = this.pages(children, bounds).get(parentId);
    if (!(rows instanceof Promise)) return toPage(rows, bounds, list);
    return rows.then((read) => this.goOn(toPage(read, bounds, list), read, ahead));
  }

  /** Gives what was read when that which will be asked of its records is there too. */
  private async goOn<Value>(value: Value, records: readonly object[], ahead: Ahead): Promise<Value> {
    await this.readAhead(records, ahead());
    return value;
  }

  private async readAhead(records: readonly object[], ahead: ReadAhead): Promise<void> {
    await Promise.all(
      ahead.map(async ({ link, page, then }) => {
        // Many records may name the same one.
        const ids = [...new Set(records.map((record) => idOf(link, record)).filter((id) => id !== null))];
        const loader = this.loaderOf(link, page);
        // What is wrong with a page, the field that asks for it says.
        if (loader && ids.length > 0) await this.readAhead(await loader.readAhead(ids), then);
      }),
    );
  }

  private loaderOf(link: Link, page: PageParameters): Loader<unknown> | undefined {
    if ('find' in link) return this.finder(link.find);
    const bounds = toSharedBounds(page);
    return bounds && this.pages(link.children, bounds);
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

  private pages(children: Children, bounds: KeysetPage): Loader<readonly Child[]> {
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
    const loader = new Loader(toSource());
    this.loaders.set(name, loader);
    return loader;
  }
}

/** Of the record that a link leads on from, or to; null where it leads to none. */
const idOf = (link: Link, record: object): RecordId | null =>
  (record as Readonly<Record<string, RecordId | null>>)['find' in link ? link.by : 'id'] ?? null;

type Child = RecordOf<ChildKind<Children>>;

/** At once what is known, a promise of what must be read. */
type Eventually<Value> = Value | Promise<Value>;

interface Source<Value> {
  /** The values of these ids, in their order. */
  read(ids: readonly RecordId[]): Promise<readonly Value[]>;
  /** The records that values hold. */
  recordsOf(values: readonly Value[]): readonly object[];
}

/** Values by id, each read once: those asked for at the same time by one statement, or ahead of being asked for. */
class Loader<Value> {
  private readonly known = new Map<RecordId, Value>();
  /** The readings that will bring what is not known yet. */
  private readonly readings = new Map<RecordId, Promise<void>>();
  private next: { readonly ids: RecordId[]; readonly reading: Promise<void> } | undefined;

  constructor(private readonly source: Source<Value>) {}

  get(id: RecordId): Eventually<Value> {
    const value = this.known.get(id);
    return value === undefined ? this.readingOf(id).then(() => this.known.get(id)!) : value;
  }

  /** From then on these are known. Resolves to the records that they hold. */
  async readAhead(ids: readonly RecordId[]): Promise<readonly object[]> {
    await Promise.all(new Set(ids.filter((id) => !this.known.has(id)).map((id) => this.readingOf(id))));
    return this.source.recordsOf(ids.map((id) => this.known.get(id)!));
  }

  private readingOf(id: RecordId): Promise<void> {
    const known = this.readings.get(id);
    if (known) return known;
    this.next ??= this.gather();
    this.next.ids.push(id);
    this.readings.set(id, this.next.reading);
    return this.next.reading;
  }

  private gather(): NonNullable<typeof this.next> {
    const ids: RecordId[] = [];
    // By then whatever goes on without waiting has asked for what it needs.
    const reading = new Promise(setImmediate).then(async () => {
      this.next = undefined;
      const values = await this.source.read(ids);
      for (const [index, id] of ids.entries()) this.known.set(id, values[index]!);
    });
    return { ids, reading };
  }
}
