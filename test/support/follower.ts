import type { ExportReader } from './export-reader';
import type { TestOrganization } from './gateway';

const EVER = 'start_date=0001-01-01&end_date=9999-12-31&pending=WITH';
const BASELINE = `deposit-details.ndjson?${EVER}&columns=all`;

interface Change {
  readonly before: { readonly allocation_id: string } | null;
  readonly after: { readonly allocation_id: string } | null;
}

/** A copy of the lines that follows the books by the files alone. */
export class Follower {
  private readonly lines = new Map<string, string>();
  place = '';

  constructor(
    private readonly reader: ExportReader,
    private readonly of: TestOrganization,
  ) {}

  async begin(): Promise<void> {
    const { headers, body } = await this.get(BASELINE);
    this.lines.clear();
    for (const line of body.toString().split('\n').slice(0, -1)) this.put(JSON.parse(line) as Change['after']);
    this.place = String(headers['x-export-place']);
  }

  /** Takes what has changed, and returns the number of changes. A follower whose place is no longer kept begins again. */
  async follow(query = ''): Promise<number> {
    const { status, body, headers } = await this.get(`deposit-changes.ndjson?since=${this.place}${query}`);
    if (status === 410) {
      await this.begin();
      return 0;
    }
    const rows = body
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((row) => JSON.parse(row) as Change & { readonly next?: string });
    const { next } = rows.pop()!;
    expect([next, next!.split('.')[0]]).toEqual([headers['x-export-place'], headers['x-data-version']]);
    for (const { before } of rows) if (before) this.lines.delete(before.allocation_id);
    for (const { after } of rows) if (after) this.put(after);
    this.place = next!;
    return rows.length;
  }

  get text(): string[] {
    return [...this.lines.values()].sort();
  }

  /** The lines of the books now. */
  async books(): Promise<string[]> {
    const { body } = await this.get(BASELINE);
    return body.toString().split('\n').slice(0, -1).sort();
  }

  private get(path: string) {
    return this.reader.get(`/export/${path}`, { Provision: this.of.apiProvision });
  }

  private put(line: Change['after']): void {
    this.lines.set(line!.allocation_id, JSON.stringify(line));
  }
}
