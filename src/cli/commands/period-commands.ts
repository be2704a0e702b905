import { Command, Option } from 'commander';
import type { PeriodClose } from '../../data/books/period-store';
import type { LocalDate } from '../../values/dates';
import { withServices, type CommandContext } from '../command';
import { ORGANIZATION, readDate } from '../command-options';
import { formatTable, printResult, readCount, toPrintable } from '../terminal';

/** `period`: closes the months of an organization, and reopens them. */
export function periodCommand(context: () => CommandContext): Command {
  return new Command('period').addCommand(closeCommand(context)).addCommand(reopenCommand(context)).addCommand(listCommand(context));
}

const throughOption = (description: string): Option =>
  new Option('--through <date>', description).argParser(readDate).makeOptionMandatory();

function closeCommand(context: () => CommandContext): Command {
  return new Command('close')
    .description('closes all months up to a date: their money changes no more, unless an import is told to accept late changes')
    .requiredOption(...ORGANIZATION)
    .addOption(throughOption('the last deposit date to close, YYYY-MM-DD'))
    .option('--note <text>', 'a note to keep with the close')
    .action(async ({ organization, through, note }: { organization: string; through: LocalDate; note?: string }) => {
      const { terminal, json } = context();
      const close = await withServices(context(), async ({ organizations, periods, audit }) => {
        const found = await organizations.get(organization);
        return periods.close(found, through, note, { name: audit.operator(found.id).username });
      });
      const head = `Closed "${organization}" through ${close.through}, at data version ${close.version}`;
      printResult(terminal, json, close, [head, ...describeMonths(close)].join('\n'));
    });
}

function reopenCommand(context: () => CommandContext): Command {
  return new Command('reopen')
    .description('reopens the close of a date and every later one; their figures stay')
    .requiredOption(...ORGANIZATION)
    .addOption(throughOption('the date of the close, YYYY-MM-DD'))
    .requiredOption('--reason <text>', 'the reason, which is kept with the close')
    .action(async ({ organization, through, reason }: { organization: string; through: LocalDate; reason: string }) => {
      const { terminal, json } = context();
      const result = await withServices(context(), async ({ organizations, periods, audit }) => {
        const { id } = await organizations.get(organization);
        return periods.reopen(id, through, reason, { name: audit.operator(id).username });
      });
      const { reopened, version, closedThrough } = result;
      const now = closedThrough === null ? 'nothing is closed now' : `closed through ${closedThrough} now`;
      printResult(terminal, json, result, `Reopened of "${organization}": ${reopened.join(', ')}, at data version ${version}; ${now}`);
    });
}

function listCommand(context: () => CommandContext): Command {
  return new Command('list')
    .description('lists the closes of an organization, the newest first, those that were reopened too')
    .requiredOption(...ORGANIZATION)
    .addOption(new Option('--limit <count>', 'number of closes to list').default(50).argParser(readCount))
    .action(async ({ organization, limit }: { organization: string; limit: number }) => {
      const { terminal, json } = context();
      const closes = await withServices(context(), async ({ organizations, periods, audit }) => {
        const { id } = await organizations.get(organization);
        // Notes may name somebody.
        return audit.accompany(audit.operator(id), audit.command('period list'), () => periods.newestCloses(id, limit));
      });
      const rows = closes.map((close) => [
        ...[close.through, String(close.version), close.closedAt.toISOString(), close.closedBy ?? ''],
        ...[String(close.months.length), close.reopenedAt?.toISOString() ?? '', toPrintable(close.reopenReason ?? close.note ?? '')],
      ]);
      printResult(terminal, json, closes, formatTable(['THROUGH', 'VERSION', 'CLOSED', 'BY', 'MONTHS', 'REOPENED', 'NOTE'], rows));
    });
}

function describeMonths({ months }: PeriodClose): string[] {
  if (months.length === 0) return ['No line has such a date'];
  const rows = months.map((month) => [
    ...[month.startDate, month.endDate, String(month.lines), String(month.transactions), String(month.deposits)],
    ...[month.lineAmount, month.transactionAmount, month.allocationAmount ?? '', String(month.unknownAllocations), month.digest],
  ]);
  return [formatTable(['FROM', 'TO', 'LINES', 'GIFTS', 'DEPOSITS', 'BY LINE', 'BY GIFT', 'BY SHARE', 'UNKNOWN', 'DIGEST'], rows)];
}
