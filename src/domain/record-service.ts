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

  /** The records as one request reads them. */
  open(): RequestRecords {
    return new RequestRecords(this.store);
  }
}

/**
 * The deposit data of one request as records and the edges between them. What is asked for at the same time is read by one statement
 * for each kind of it, however many records there are; a record is read once.
 */
export class RequestRecords {
  private readonly loaders = new Map<string, DataLoader<RecordId, unknown>>();

  constructor(private readonly store: RecordStore) {}

  /** Null where there is none. */
  async find<Kind extends RecordKind>(kind: Kind, scope: RecordScope, id: RecordId): Promise<RecordOf<Kind> | null> {
    const loader = this.loader<RecordOf<Kind> | null>(`find ${kind}`, async (ids) => {
      const found = new Map<RecordId, RecordOf<Kind>>();
      for (const record of await this.store.find(kind, scope, ids)) found.set(record.id, record);
      return ids.map((each) => found.get(each) ?? null);
    });
    return typeof id === 'string' && id.includes('\0') ? null : loader.load(id);
  }

  async deposits(scope: RecordScope, parameters: DepositParameters, page: PageParameters): Promise<RecordList<KeyedRecord<'deposit'>>> {
    const [startDate, endDate] = [parameters.startDate ?? undefined, parameters.endDate ?? undefined];
    if (startDate !== undefined && endDate !== undefined && startDate > endDate) throw new InputError('startDate is later than endDate');
    const filter: DepositFilter = { startDate, endDate, pending: parameters.pending };
    const query = { columns: recordOrders.deposits, query: ['deposits', scope.organizationId, filter] };
    return {
      page: await readPage(page, query, (bounds) => this.store.listDeposits(scope, filter, bounds)),
      count: () => this.store.countDeposits(scope, filter),
    };
  }

  async designations(scope: RecordScope, page: PageParameters): Promise<RecordList<KeyedRecord<'designation'>>> {
    const query = { columns: recordOrders.designations, query: ['designations', scope.organizationId] };
    return {
      page: await readPage(page, query, (bounds) => this.store.listDesignations(scope, bounds)),
      count: () => this.store.countDesignations(scope),
    };
  }

  async donors(scope: RecordScope, search: string | null | undefined, page: PageParameters): Promise<RecordList<KeyedRecord<'donor'>>> {
    const wanted = search === undefined || search === null ? undefined : toText('search', search);
    const query = { columns: recordOrders.donors, query: ['donors', scope.organizationId, wanted] };
    return {
      page: await readPage(page, query, (bounds) => this.store.listDonors(scope, wanted, bounds)),
      count: () => this.store.countDonors(scope, wanted),
    };
  }

  /** A page of the records under another one. */
  async children<Of extends Children>(
    children: Of,
    scope: RecordScope,
    parentId: RecordId,
    page: PageParameters,
  ): Promise<RecordList<KeyedRecord<ChildKind<Of>>>> {
    const query = { columns: childOrder(children), query: [children, scope.organizationId, parentId] };
    return {
      page: await readPage(page, query, (bounds) => {
        const pages = this.loader(`${children} ${JSON.stringify(bounds)}`, async (parentIds) => {
          const lists = await this.store.listChildren(children, scope, parentIds, bounds);
          return parentIds.map((id) => lists.get(id) ?? []);
        });
        return pages.load(parentId);
      }),
      count: () => {
        const counts = this.loader(`count ${children}`, async (parentIds) => {
          const found = await this.store.countChildren(children, scope, parentIds);
          return parentIds.map((id) => found.get(id) ?? 0);
        });
        return counts.load(parentId);
      },
    };
  }

  /** One loader for each thing that is read; a request has one scope. */
  private loader<Value>(name: string, load: (ids: readonly RecordId[]) => Promise<Value[]>): DataLoader<RecordId, Value> {
    const known = this.loaders.get(name) ?? new DataLoader<RecordId, unknown>(load);
    this.loaders.set(name, known);
    return known as DataLoader<RecordId, Value>;
  }
}
