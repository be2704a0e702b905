import type { ImportStore, ImportCounts } from '../data/import-store';
import { OperatorError } from '../errors';
import { parseImportLine, type ImportLine, type LineFault, type RawLine } from './import-line';

const MAX_FAULTS = 20;

/** An import that wrote nothing, because lines of it are wrong. */
export class ImportError extends OperatorError {
  constructor(
    /** The first of them, in order of the file. */
    readonly faults: readonly LineFault[],
    readonly faultCount: number,
  ) {
    super(`Nothing was imported: ${faultCount} ${faultCount === 1 ? 'fault' : 'faults'}`);
  }
}

export class ImportService {
  constructor(private readonly store: ImportStore) {}

  /** Imports lines in one transaction: all of them, or none and an ImportError. What is already there and the same is left alone. */
  async importLines(organizationId: number, lines: AsyncIterable<RawLine>): Promise<ImportCounts> {
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
        else if (faultCount === 0) yield { line: raw.line, ...parsed };
      }
    }

    return this.store.inTransaction(async (transaction) => {
      await transaction.stage(goodLines());
      if (faultCount === 0) {
        const { first, count } = await transaction.findConflicts(MAX_FAULTS);
        note(first.map(({ line, field, firstLine, key }) => ({ line, field, reason: reasonOf(field, key, firstLine) })));
        faultCount = count;
      }
      if (faultCount > 0) throw new ImportError(faults, faultCount);
      return transaction.merge(organizationId);
    });
  }
}

function reasonOf(field: string, key: string, firstLine: number): string {
  return field === key ? `is the same as in line ${firstLine}` : `differs from line ${firstLine}, which has the same ${key}`;
}
