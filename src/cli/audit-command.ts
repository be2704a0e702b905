import { Command, Option } from 'commander';
import { withServices, type CommandContext } from './command';
import { formatTable, printResult, readCount } from './terminal';

/** `audit`: lists the audit entries of an organization's exports. */
export function auditCommand(context: () => CommandContext): Command {
  return new Command('audit')
    .description('lists the exports of an organization, the newest first: time, user, report, number of lines and digest')
    .requiredOption('--organization <name>', 'name of the organization')
    .addOption(new Option('--limit <count>', 'number of exports to list').default(50).argParser(readCount))
    .action(async (options: { organization: string; limit: number }) => {
      const { terminal, json } = context();
      const entries = await withServices(context(), async ({ organizations, audit }) => {
        const { id } = await organizations.get(options.organization);
        return audit.list(id, options.limit);
      });
      const rows = entries.map((entry) => [
        entry.startedAt.toISOString(),
        entry.username ?? (entry.provision === null ? 'command line' : `provision ${entry.provision}…`),
        `${entry.report}.${entry.format}`,
        `${entry.startDate}/${entry.endDate}`,
        entry.outcome ?? 'not finished',
        String(entry.lines ?? ''),
        entry.digest ?? '',
      ]);
      printResult(terminal, json, entries, formatTable(['AT', 'WHO', 'WHAT', 'RANGE', 'OUTCOME', 'LINES', 'DIGEST'], rows));
    });
}
