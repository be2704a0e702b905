import { randomUUID } from 'node:crypto';
import type { RowStream } from '../../rows/row-stream';
import type { RowTemplate } from '../../rows/row-template';

/** The way to a value in an answer. */
export type Path = readonly (string | number)[];

/** Rows that are written into the answer as they arrive from the database. */
export interface InsertedRows {
  readonly template: RowTemplate;
  readonly rows: RowStream<unknown>;
}

/** A list that the gateway writes itself: its rows, or its text in JSON. graphql-js gets an empty list in its place. */
interface Insertion<Content> {
  readonly path: Path;
  readonly content: Content;
}

/** The lists of an answer that graphql-js does not write. */
export class Insertions {
  private readonly lists: Insertion<InsertedRows | string>[] = [];
  /** Stands for the lists in the answer's text. It is random, so that no text of a caller can match it. */
  private readonly token = randomUUID();

  /** True when rows are still to be read. */
  get haveRows(): boolean {
    return this.lists.some(({ content }) => typeof content !== 'string');
  }

  /** The number of rows that were read to their end; undefined when there are none. */
  rowCount(): number | undefined {
    const counts = this.lists.flatMap(({ content }) => (typeof content === 'string' ? [] : (content.rows.rowCount?.() ?? [])));
    return counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : undefined;
  }

  add(path: Path, content: InsertedRows | string): void {
    this.lists.push({ path, content });
  }

  /** Puts a mark at the place of each list. A list whose parent became null by an error has no place. */
  mark(data: object): void {
    this.lists.forEach(({ path }, index) => {
      let parent: unknown = data;
      for (const step of path.slice(0, -1)) parent = (parent as Record<string | number, unknown> | null | undefined)?.[step];
      if (parent) (parent as Record<string | number, unknown>)[path.at(-1)!] = `${this.token} ${index}`;
    });
  }

  /** Cuts an answer with marks into its text and the lists at their places. `toPieces` says how rows are written. */
  fill<Piece>(text: string, toPieces: (rows: Insertion<InsertedRows>) => readonly (Piece | string)[]): (Piece | string)[] {
    const [before = '', ...parts] = text.split(`"${this.token} `);
    return [
      before,
      ...parts.flatMap((part) => {
        const end = part.indexOf('"');
        const { path, content } = this.lists[Number(part.slice(0, end))]!;
        const rest = part.slice(end + 1);
        return typeof content === 'string' ? [content, rest] : [...toPieces({ path, content }), rest];
      }),
    ];
  }
}
