import { Command, InvalidArgumentError, Option } from 'commander';
import { numberOf, type VersionStamp } from '../../data/postgres/version-stamp';
import type { EndFacts } from '../../domain/audit/audit-readings';
import { FileCount, type FilePieces } from '../../domain/audit/file-count';
import { toReportPeriod, toLineSet, type ReportPeriod } from '../../domain/reports/deposit-detail-service';
import { AS_OF_FORM, asOfNames, parseAsOf, toStateCondition, type AsOf } from '../../formats/as-of';
import { parseColumns } from '../../formats/file-columns';
import { columnsOf, formatKeptAddress, toFileLayout, type FileQuery } from '../../formats/file-address';
import { RENDERING } from '../../rows/row-stream';
import { fileFormatNames, type FileFormat } from '../../values/file-formats';
import { ALL_TIME, describeDateFault, isLocalDate } from '../../values/dates';
import { datesAt, type OrganizationCalendar, type PeriodName } from '../../values/periods';
import type { Services } from '../../services';
import { withServices, type CommandContext } from '../command';
import { periodOption, UsageError } from '../command-options';
import { NO_PROGRESS, printResult, startProgress, writeAll, type Progress } from '../terminal';
import { writeWhole } from '../whole-file';

/** `export`: writes the report to standard output, or to a file that appears only when it is complete. */
export function exportCommand(context: () => CommandContext): Command {
  return new Command('export')
    .requiredOption('--organization <name>', 'name of the organization')
    .option('--start <date>', 'first deposit date, YYYY-MM-DD')
    .option('--end <date>', 'last deposit date, YYYY-MM-DD')
    .addOption(periodOption('in place of the two dates: a period that is counted from today').conflicts(['start', 'end']))
    .option('--include-pending', 'includes pending deposits', false)
    .addOption(
      new Option(
        '--as-of <state>',
        'the lines of a past state: the number of a data version, or an instant like 2026-11-01T00:00:00Z',
      ).argParser(readState),
    )
    .addOption(
      new Option('--format <format>', 'format of the file; json has the form of a v2 answer')
        .choices(fileFormatNames)
        .makeOptionMandatory(),
    )
    .option(
      '--columns <names>',
      "columns in their order, separated by commas, such as amount,designation; v2 stands for v2's 26 fields, money for those of the money digest and all for every column; by default v2, and deposit_status with pending deposits",
    )
    .option('--out <file>', 'file to write; standard output when it is missing')
    .action(async (options: ExportOptions, self: Command) => {
      const findPeriod = readPeriod(options, self);
      const columns = readColumns(options);
      const { terminal, json } = context();
      const { out } = options;
      // A progress bar on the terminal that shows the report would overwrite some of its lines.
      const isQuiet = out === undefined && terminal.output.isTTY;
      const progress = isQuiet ? NO_PROGRESS : startProgress(terminal, undefined, 'Exporting | {value} bytes | {duration_formatted}');
      const exportTo = (put: Put): Promise<ExportedFile> =>
        withServices(context(), (services) =>
          exportReport(services, { ...options, findPeriod, columns }, (pieces) => put(toBlocks(pieces, progress))),
        );
      try {
        if (out === undefined) await exportTo((content) => writeAll(terminal.output, content));
        else printResult(terminal, json, { file: out, ...(await writeWhole(out, true, exportTo)) }, '');
      } finally {
        progress.stop();
      }
    });
}

/** Takes the whole content of a file. */
type Put = (content: AsyncIterable<Buffer>) => Promise<void>;

/** A file that was written, and the id of its entry in the audit. */
interface ExportedFile extends EndFacts {
  readonly id: string;
}

interface WantedReport extends Pick<ExportOptions, 'organization' | 'format' | 'asOf'> {
  readonly findPeriod: (organization: OrganizationCalendar) => ReportPeriod;
  readonly columns: FileQuery['columns'];
}

/** Sends the file of a report, with an entry in the audit. Resolves to what that tells of the file. */
async function exportReport(
  { organizations, books, depositDetails, audit }: Services,
  { organization: name, format, asOf, findPeriod, columns }: WantedReport,
  send: (pieces: FilePieces) => Promise<void>,
): Promise<ExportedFile> {
  const organization = await organizations.get(name);
  const organizationId = organization.id;
  const newest = toLineSet(organizationId, findPeriod(organization));
  const { startDate, endDate, pending } = newest;
  const range = { startDate, endDate, pending, conditions: asOf ? [toStateCondition(asOfNames.file, asOf)] : [] };
  const query = { lines: { startDate, endDate, includePending: false, pending, filter: {} }, columns };
  const kept = { fileAddress: formatKeptAddress(query, false), rendering: RENDERING };
  const file = { report: 'deposit-details', format, tellsDonors: true, ...kept } as const;
  const opened = books.openForOperator(organizationId);
  try {
    const lineSet = await books.inState(newest, asOf, opened, { name: '--as-of' });
    const { head, template, tail } = toFileLayout(query, format, false);
    const { rows, figures } = depositDetails.report(lineSet, opened).bytesWithFigures(template);
    const count = new FileCount();
    const version = (): VersionStamp | undefined => lineSet.state ?? opened.version;
    const atEnd = (): EndFacts => ({
      ...count.facts,
      lines: figures()?.totals.lines ?? null,
      digest: figures()?.digest ?? null,
      moneyDigest: figures()?.moneyDigest ?? null,
      dataVersion: version() === undefined ? null : numberOf(version()!),
    });
    const write = async (id: string): Promise<ExportedFile> => {
      await send(count.toPieces(head, rows, tail));
      return { id, ...atEnd() };
    };
    return await audit.accompany(audit.operator(organizationId), audit.command('export'), write, { range, file, atEnd });
  } finally {
    await opened.close();
  }
}

async function* toBlocks(pieces: FilePieces, progress: Progress): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    for await (const block of typeof piece === 'string' ? [Buffer.from(piece)] : piece) {
      yield block;
      progress.add(block.length);
    }
  }
}

/** Checks the dates as far as that needs no organization, whose calendar a named period goes by. */
function readPeriod({ start, end, period, includePending }: ExportOptions, self: Command): WantedReport['findPeriod'] {
  if (period !== undefined) {
    const now = new Date();
    return (organization) => toReportPeriod({ ...datesAt(organization, now)(period), includePending });
  }
  for (const [name, date] of Object.entries({ start, end })) {
    if (date === undefined) self.error(`error: required option '--${name} <date>' not specified, nor --period in place of both dates`);
    if (!isLocalDate(date)) throw new UsageError(`--${name}: ${describeDateFault(date)}`);
  }
  const given = toReportPeriod({ startDate: start!, endDate: end!, includePending });
  return () => given;
}

function readState(text: string): AsOf {
  const asOf = parseAsOf(text);
  if (!asOf) throw new InvalidArgumentError(`It must be ${AS_OF_FORM}.`);
  return asOf;
}

const readColumns = ({ includePending, columns }: ExportOptions): FileQuery['columns'] =>
  columns === undefined ? undefined : parseColumns(columns, columnsOf({ lines: { ...ALL_TIME, includePending, filter: {} } }));

interface ExportOptions {
  readonly organization: string;
  readonly start?: string;
  readonly end?: string;
  readonly period?: PeriodName;
  readonly includePending: boolean;
  readonly asOf?: AsOf;
  readonly format: FileFormat;
  readonly columns?: string;
  readonly out?: string;
}
