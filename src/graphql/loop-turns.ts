import { defaultFieldResolver, getNullableType, isListType, isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import type { GraphqlContext } from './row-field';

/** Longer work than this in one turn of the event loop is felt by everybody else. */
const MAX_TURN_MS = 8;
/** Items of lists longer than this are small: each is written in one go. */
const MAX_DEEP_ITEMS = 8;
/** Shares the event loop between operations: each works in turns of its own, and between two turns sockets and timers are served. */
class LoopTurns {
  private last: Promise<void> = Promise.resolve();
  private beganAt = 0;

  /** Resolves in the next turn that no other operation has. */
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

  /** To be awaited between two pieces of work: a new turn where this one is long enough. */
  async rest(): Promise<void> {
    if (performance.now() - this.beganAt > MAX_TURN_MS) await this.next();
  }

  /** The items of a list that graphql-js completes one after another, with rests between them. */
  spread<Item>(items: readonly Item[]): (Item | Promise<Item>)[] {
    let before = Promise.resolve();
    return items.map((item, position) => {
      if (position === 0) return item;
      before = before.then(() => this.rest());
      return before.then(() => item);
    });
  }

  /** JSON.stringify with rests; for what graphql-js makes, whose objects have no prototype. */
  async stringify(value: unknown): Promise<string> {
    if (Array.isArray(value)) {
      const items: string[] = [];
      for (const item of value as readonly unknown[]) {
        items.push(value.length > MAX_DEEP_ITEMS ? JSON.stringify(item) : await this.stringify(item));
        await this.rest();
      }
      return `[${items.join(',')}]`;
    }
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return JSON.stringify(value);
    const members: string[] = [];
    for (const [name, member] of Object.entries(value)) members.push(`${JSON.stringify(name)}:${await this.stringify(member)}`);
    return `{${members.join(',')}}`;
  }
}

/** The process has one event loop, whatever else it has several of. */
export const loopTurns = new LoopTurns();
/** Callers that are refused have turns of their own: however many they are, members do not wait behind them. */
export const strangerTurns = new LoopTurns();

/** Lets graphql-js rest between the items of every list of objects, where an operation is long. */
export function restInLists(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isListType(getNullableType(field.type))) continue;
      const resolve = (field.resolve ?? defaultFieldResolver) as GraphQLFieldResolver<unknown, GraphqlContext, unknown>;
      field.resolve = (source: unknown, args: unknown, context: GraphqlContext, info) => {
        const items = resolve(source, args, context, info) as readonly unknown[] | Promise<readonly unknown[]>;
        if (!context.rests) return items;
        return Array.isArray(items) ? loopTurns.spread(items) : Promise.resolve(items).then((list) => loopTurns.spread(list));
      };
    }
  }
}
