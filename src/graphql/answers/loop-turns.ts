import { defaultFieldResolver, getNullableType, isListType, isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import type { GraphqlContext } from './row-field';

/** Work that takes longer than this in one turn of the event loop noticeably delays other requests. */
const MAX_TURN_MS = 8;
/** Items of a list that is longer than this are taken for small: each is written without a pause. */
const MAX_DEEP_ITEMS = 8;
/** Shares the event loop between operations. Each works in its own turns, and Node serves sockets and timers between two turns. */
class LoopTurns {
  private last: Promise<void> = Promise.resolve();
  private places: Promise<void> = Promise.resolve();
  private beganAt = 0;

  /** Resolves in the next turn that is free, behind the operations that already wait for one. */
  next(): Promise<void> {
    this.last = this.last.then(
      () =>
        new Promise((resolve) =>
          setImmediate(() => {
            this.beganAt = performance.now();
            resolve();
          }),
        ),
    );
    return this.last;
  }

  /** Waits for a new turn when the current one has lasted long enough. Must be awaited between two pieces of work. */
  async pause(): Promise<void> {
    if (performance.now() - this.beganAt > MAX_TURN_MS) await this.next();
  }

  /**
   * The items of a list as promises, so that graphql-js completes them one after another with pauses between them. Lists that arrive
   * together are spread one after another too, because making the promises of many long lists takes long.
   */
  async spread<Item>(items: readonly Item[]): Promise<readonly (Item | Promise<Item>)[]> {
    if (items.length <= 1) return items;
    await this.takePlace();
    return this.toPromises(items);
  }

  /** A value that thousands of others are read together with. graphql-js would go on with all of them in one turn. */
  async release<Value>(value: Promise<Value>): Promise<Value> {
    const found = await value;
    await this.takePlace();
    return found;
  }

  /** Waits behind those who wait already, and pauses where the turn has lasted long enough. */
  private takePlace(): Promise<void> {
    return (this.places = this.places.then(() => this.pause()));
  }

  private toPromises<Item>(items: readonly Item[]): (Item | Promise<Item>)[] {
    let before = Promise.resolve();
    return items.map((item, position) => {
      if (position === 0) return item;
      before = before.then(() => this.pause());
      return before.then(() => item);
    });
  }

  /** JSON.stringify with pauses, for the data that graphql-js makes: its objects have no prototype. */
  async stringify(value: unknown): Promise<string> {
    if (Array.isArray(value)) {
      const items: string[] = [];
      for (const item of value as readonly unknown[]) {
        items.push(value.length > MAX_DEEP_ITEMS ? JSON.stringify(item) : await this.stringify(item));
        await this.pause();
      }
      return `[${items.join(',')}]`;
    }
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return JSON.stringify(value);
    const members: string[] = [];
    for (const [name, member] of Object.entries(value)) members.push(`${JSON.stringify(name)}:${await this.stringify(member)}`);
    return `{${members.join(',')}}`;
  }
}

/** The turns of members' operations. There is one instance, because a process has one event loop. */
export const loopTurns = new LoopTurns();
/** The turns of callers that are refused, kept apart so that members never wait behind them. */
export const strangerTurns = new LoopTurns();

/** The resolver of a list field. */
export type ListResolver = GraphQLFieldResolver<unknown, GraphqlContext, unknown, readonly unknown[] | Promise<readonly unknown[]>>;

/** Lets graphql-js pause between the items of every list in a long operation. */
export function pauseInLists(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isListType(getNullableType(field.type))) continue;
      const resolve = (field.resolve ?? defaultFieldResolver) as ListResolver;
      field.resolve = (source: unknown, args: unknown, context: GraphqlContext, info) => {
        const items = resolve(source, args, context, info);
        if (!context.isLong) return items;
        return Array.isArray(items) ? loopTurns.spread(items) : Promise.resolve(items).then((list) => loopTurns.spread(list));
      };
    }
  }
}
