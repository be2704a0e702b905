import { rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { Command, Option } from 'commander';
import type { FilePieces } from '../domain/audit-file';
import { toReportPeriod, toLineSet, type ReportPeriod } from '../domain/deposit-detail-service';
import { OperatorError } from '../errors';
import { chosenColumns, columnsOf, parseColumns } from '../formats/file-address';
import { createFileLayout, fileFormats, type FileColumns, type FileFormat } from '../formats/file-format';
import { describeDateFault, isLocalDate } from '../values/dates';
import { withServices, type CommandContext } from './command';
import { NO_PROGRESS, startProgress, write } from './terminal';

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
          const subject = { report: 'deposit-details', format, lineSet, conditions: [], tellsDonors: true } as const;
          const entry = await audit.openFile(audit.operator(organizationId), audit.command('export'), subject);
          const caller = { organizationId, credential: 'operator' };
          const snapshot = depositDetails.openSnapshot(new AbortController().signal, () => Promise.resolve(caller));
          const { head, template, tail } = createFileLayout(format, columns);
          const { rows, figures } = depositDetails.report(lineSet, snapshot).bytesWithFigures(template);
          const put = async (block: Buffer): Promise<void> => {
            await write(target, block);
            progress.add(block.length);
          };
          try {
            const send = async (pieces: FilePieces): Promise<void> => {
              for (const piece of pieces) {
                if (typeof piece === 'string') await write(target, piece);
                else for await (const block of piece) await put(block);
              }
            };
            const content = () => ({ version: snapshot.version, lines: figures()?.totals.lines, digest: figures()?.digest });
            await entry.accompany({ head, rows, tail }, send, content);
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
