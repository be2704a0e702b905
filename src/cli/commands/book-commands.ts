import { Command, Option } from 'commander';
import type { BookCheck } from '../../data/books/book-store';
import { OperatorError } from '../../errors';
import { toSeen } from '../../formats/import-line';
import { withServices, type CommandContext } from '../command';
import { formatTable, printResult, readCount } from '../terminal';

/** `check`: compares the lines of an organization, or of all, with the books. */
export function checkCommand(context: () => CommandContext): Command {
  return new Command('check')
    .description('computes every line of the report from the books and compares it with the one that stands')
    .option('--organization <name>', 'name of the organization; all of them when it is missing')
    .option('--repair', 'brings lines that differ in line with the books, as a new data version', false)
    .action(async ({ organization, repair }: { organization?: string; repair: boolean }) => {
      const { terminal, json } = context();
      const checks = await withServices(context(), async ({ organizations, books }) => {
        const chosen = organization === undefined ? await organizations.list() : [await organizations.get(organization)];
        const found: Check[] = [];
        for (const { id, name } of chosen) {
          const check = await books.check(id);
          found.push({ organization: name, ...check, repaired: null });
          if (!repair || agrees(check)) continue;
          const { number } = await books.repair(id);
          found.push({ organization: name, ...(await books.check(id)), repaired: number });
        }
        return found;
      });
      printResult(terminal, json, checks, checks.map(describe).join('\n'));
      const last = new Map(checks.map((check) => [check.organization, check]));
      const faulty = [...last.values()].filter((check) => !agrees(check) || !check.versionsAreWhole || check.paddedIds.count > 0);
      if (faulty.length > 0) throw new OperatorError(`Not in order: ${faulty.map((check) => check.organization).join(', ')}`);
    });
}

interface Check extends BookCheck {
  readonly organization: string;
  /** The data version that a repair had made before this check; null when there was none. */
  readonly repaired: number | null;
}

const agrees = ({ differences, totalsAgree, unsearchableDonors }: BookCheck): boolean =>
  differences === 0 && totalsAgree && unsearchableDonors === 0;

function describe({ organization, repaired, ...check }: Check): string {
  const { lines, version, differences, first, versionsAreWhole, totalsAgree, unsearchableDonors, paddedIds } = check;
  const head = `${organization}${repaired === null ? '' : ', repaired'}: ${lines} lines at data version ${version}, ${differences} of them different from the books`;
  const details = first.map(({ allocationId, kind, columns }) =>
    kind === 'different' ? `  ${allocationId}: ${columns.join(', ')}` : `  ${allocationId}: ${kind}`,
  );
  return [
    head,
    ...details,
    ...(differences > first.length ? [`  and ${differences - first.length} more`] : []),
    ...(versionsAreWhole ? [] : ['  the numbers of the data versions have a gap']),
    ...(totalsAgree ? [] : [`  the totals of data version ${version} are not those of the lines`]),
    ...(unsearchableDonors === 0 ? [] : [`  ${unsearchableDonors} donors are not found by their names`]),
    ...describePadded(paddedIds),
  ].join('\n');
}

function describePadded({ count, first }: BookCheck['paddedIds']): string[] {
  if (count === 0) return [];
  const more = count > first.length ? `, and ${count - first.length} more` : '';
  return [
    `  ${count} ids begin or end with a blank or a character that nobody sees, so that a clean file adds its lines beside theirs; import a clean file with --replace: ${first.map(({ kind, id }) => `${kind} ${toSeen(id)}`).join(', ')}${more}`,
  ];
}

/** `version list`: lists the versions of an organization's books. */
export function versionCommand(context: () => CommandContext): Command {
  const list = new Command('list')
    .description("lists the versions of an organization's books, the newest first: cause, file, changes and totals")
    .requiredOption('--organization <name>', 'name of the organization')
    .addOption(new Option('--limit <count>', 'number of versions to list').default(50).argParser(readCount))
    .action(async (options: { organization: string; limit: number }) => {
      const { terminal, json } = context();
      const versions = await withServices(context(), async ({ organizations, books, audit }) => {
        const { id } = await organizations.get(options.organization);
        return audit.accompany(audit.operator(id), audit.command('version list'), () => books.newestVersions(id, options.limit));
      });
      const rows = versions.map((version) => [
        ...[String(version.number), version.recordedAt.toISOString(), version.cause, version.fileName ?? ''],
        ...[version.linesAdded, version.linesChanged, version.linesRemoved, version.lines, version.transactions].map(String),
        ...[version.amount, version.feeAmount],
      ]);
      printResult(terminal, json, versions, formatTable(COLUMNS, rows));
    });
  return new Command('version').description("shows the versions of an organization's books").addCommand(list);
}

const COLUMNS = ['VERSION', 'AT', 'CAUSE', 'FILE', 'ADDED', 'CHANGED', 'REMOVED', 'LINES', 'TRANSACTIONS', 'AMOUNT', 'FEES'];
