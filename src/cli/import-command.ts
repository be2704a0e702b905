import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { Command, Option } from 'commander';
import { ImportError, type ImportResult } from '../domain/import-service';
import type { ChangeSource } from '../data/book-transaction';
import { OperatorError } from '../errors';
import { fileFormats } from '../formats/file-format';
import { readImportLines } from '../formats/import-format';
import { importStatuses, type ImportStatus } from '../formats/import-line';
import { withServices, type CommandContext } from './command';
import { printResult, startProgress, type Progress } from './terminal';

/** `import FILE`: imports all lines of a file, or none when one of them is faulty. */
export function importCommand(context: () => CommandContext): Command {
  return new Command('import')
    .description('imports deposit lines from a v2 answer (.json), from its lines (.ndjson) or from .csv; all or nothing')
    .argument('<file>', 'a file whose name ends in .json, .ndjson or .csv')
    .requiredOption('--organization <name>', 'name of the organization')
    .addOption(new Option('--status <status>', 'status of deposits whose lines have no deposit_status').choices(importStatuses))
    .action(async (file: string, { organization, status }: { organization: string; status?: ImportStatus }) => {
      const { terminal, json } = context();
      const format = fileFormats.find((known) => `.${known}` === extname(file).toLowerCase());
      if (!format) throw new OperatorError(`${file}: the name of an import file ends in .json, .ndjson or .csv`);
      const size = await sizeOf(file);
      const progress = startProgress(terminal, size, 'Importing {bar} {percentage}% | {eta_formatted} left');
      let hash = createHash('sha256');
      try {
        const result = await withServices(context(), async ({ organizations, imports }) => {
          const { id } = await organizations.get(organization);
          const read = (): AsyncGenerator<Buffer> => readWithProgress(file, progress, (hash = createHash('sha256')));
          const source = (): ChangeSource => ({
            cause: 'import',
            file: { name: basename(file).replace(/\p{Cc}/gu, '?'), sha256: hash.digest('hex') },
          });
          return imports.importLines(id, readImportLines(format, read), { status, source });
        });
        progress.stop();
        const { lines, assumed, version, ...written } = result;
        const changes = Object.entries(written).map(([kind, count]) => `${count} ${kind}`);
        const summary = `Imported ${lines} lines; new or changed: ${changes.join(', ')}`;
        printResult(terminal, json, result, [summary, describeVersion(version), ...describeAssumed(assumed)].join('\n'));
      } catch (error) {
        progress.stop();
        if (error instanceof ImportError) printFaults(error, context());
        throw error;
      }
    });
}

function describeVersion(version: ImportResult['version']): string {
  if (!version) return 'Nothing changed: there is no new data version';
  const { added, changed, removed } = version.lines;
  return `The books are at data version ${version.number}: ${added} lines added, ${changed} changed, ${removed} removed`;
}

/** One line that names the statuses that the import assumed; no line when it assumed none. */
function describeAssumed({ posted, kept }: ImportResult['assumed']): string[] {
  if (posted + kept === 0) return [];
  const count = (deposits: number, what: string) =>
    deposits > 0 ? [`${deposits} ${deposits === 1 ? 'deposit' : 'deposits'} ${what}`] : [];
  const parts = [...count(posted, 'taken for posted'), ...count(kept, 'left as the books have them')];
  return [`The file does not say whether its deposits are posted or pending: ${parts.join(', ')}; --status says it`];
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: unknown) => {
    throw new OperatorError(`Cannot read ${file}`, { cause: error });
  });
  if (!found.isFile()) throw new OperatorError(`${file} is not a file`);
  return found.size;
}

async function* readWithProgress(file: string, progress: Progress, hash: Hash): AsyncGenerator<Buffer> {
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    progress.add(piece.length);
    hash.update(piece);
    yield piece;
  }
}

function printFaults({ faults, faultCount }: ImportError, { terminal, json }: CommandContext): void {
  if (json) {
    printResult(terminal, json, { imported: 0, faultCount, faults }, '');
    return;
  }
  for (const { line, field, reason } of faults) terminal.errors.write(`line ${line}: ${field ? `${field} ` : ''}${reason}\n`);
  if (faultCount > faults.length) terminal.errors.write(`and ${faultCount - faults.length} more\n`);
}
