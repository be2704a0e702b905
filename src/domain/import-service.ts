import type { ChangeSource, NewVersion } from '../data/book-transaction';
import type { ImportStore, ImportCounts, StatusAssumptions } from '../data/import-store';
import { OperatorError } from '../errors';
import { parseImportLine, type ImportLine, type ImportStatus, type LineFault, type RawLine } from '../formats/import-line';

const MAX_FAULTS = 20;

/** The error of an import that wrote nothing, because some of its lines are wrong. */
export class ImportError extends OperatorError {
  constructor(
    /** The first faults, in the file's order. */
    readonly faults: readonly LineFault[],
    readonly faultCount: number,
  ) {
    super(`Nothing was imported: ${faultCount} ${faultCount === 1 ? 'fault' : 'faults'}`);
  }
}

/** The numbers of what an import wrote, and of the deposits whose status it had to assume. */
export interface ImportResult extends ImportCounts {
  readonly assumed: StatusAssumptions;
  /** The data version that the import made; null when it changed nothing. */
  readonly version: NewVersion | null;
}

export interface ImportOptions {
  /** The status of deposits whose lines do not state one. */
  readonly status?: ImportStatus | undefined;
  /** Tells the origin of the lines. It is called when all of them have been read. */
  readonly source: () => ChangeSource;
}

export class ImportService {
  constructor(private readonly store: ImportStore) {}

  /** Imports all lines in one transaction, or throws an ImportError and imports none. Entities that have not changed are left alone. */
  async importLines(organizationId: number, lines: AsyncIterable<RawLine>, { status, source }: ImportOptions): Promise<ImportResult> {
    const faults: LineFault[] = [];
    let faultCount = 0;
    const note = (found: readonly LineFault[]): void => {
      faultCount += found.length;
      faults.push(...found.slice(0, MAX_FAULTS - faults.length));
    };

    async function* goodLines(): AsyncGenerator<ImportLine & { line: number }> {
      for await (const raw of lines) {
        const parsed = parseImportLine(raw);
        if (Array.isArray(parsed)) note(parsed);
        else if (faultCount === 0) yield { line: raw.line, ...parsed, deposit_status: parsed.deposit_status ?? status };
      }
    }

    return this.store.inTransaction(organizationId, async (transaction) => {
      await transaction.stage(goodLines());
      if (faultCount === 0) {
        const { first, count } = await transaction.findConflicts(MAX_FAULTS);
        note(first.map(({ line, field, firstLine, key }) => ({ line, field, reason: reasonOf(field, key, firstLine) })));
        faultCount = count;
      }
      if (faultCount > 0) throw new ImportError(faults, faultCount);
      const assumed = await transaction.findAssumptions();
      const { counts, version } = await transaction.merge(source());
      return { ...counts, assumed, version };
    });
  }
}

function reasonOf(field: string, key: string, firstLine: number): string {
  return field === key ? `is the same as in line ${firstLine}` : `differs from line ${firstLine}, which has the same ${key}`;
}
