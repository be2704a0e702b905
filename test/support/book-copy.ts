interface Change {
  readonly before: { readonly allocation_id: string } | null;
  readonly after: { readonly allocation_id: string } | null;
}

/** A copy of the lines, made of the rows of files in NDJSON alone. */
export class BookCopy {
  private lines = new Map<string, string>();
  /** The place up to which the copy has the changes. Undefined before its baseline. */
  place: string | undefined;

  /** Takes a baseline in the place of what was copied. */
  begin(rows: readonly string[], place: string): void {
    this.lines = new Map(rows.map((row) => [(JSON.parse(row) as { allocation_id: string }).allocation_id, row]));
    this.place = place;
  }

  /** Takes changes, of which the last row names the next place. Returns their number. */
  take(rows: readonly string[]): number {
    const changes = rows.map((row) => JSON.parse(row) as Change & { readonly next?: string });
    this.place = changes.pop()!.next!;
    for (const { before } of changes) if (before) this.lines.delete(before.allocation_id);
    for (const { after } of changes) if (after) this.lines.set(after.allocation_id, JSON.stringify(after));
    return changes.length;
  }

  get text(): string[] {
    return [...this.lines.values()].sort();
  }
}
