import { BookCopy } from './book-copy';
import type { ExportReader } from './export-reader';
import type { TestOrganization } from './gateway';

const EVER = 'start_date=0001-01-01&end_date=9999-12-31&pending=WITH';
const BASELINE = `deposit-details.ndjson?${EVER}&columns=all`;

/** A copy of the lines that follows the books by the files alone. */
export class Follower {
  private readonly copy = new BookCopy();

  constructor(
    private readonly reader: ExportReader,
    private readonly of: TestOrganization,
  ) {}

  /** The place up to which the copy has the changes. Empty before its baseline. */
  get place(): string {
    return this.copy.place ?? '';
  }

  async begin(): Promise<void> {
    const { headers, body } = await this.get(BASELINE);
    this.copy.begin(rowsOf(body), String(headers['x-export-place']));
  }

  /** Takes what has changed, and returns the number of changes. A follower whose place is no longer kept begins again. */
  async follow(query = ''): Promise<number> {
    const { status, body, headers } = await this.get(`deposit-changes.ndjson?since=${this.place}${query}`);
    if (status === 410) {
      await this.begin();
      return 0;
    }
    if (status !== 200) throw new Error(`A follower was answered ${status}: ${body.toString()}`);
    const changes = this.copy.take(rowsOf(body));
    expect([this.place, this.place.split('.')[0]]).toEqual([headers['x-export-place'], headers['x-data-version']]);
    return changes;
  }

  get text(): string[] {
    return this.copy.text;
  }

  /** The lines of the books now. */
  async books(): Promise<string[]> {
    const { body } = await this.get(BASELINE);
    return rowsOf(body).sort();
  }

  private get(path: string) {
    return this.reader.get(`/export/${path}`, { Provision: this.of.apiProvision });
  }
}

const rowsOf = (body: Buffer): string[] => body.toString().split('\n').slice(0, -1);
