import { Command, Option } from 'commander';
import type { ChangedLine, NewVersion } from '../../data/books/book-transaction';
import type { ClosedChanges } from '../../data/imports/closed-changes';
import type { ErasedAgain } from '../../data/imports/erased-lines';
import type { CompleteRange, RemovalCounts } from '../../data/imports/import-removal';
import { DUPLICATE_KEY, findSqlFault, MISSING_PARENT } from '../../data/postgres/sql-fault';
import { ImportError, type ImportResult } from '../../domain/imports/import-service';
import { OperatorError } from '../../errors';
import { importFormatNames, type ImportFormat } from '../../values/file-formats';
import { readImportLines } from '../../formats/import-format';
import { importStatuses, type ImportStatus } from '../../formats/import-line';
import { describeDateFault, isLocalDate, type LocalDate } from '../../values/dates';
import { withServices, type CommandContext } from '../command';
import { lateOption, UsageError, type LateChoice } from '../command-options';
import { ImportSource, STANDARD_INPUT, toFormat } from '../import-source';
import { formatTable, printResult, readLimit, toPrintable } from '../terminal';

/** `import FILE`: imports all lines of a file or of standard input, or none when one of them is faulty. */
export function importCommand(context: () => CommandContext): Command {
  return new Command('import')
    .argument('<file>', `a file whose name ends in .json, .ndjson or .csv, or ${STANDARD_INPUT} for standard input`)
    .requiredOption('--organization <name>', 'name of the organization')
    .addOption(new Option('--format <format>', 'format of standard input, or of a file whatever its name is').choices(importFormatNames))
    .addOption(new Option('--status <status>', 'status of deposits whose lines have no deposit_status').choices(importStatuses))
    .option('--replace', 'removes what the books have from --from to --to and the file has not', false)
    .option('--from <date>', 'with --replace: the first deposit date that the file is complete for, YYYY-MM-DD')
    .option('--to <date>', 'with --replace: the last deposit date, YYYY-MM-DD')
    .addOption(
      new Option('--pending <choice>', 'with --replace: whether the file is complete for pending deposits too (default: without)').choices([
        'with',
        'without',
      ]),
    )
    .addOption(
      new Option(
        '--max-removed <lines>',
        "with --replace: refuses to remove more lines (default: 5 % of the range's lines, at least 20, and none for an empty file)",
      ).argParser(readLimit),
    )
    .option('--allow-mismatch', 'takes gifts whose shares do not add up to their amount, and lists them', false)
    .addOption(lateOption())
    .option('--dry-run', 'imports nothing, and shows what would be added, changed and removed', false)
    .action(async (file: string, options: ImportCommandOptions) => {
      const { organization, status, maxRemoved, allowMismatch: allowsMismatch, dryRun: isTrial } = options;
      const complete = readCompleteRange(options);
      const { terminal, json } = context();
      const source = new ImportSource(file, toFormat(file, options.format), context(), complete !== undefined);
      try {
        const result = await withServices(context(), async ({ organizations, imports, audit }) => {
          const { id } = await organizations.get(organization);
          // The result shows lines of the books.
          const operation = audit.command(isTrial ? 'import --dry-run' : 'import');
          return audit.accompany(audit.operator(id), operation, () =>
            imports.importLines(id, readImportLines(source.format, source.read()), {
              status,
              source: () => source.toChange(),
              complete,
              maxRemoved,
              allowsMismatch,
              acceptsLate: options.late === 'accept',
              isTrial,
              isCounted: !isTrial,
            }),
          );
        });
        printResult(terminal, json, result, (isTrial ? describeTrial(result) : describeImport(result)).join('\n'));
        if (result.refusal !== null) throw new OperatorError(`The import would be refused: ${result.refusal}`);
      } catch (error) {
        if (error instanceof ImportError) printFaults(error, context());
        if ([DUPLICATE_KEY, MISSING_PARENT].includes(findSqlFault(error)?.sqlState ?? '')) throw new OperatorError(CLASH, { cause: error });
        throw error;
      }
    });
}

/** Imports of an organization wait for each other, so only SQL from elsewhere can add or delete the same rows meanwhile. */
const CLASH = 'Nothing was imported: other SQL has changed the same rows meanwhile. Run the import again';

interface ImportCommandOptions {
  readonly organization: string;
  readonly format?: ImportFormat;
  readonly status?: ImportStatus;
  readonly replace: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly pending?: 'with' | 'without';
  readonly maxRemoved?: number;
  readonly allowMismatch: boolean;
  readonly late: LateChoice;
  readonly dryRun: boolean;
}

function readCompleteRange({ replace, from, to, pending, maxRemoved, status }: ImportCommandOptions): CompleteRange | undefined {
  if (!replace) {
    const given = Object.entries({ '--from': from, '--to': to, '--pending': pending, '--max-removed': maxRemoved });
    const extra = given.find(([, value]) => value !== undefined);
    if (extra) throw new UsageError(`${extra[0]} needs --replace`);
    return undefined;
  }
  const [startDate, endDate] = [readDate('--from', from), readDate('--to', to)];
  if (startDate > endDate) throw new UsageError(`--from ${startDate} is after --to ${endDate}`);
  if (status === 'pending' && pending !== 'with') throw new UsageError('--status pending needs --pending with');
  return { periods: [{ startDate, endDate }], pending: pending === 'with' ? 'WITH' : 'WITHOUT' };
}

function readDate(option: string, date: string | undefined): LocalDate {
  if (date === undefined) throw new UsageError(`--replace needs ${option}`);
  if (!isLocalDate(date)) throw new UsageError(`${option}: ${describeDateFault(date)}`);
  return date;
}

function describeImport(result: ImportResult): string[] {
  const { lines, removed, version } = result;
  return [
    `Imported ${lines} lines; new or changed: ${describeCounts(writtenOf(result))}`,
    ...(isNothing(removed) ? [] : [`Removed: ${describeCounts(removedOf(result))}`]),
    version
      ? `The books are at data version ${version.number}: ${describeChange(version)}`
      : 'Nothing changed: there is no new data version',
    ...describeNotes(result),
  ];
}

const describeNotes = ({ assumed, correctedShares, mismatches, late, erasedAgain, refusal }: ImportResult): string[] => [
  ...describeErasedAgain(erasedAgain),
  ...(late && refusal === null ? describeLate(late) : []),
  ...describeAssumed(assumed),
  ...describeCorrected(correctedShares),
  ...describeMismatches(mismatches),
];

/** The line that says how many lines had texts of donors who were erased; none when no line had. */
export const describeErasedAgain = ({ lines, donors, states }: ErasedAgain): string[] => [
  ...(lines === 0 ? [] : [`Erased again: ${countOf(lines, 'line')} of ${countOf(donors, 'donor')}`]),
  ...(states === 0 ? [] : [`Memos erased in ${countOf(states, 'earlier state')} of gifts that are now of donors who were erased`]),
];
const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function describeTrial(result: ImportResult): string[] {
  const { lines, version, preview, removed } = result;
  const notes = describeNotes(result);
  if (!version || !preview) return [`A trial of ${lines} lines: the import would change nothing`, ...notes];
  const totals = Object.entries({ BEFORE: preview.before, AFTER: preview.after }).map(
    ([name, { lines, transactions, amount, feeAmount }]) => [...[name, String(lines), String(transactions), amount, feeAmount]],
  );
  return [
    `A trial of ${lines} lines; new or changed would be: ${describeCounts(writtenOf(result))}`,
    ...(isNothing(removed) ? [] : [`Removed would be: ${describeCounts(removedOf(result))}`]),
    `The books would be at data version ${version.number}: ${describeChange(version)}`,
    '',
    formatTable(['', 'LINES', 'TRANSACTIONS', 'AMOUNT', 'FEES'], totals),
    ...describeLines('Added', version.lines.added, preview.added),
    ...describeLines('Changed', version.lines.changed, preview.changed),
    ...describeLines('Removed', version.lines.removed, preview.removed),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ];
}

const writtenOf = ({ deposits, transactions, allocations, designations, donors }: ImportResult) => ({
  deposits,
  transactions,
  allocations,
  designations,
  donors,
});
const removedOf = ({ removed: { deposits, transactions, allocations } }: ImportResult) => ({ deposits, transactions, allocations });
const isNothing = ({ allocations, transactions, deposits }: RemovalCounts): boolean => allocations + transactions + deposits === 0;

const describeChange = ({ lines: { added, changed, removed } }: NewVersion): string =>
  `${added} lines added, ${changed} changed, ${removed} removed`;

function describeLines(kind: string, count: number, first: readonly ChangedLine[]): string[] {
  if (count === 0) return [];
  const rows = first.map((line) => [
    ...[line.depositDate, line.depositId, line.transactionId, line.allocationId, line.amount],
    line.columns.join(', '),
  ]);
  const header = ['DEPOSITED', 'DEPOSIT', 'TRANSACTION', 'ALLOCATION', 'AMOUNT', ...(rows.some((row) => row[5] !== '') ? ['COLUMNS'] : [])];
  return ['', `${kind}${count > first.length ? `, the first ${first.length} of ${count}` : ''}:`, formatTable(header, rows)];
}

const describeCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');

function describeCorrected({ gifts, count, first }: ImportResult['correctedShares']): string[] {
  if (count === 0) return [];
  const rows = first.map((each) => [
    ...[String(each.line), each.transactionId, each.amountBefore, each.amount, each.allocationId],
    ...[each.shareBefore ?? 'unknown', each.share ?? 'unknown'],
  ]);
  return [
    `The file changes ${gifts} gifts and states no shares of them, so that ${count} known shares change${count > first.length ? `; the first ${first.length}` : ''}:`,
    formatTable(['LINE', 'TRANSACTION', 'AMOUNT BEFORE', 'AMOUNT', 'ALLOCATION', 'SHARE BEFORE', 'SHARE'], rows),
  ];
}

export function describeLate({ closedThrough, lines, count, months }: ClosedChanges): string[] {
  const rows = months.map((each) => [each.month, String(each.lines), each.lineAmount]);
  return [
    `The books are closed through ${closedThrough}, and ${lines} ${lines === 1 ? 'line' : 'lines'} of closed dates changed${count > months.length ? `; the first ${months.length} of ${count} months` : ''}:`,
    formatTable(['MONTH', 'LINES', 'AMOUNT BY LINE'], rows),
  ];
}

function describeMismatches({ count, first }: ImportResult['mismatches']): string[] {
  if (count === 0) return [];
  const rows = first.map(({ line, transactionId, amount, shares }) => [String(line), transactionId, amount, shares]);
  return [
    `The shares of ${count} gifts do not add up to their amounts${count > first.length ? `; the first ${first.length}` : ''}:`,
    formatTable(['LINE', 'TRANSACTION', 'AMOUNT', 'SHARES'], rows),
  ];
}

/** The lines that name the statuses that the import assumed or changed; none when there are none. */
function describeAssumed({ posted, kept, settled }: ImportResult['assumed']): string[] {
  const count = (deposits: number, what: string) =>
    deposits > 0 ? [`${deposits} ${deposits === 1 ? 'deposit' : 'deposits'} ${what}`] : [];
  const assumed = [...count(posted, 'taken for posted'), ...count(kept, 'left as the books have them')];
  return [
    ...(assumed.length > 0
      ? [`The file does not say whether its deposits are posted or pending: ${assumed.join(', ')}; --status says it`]
      : []),
    ...count(settled, 'pending in the books before, and posted by the file'),
  ];
}

function printFaults({ faults, faultCount }: ImportError, { terminal, json }: CommandContext): void {
  if (json) {
    printResult(terminal, json, { imported: 0, faultCount, faults }, '');
    return;
  }
  for (const { line, field, reason } of faults) terminal.errors.write(`line ${line}: ${field ? `${field} ` : ''}${toPrintable(reason)}\n`);
  if (faultCount > faults.length) terminal.errors.write(`and ${faultCount - faults.length} more\n`);
}
