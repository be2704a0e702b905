import type { RequestBooks } from '../../data/books/request-books';
import { DepositSummaryStore } from '../../data/reports/deposit-summary-store';
import { toKeyOrder, type EntityScope } from '../../data/reports/entity-set';
import { EntityStore, type EntityList, type EntityOf } from '../../data/reports/entity-store';
import type { KeyOrder, KeysetPage } from '../../data/postgres/keyset';
import {
  entityEdges,
  entityIds,
  type EdgeName,
  type EdgeTarget,
  type EntityId,
  type FigureName,
  type ManyEdgeName,
} from '../../formats/entity-edges';
import type { EntityKind } from '../../line/line-fields';
import { EntityFigures, type FigureParameters, type FiguresOf } from './entity-figures';
import { findFilterFault, toEntityFilter, toEntityOrder, type EntityParameters } from './entity-filter';
import {
  digestQuery,
  readPage,
  toBounds,
  toPage,
  toSharedBounds,
  type Page,
  type PageParameters,
  type PagedList,
} from '../paging/keyset-page';
import { Loader, type Eventually, type Source } from '../paging/loader';
import type { SealedPlaces } from '../paging/sealed-places';

/** An edge that a query follows from each entity of a list. */
interface EdgeAhead {
  readonly edge: EdgeName;
  readonly page: ListParameters;
  /** True when the lengths of the lists are asked for too. */
  readonly isCounted: boolean;
  readonly ahead: ReadAhead;
}

/** Figures that a query asks for of each entity of a list. */
interface FiguresAhead {
  readonly figures: FigureName;
  readonly parameters: FigureParameters;
}

/** The edges and figures of a query. They are read for all entities of a list together as soon as the list is there. */
export type ReadAhead = readonly (EdgeAhead | FiguresAhead)[];
/** Returns the edges and figures to read ahead. It is called only when entities have been read. */
type Ahead = () => ReadAhead;

/** The arguments of a list: its conditions, its order and its page. */
export type ListParameters = EntityParameters & PageParameters;

/** The entities of one request, whose access is not checked yet. None can be read before its access was checked. */
export class RequestEntities {
  private opened: EntityGraph | undefined;
  private readonly store: EntityStore;
  private readonly summaries = new DepositSummaryStore();

  constructor(
    private readonly books: RequestBooks,
    private readonly sealed: SealedPlaces,
  ) {
    this.store = new EntityStore(books);
  }

  /**
   * Opens the graph for a caller whose access was checked. `openDonorData` is asked for each condition on donors. All calls in a request
   * return the same graph.
   */
  enter(scope: EntityScope, openDonorData = () => scope.mayReadDonors): EntityGraph {
    const figures = new EntityFigures(this.store, this.summaries, this.books, scope);
    return (this.opened ??= new EntityGraph({ store: this.store, figures, sealed: this.sealed }, scope, openDonorData));
  }

  /** The graph that `enter` opened, for edges of entities that the request already has. */
  get graph(): EntityGraph {
    if (!this.opened) throw new Error('An entity was read before the access was checked');
    return this.opened;
  }
}

/**
 * The entities of the books and the edges between them. One statement reads all entities of one kind that are asked for at the same time,
 * and each entity is read once. An entity that was read ahead is returned without a promise, because thousands of promises would take
 * longer than the statements.
 */
export class EntityGraph {
  private readonly loaders = new Map<string, Loader<unknown>>();
  /** The lists that were asked for, by the edge and the parameters, which are the same for each entity of a list. */
  private readonly known = new Map<string, Targets>();

  constructor(
    private readonly parts: { readonly store: EntityStore; readonly figures: EntityFigures; readonly sealed: SealedPlaces },
    private readonly scope: EntityScope,
    private readonly openDonorData: () => boolean,
  ) {}

  /** The entity, or null when there is none. */
  find<Kind extends EntityKind>(kind: Kind, id: EntityId, ahead: Ahead): Eventually<EntityOf<Kind> | null> {
    const entity = this.finder(kind).get(id);
    return entity instanceof Promise ? entity.then((read) => this.goOn(read, read ? [read] : [], ahead)) : entity;
  }

  /** The target of an edge: a page of entities, or one entity, or null when there is none. Throws as `toEntityFilter` and `toBounds`. */
  follow(edge: EdgeName, origin: object, parameters: ListParameters, ahead: Ahead): Eventually<object | null> {
    const id = idOf(edge, origin);
    if (id === null) return null;
    const target = entityEdges[edge];
    return 'one' in target ? this.find(target.one, id, ahead) : this.page(edge as ManyEdgeName, id, parameters, ahead);
  }

  /** Figures of an entity. Throws START_DATE_AFTER_END_DATE. */
  figuresOf<Name extends FigureName>(name: Name, entity: object, parameters: FigureParameters): Eventually<FiguresOf<Name>> {
    return this.parts.figures.get(name, entity, parameters);
  }

  /** A page of all entities of a kind that meet the conditions. Throws as `toEntityFilter` and `readPage`. */
  async list<Kind extends EntityKind>(kind: Kind, parameters: ListParameters, ahead: Ahead): Promise<Page<EntityOf<Kind>>> {
    const entities = this.toList(kind, parameters);
    const list: PagedList = {
      order: toKeyOrder(kind, entities.order),
      query: [kind, this.scope.organizationId, entities],
      count: () => this.parts.store.count(kind, this.scope, entities),
      sealed: this.parts.sealed,
    };
    const found = await readPage(parameters, list, (bounds) => this.parts.store.list(kind, this.scope, entities, bounds));
    return this.goOn(found, found.nodes, ahead);
  }

  private page(edge: ManyEdgeName, originId: EntityId, parameters: ListParameters, ahead: Ahead): Eventually<Page<Target>> {
    const { entities, digest, order, shared } = this.targets(edge, parameters);
    const list: PagedList = {
      order,
      query: [edge, this.scope.organizationId, originId, digest],
      count: () => this.counts(edge, entities).get(originId),
    };
    const bounds = shared?.bounds ?? toBounds(parameters, list);
    const rows = (shared?.loader ?? this.pages(edge, entities, bounds)).get(originId);
    if (!(rows instanceof Promise)) return toPage(rows, bounds, list);
    return rows.then((read) => this.goOn(toPage(read, bounds, list), read, ahead));
  }

  private toList(kind: EntityKind, parameters: EntityParameters): EntityList {
    return { filter: toEntityFilter(parameters, this.openDonorData), order: toEntityOrder(kind, parameters) };
  }

  /** The lists that these parameters ask for of every entity. Throws as `toEntityFilter`. */
  private targets(edge: ManyEdgeName, parameters: ListParameters): Targets {
    const key = `${edge} ${JSON.stringify(parameters)}`;
    const known = this.known.get(key);
    if (known) return known;
    const kind = entityEdges[edge].many;
    const order = toEntityOrder(kind, parameters, edge === 'Deposit.transactions');
    const entities = { filter: toEntityFilter(parameters, this.openDonorData), order };
    const bounds = toSharedBounds(parameters);
    const targets = {
      entities,
      digest: digestQuery(entities),
      order: toKeyOrder(kind, order),
      shared: bounds && { bounds, loader: this.pages(edge, entities, bounds) },
    };
    this.known.set(key, targets);
    return targets;
  }

  /** Resolves to a value when the edges that the query follows from its entities have been read too. */
  private async goOn<Value>(value: Value, entities: readonly object[], ahead: Ahead): Promise<Value> {
    // The field that asks for a value throws the fault that it could not be read ahead. The list stays.
    await this.readAhead(entities, ahead()).catch(() => undefined);
    return value;
  }

  /** Reads the edges that a query follows from entities, or from lines, that are there already. */
  async readAhead(entities: readonly object[], readAhead: ReadAhead): Promise<void> {
    await Promise.all(
      readAhead.map(async (next) => {
        if ('figures' in next) return this.parts.figures.readAhead(next.figures, entities, next.parameters);
        const { edge, page, isCounted, ahead } = next;
        // Many entities may lead to the same target.
        const ids = [...new Set(entities.map((entity) => idOf(edge, entity)).filter((id) => id !== null))];
        const loader = this.loaderOf(edge, page);
        // There is no loader for a page with wrong parameters. The field that asks for it throws the error.
        if (!loader || ids.length === 0) return;
        const counting = isCounted && this.counts(edge as ManyEdgeName, this.targets(edge as ManyEdgeName, page).entities).readAhead(ids);
        const [targets] = await Promise.all([loader.readAhead(ids), counting]);
        await this.readAhead(targets, ahead);
      }),
    );
  }

  private loaderOf(edge: EdgeName, parameters: ListParameters): Loader<unknown> | undefined {
    const target = entityEdges[edge];
    if ('one' in target) return this.finder(target.one);
    if (findFilterFault(parameters, this.openDonorData)) return undefined;
    return this.targets(edge as ManyEdgeName, parameters).shared?.loader;
  }

  private finder<Kind extends EntityKind>(kind: Kind): Loader<EntityOf<Kind> | null> {
    return this.loader(`find ${kind}`, () => ({
      read: async (ids) => {
        const found = new Map<EntityId, EntityOf<Kind>>();
        // PostgreSQL's text cannot hold a NUL, so no entity has such an id.
        const possible = ids.filter((each) => !String(each).includes('\0'));
        for (const entity of await this.parts.store.find(kind, this.scope, possible)) found.set(bookIdOf(kind, entity), entity);
        return ids.map((each) => found.get(each) ?? null);
      },
      entitiesOf: (found) => found.filter((entity) => entity !== null),
    }));
  }

  private pages(edge: ManyEdgeName, list: EntityList, bounds: KeysetPage): Loader<readonly Target[]> {
    return this.loader(`${edge} ${JSON.stringify([list, bounds])}`, () => ({
      read: async (originIds) => {
        const lists = await this.parts.store.listTargets(edge, this.scope, originIds, list, bounds);
        return originIds.map((id) => lists.get(id) ?? []);
      },
      entitiesOf: (lists) => lists.flat(),
    }));
  }

  private counts(edge: ManyEdgeName, list: EntityList): Loader<number> {
    return this.loader(`count ${edge} ${JSON.stringify(list.filter)}`, () => ({
      read: async (originIds) => {
        const found = await this.parts.store.countTargets(edge, this.scope, originIds, list);
        return originIds.map((id) => found.get(id) ?? 0);
      },
      entitiesOf: () => [],
    }));
  }

  /** The loader of this name, which is created at the first call. */
  private loader<Value>(name: string, toSource: () => Source<Value>): Loader<Value> {
    const known = this.loaders.get(name);
    if (known) return known as Loader<Value>;
    const loader = new Loader(toSource());
    this.loaders.set(name, loader);
    return loader;
  }
}

/** The id that an edge joins on, or null when the entity has none (a gift without a donor). */
function idOf(edge: EdgeName, origin: object): EntityId | null {
  const id = (origin as Readonly<Record<string, EntityId | null>>)[entityEdges[edge].by] ?? null;
  // A line of nobody has donor 0.
  return edge === 'DepositDetail.donor' && id === 0 ? null : id;
}

const bookIdOf = (kind: EntityKind, entity: object): EntityId => (entity as Readonly<Record<string, EntityId>>)[entityIds[kind].field]!;

type Target = EntityOf<EdgeTarget<ManyEdgeName>>;

/** The lists of one edge that the same parameters ask for. */
interface Targets {
  readonly entities: EntityList;
  /** Stands for `entities` in the cursors of each list: a filter may have a thousand values, and an answer thousands of lists. */
  readonly digest: string;
  readonly order: KeyOrder;
  /** Their page and its loader. A page with a cursor is that of one list, and shared by none. */
  readonly shared: { readonly bounds: KeysetPage; readonly loader: Loader<readonly Target[]> } | undefined;
}
