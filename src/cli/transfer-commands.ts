import { createReadStream, rmSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { finished } from 'node:stream/promises';
import { Command, Option } from 'commander';
import { toReportPeriod, toLineSet, type ReportPeriod } from '../domain/deposit-detail-service';
import { ImportError, type ImportResult } from '../domain/import-service';
import { OperatorError } from '../errors';
import { createFileLayout, fileFormats, type FileColumns, type FileFormat } from '../formats/file-format';
import { readImportLines } from '../formats/import-format';
import { importStatuses, type ImportStatus } from '../formats/import-line';
import { describeDateFault, isLocalDate } from '../values/dates';

import { chosenColumns, columnsOf, parseColumns } from '../formats/file-address';
import { withServices, type CommandContext } from './command';
import { NO_PROGRESS, printResult, startProgress, write, type Progress } from './terminal';

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
      try {
        const result = await withServices(context(), async ({ organizations, imports }) => {
          const { id } = await organizations.get(organization);
          return imports.importLines(
            id,
            readImportLines(format, () => readWithProgress(file, progress)),
            status,
          );
        });
        progress.stop();
        const { lines, assumed, ...written } = result;
        const changes = Object.entries(written).map(([kind, count]) => `${count} ${kind}`);
        const summary = `Imported ${lines} lines; new or changed: ${changes.join(', ')}`;
        printResult(terminal, json, result, [summary, ...describeAssumed(assumed)].join('\n'));
      } catch (error) {
        progress.stop();
        if (error instanceof ImportError) printFaults(error, context());
        throw error;
      }
    });
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

async function* readWithProgress(file: string, progress: Progress): AsyncGenerator<Buffer> {
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    progress.add(piece.length);
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

/** `export`: writes the report to standard output, or to a file that appears only when it is complete. */
export function exportCommand(context: () => CommandContext): Command {
  return new Command('export')
    .description('writes the deposit report of a range of deposit dates')
    .requiredOption('--organization <name>', 'name of the organization')
    .requiredOption('--start <date>', 'first deposit date, YYYY-MM-DD')
    .requiredOption('--end <date>', 'last deposit date, YYYY-MM-DD')
    .option('--include-pending', 'includes pending deposits', false)
    .addOption(
      new Option('--format <format>', 'format of the file; json has the form of a v2 answer').choices(fileFormats).makeOptionMandatory(),
    )
    .option(
      '--columns <names>',
      "columns in their order, separated by commas, such as amount,designation; v2 stands for v2's 26 fields and all for every column; by default v2, and deposit_status with pending deposits",
    )
    .option('--out <file>', 'file to write; standard output when it is missing')
    .action(async (options: ExportOptions) => {
      const period = readPeriod(options);
      const columns = readColumns(options);
      const { terminal } = context();
      const { out } = options;
      const draft = `${out}.part`;
      const target =
        out === undefined ? terminal.output : (await open(draft, 'w', OWNER_ONLY).catch(failWriting(draft))).createWriteStream();
      const removeDraft = (): void => rmSync(draft, { force: true });
      // A signal ends the command by `process.exit`, which runs no `catch`.
      if (out !== undefined) process.on('exit', removeDraft);
      // The write that fails throws the target's error; without this listener the error would end the process.
      target.on('error', () => undefined);
      // A progress bar on the terminal that shows the report would overwrite some of its lines.
      const quiet = target === terminal.output && terminal.output.isTTY;
      const progress = quiet ? NO_PROGRESS : startProgress(terminal, undefined, 'Exporting | {value} bytes | {duration_formatted}');
      try {
        await withServices(context(), async ({ organizations, depositDetails, audit }) => {
          const { id: organizationId } = await organizations.get(options.organization);
          const { format } = options;
          const lineSet = toLineSet(organizationId, period);
          const entry = await audit.open(OPERATOR, { report: 'deposit-details', format, lineSet, conditions: [] });
          const caller = { organizationId, credential: 'operator' };
          const snapshot = depositDetails.openSnapshot(new AbortController().signal, () => Promise.resolve(caller));
          const { head, template, tail } = createFileLayout(format, columns);
          const rows = depositDetails.report(lineSet, snapshot).bytes(template);
          try {
            await entry.accompany({ head, rows, tail }, async (blocks) => {
              await write(target, head);
              for await (const block of blocks) {
                await write(target, block);
                progress.add(block.length);
              }
              await write(target, tail);
            });
          } finally {
            await snapshot.close();
          }
        });
        if (out !== undefined) {
          target.end();
          await finished(target).catch(failWriting(out));
          await rename(draft, out).catch(failWriting(out));
        }
      } catch (error) {
        if (out !== undefined) removeDraft();
        throw error;
      } finally {
        progress.stop();
      }
    });
}

const OPERATOR = { provisionId: null, username: null } as const;

/** The file holds donors' data, so no other account may read it. */
const OWNER_ONLY = 0o600;

const failWriting = (file: string) => (error: unknown) => {
  throw new OperatorError(`Cannot write ${file}: ${(error as Error).message}`, { cause: error });
};

function readPeriod({ start, end, includePending }: ExportOptions): ReportPeriod {
  for (const [name, date] of Object.entries({ start, end })) {
    if (!isLocalDate(date)) throw new OperatorError(`--${name}: ${describeDateFault(date)}`);
  }
  return toReportPeriod({ startDate: start, endDate: end, includePending });
}

function readColumns({ start, end, includePending, columns }: ExportOptions): FileColumns {
  const query = { lines: { startDate: start, endDate: end, includePending, filter: {} } };
  return chosenColumns({ ...query, ...(columns !== undefined && { columns: parseColumns(columns, columnsOf(query)) }) });
}

interface ExportOptions {
  readonly organization: string;
  readonly start: string;
  readonly end: string;
  readonly includePending: boolean;
  readonly format: FileFormat;
  readonly columns?: string;
  readonly out?: string;
}
