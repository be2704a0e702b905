import DataLoader from 'dataloader';
import {
  childOrder,
  recordOrders,
  type ChildKind,
  type Children,
  type DepositFilter,
  type KeyedRecord,
  type RecordId,
  type RecordKind,
  type RecordOf,
  type RecordScope,
  type RecordStore,
} from '../data/record-store';
import type { PendingChoice } from '../data/line-selection';
import type { LocalDate } from '../dates';
import { InputError } from '../errors';
import { readPage, type Page, type PageParameters } from './keyset-page';
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

/** A page of a list, and how long the list is. */
export interface RecordList<Row> {
  readonly page: Page<Row>;
  count(): Promise<number>;
}

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
 * it, however many records there are; a record is read once. Each statement sees the newest state.
 */
export class RecordGraph {
  private readonly loaders = new Map<string, DataLoader<RecordId, unknown>>();

  constructor(
    private readonly store: RecordStore,
    private readonly scope: RecordScope,
  ) {}

  /** Null where there is none. */
  find<Kind extends RecordKind>(kind: Kind, id: RecordId): Promise<RecordOf<Kind> | null> {
    const loader = this.loader<RecordOf<Kind> | null>(`find ${kind}`, async (ids) => {
      const found = new Map<RecordId, RecordOf<Kind>>();
      // No text of the database holds a NUL.
      const possible = ids.filter((each) => !String(each).includes('\0'));
      for (const record of await this.store.find(kind, this.scope, possible)) found.set(record.id, record);
      return ids.map((each) => found.get(each) ?? null);
    });
    return loader.load(id);
  }

  async deposits(parameters: DepositParameters, page: PageParameters): Promise<RecordList<KeyedRecord<'deposit'>>> {
    const [startDate, endDate] = [parameters.startDate ?? undefined, parameters.endDate ?? undefined];
    if (startDate !== undefined && endDate !== undefined && startDate > endDate) throw new InputError('startDate is later than endDate');
    const filter: DepositFilter = { startDate, endDate, pending: parameters.pending };
    const query = { order: recordOrders.deposits, query: ['deposits', this.scope.organizationId, filter] };
    return {
      page: await readPage(page, query, (bounds) => this.store.listDeposits(this.scope, filter, bounds)),
      count: () => this.store.countDeposits(this.scope, filter),
    };
  }

  async designations(page: PageParameters): Promise<RecordList<KeyedRecord<'designation'>>> {
    const query = { order: recordOrders.designations, query: ['designations', this.scope.organizationId] };
    return {
      page: await readPage(page, query, (bounds) => this.store.listDesignations(this.scope, bounds)),
      count: () => this.store.countDesignations(this.scope),
    };
  }

  async donors(search: string | null | undefined, page: PageParameters): Promise<RecordList<KeyedRecord<'donor'>>> {
    const wanted = search === undefined || search === null ? undefined : toText('search', search);
    const query = { order: recordOrders.donors, query: ['donors', this.scope.organizationId, wanted] };
    return {
      page: await readPage(page, query, (bounds) => this.store.listDonors(this.scope, wanted, bounds)),
      count: () => this.store.countDonors(this.scope, wanted),
    };
  }

  /** A page of the records under another one. */
  async children<Of extends Children>(
    children: Of,
    parentId: RecordId,
    page: PageParameters,
  ): Promise<RecordList<KeyedRecord<ChildKind<Of>>>> {
    const query = { order: childOrder(children), query: [children, this.scope.organizationId, parentId] };
    return {
      page: await readPage(page, query, (bounds) => {
        const pages = this.loader(`${children} ${JSON.stringify(bounds)}`, async (parentIds) => {
          const lists = await this.store.listChildren(children, this.scope, parentIds, bounds);
          return parentIds.map((id) => lists.get(id) ?? []);
        });
        return pages.load(parentId);
      }),
      count: () => {
        const counts = this.loader(`count ${children}`, async (parentIds) => {
          const found = await this.store.countChildren(children, this.scope, parentIds);
          return parentIds.map((id) => found.get(id) ?? 0);
        });
        return counts.load(parentId);
      },
    };
  }

  /** One loader for each thing that is read. */
  private loader<Value>(name: string, load: (ids: readonly RecordId[]) => Promise<Value[]>): DataLoader<RecordId, Value> {
    const known = this.loaders.get(name) ?? new DataLoader<RecordId, unknown>(load);
    this.loaders.set(name, known);
    return known as DataLoader<RecordId, Value>;
  }
}
