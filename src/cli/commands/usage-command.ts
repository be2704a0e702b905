import { Command, Option } from 'commander';
import { DEFAULT_DAYS } from '../../domain/access/usage-service';
import { withServices, type CommandContext } from '../command';
import { formatTable, printResult, readCount } from '../terminal';

const COLUMNS = ['ORGANIZATION', 'PROVISION', 'LABEL', 'PATH', 'USER AGENT', 'REQUESTS', 'ERRORS', 'LINES', 'LAST USE'];

/** `usage`: shows who calls v2. */
export function usageCommand(context: () => CommandContext): Command {
  return new Command('usage')
    .description('shows who calls v2: requests, errors and lines of each provision, path and user agent, the newest use first')
    .option('--organization <name>', 'name of the organization; all when it is missing')
    .addOption(new Option('--days <count>', 'number of days up to today, in UTC').default(DEFAULT_DAYS).argParser(readCount))
    .action(async ({ organization, days }: { organization?: string; days: number }) => {
      const { terminal, json } = context();
      const rows = await withServices(context(), ({ usage }) => usage.list(organization, days));
      const cells = rows.map((row) => [
        ...[row.organization, row.provision, row.label, row.path, row.userAgent || '(none)'],
        ...[row.requests, row.errors, row.lines].map(String),
        row.lastUsedAt.toISOString(),
      ]);
      printResult(terminal, json, rows, formatTable(COLUMNS, cells));
    });
}
