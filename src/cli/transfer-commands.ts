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

/** `import FILE`: all of it or nothing. */
export function importCommand(context: () => CommandContext): Command {
  return new Command('import')
    .description('brings deposit lines in: a v2 answer (.json), lines of one (.ndjson), or .csv')
    .argument('<file>')
    .requiredOption('--organization <name>')
    .addOption(new Option('--status <status>', 'of the deposits of lines that have no deposit_status').choices(importStatuses))
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

/** One line where something was assumed, else none. */
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

/** `export`: the report as the doors give it, to standard output or a file that is there whole or not at all. */
export function exportCommand(context: () => CommandContext): Command {
  return new Command('export')
    .description('writes the deposit report of a range of deposit dates')
    .requiredOption('--organization <name>')
    .requiredOption('--start <date>', 'first deposit date, YYYY-MM-DD')
    .requiredOption('--end <date>', 'last deposit date, YYYY-MM-DD')
    .option('--include-pending', 'pending deposits too', false)
    .addOption(new Option('--format <format>', 'json is laid out as a v2 answer').choices(fileFormats).makeOptionMandatory())
    .option(
      '--columns <names>',
      "fields in their order, separated by commas; v2 and all stand for several; else v2's, and deposit_status with pending deposits",
    )
    .option('--out <file>', 'where to write; standard output if not given')
    .action(async (options: ExportOptions) => {
      const period = readPeriod(options);
      const columns = readColumns(options);
      const { terminal } = context();
      const { out } = options;
      const draft = `${out}.part`;
      const target =
        out === undefined ? terminal.output : (await open(draft, 'w', OWNER_ONLY).catch(failWriting(draft))).createWriteStream();
      const removeDraft = (): void => rmSync(draft, { force: true });
      // Also where a signal ends the command.
      if (out !== undefined) process.on('exit', removeDraft);
      // What goes wrong is told by the write that it happens to.
      target.on('error', () => undefined);
      // A bar in the midst of a report on the same terminal would wipe lines of it.
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

/** Donors' data is nobody else's to read. */
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
