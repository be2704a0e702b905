import { Argument, Command } from 'commander';
import type { V2Notice } from '../../data/access/organization-store';
import { describeV2Notice, toNoticeLink, toNoticeTime } from '../../domain/access/organization-service';
import { formatAnchor } from '../../formats/audit-row';
import { instantForms } from '../../values/dates';
import { withServices, type CommandContext } from '../command';
import { append, UsageError } from '../command-options';
import { formatTable, printResult } from '../terminal';

const months = Array.from({ length: 12 }, (_, index) => String(index + 1));

/** `organization create | list | rename | hosts | maintenance | fiscal-year | time-zone | currency | v2 | delete`: manages organizations. */
export function organizationCommand(context: () => CommandContext): Command {
  const command = new Command('organization');
  command
    .command('create')
    .description('creates an organization')
    .argument('<name>', 'name of the organization, such as "Hope Foundation"')
    .option('--host <name>', 'host name that the organization is served at; may be repeated; any host name when it is missing', append, [])
    .option('--currency <code>', 'currency of its amounts (ISO 4217), such as EUR; amounts are shown without one when it is missing')
    .action(async (name: string, { host, currency: code }: { host: string[]; currency?: string }) => {
      const { terminal, json } = context();
      const { id, hosts, currency } = await withServices(context(), ({ organizations }) => organizations.create(name, host, code));
      printResult(terminal, json, { id, name, hosts, currency }, `Created organization "${name}"`);
    });
  command
    .command('list')
    .description('lists the organizations, their host names, whether they are under maintenance, their time zones and currencies')
    .action(async () => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ organizations }) => organizations.list());
      const result = list.map(({ id, name, hosts, underMaintenance, fiscalYearStart, timeZone, currency }) => ({
        id,
        name,
        hosts,
        underMaintenance,
        fiscalYearStart,
        timeZone,
        currency,
      }));
      const rows = result.map(({ name, hosts, underMaintenance, timeZone, currency }) => [
        name,
        hosts.join(' '),
        underMaintenance ? 'on' : 'off',
        timeZone,
        currency ?? '',
      ]);
      printResult(terminal, json, result, formatTable(['NAME', 'HOSTS', 'MAINTENANCE', 'TIME ZONE', 'CURRENCY'], rows));
    });
  command
    .command('hosts')
    .description('prints the host names that an organization is served at, or replaces them')
    .argument('<name>', 'name of the organization')
    .option('--host <name>', 'host name that replaces the earlier ones; may be repeated', append, [])
    .option('--any', 'serves the organization at any host name again', false)
    .action(async (name: string, { host, any }: { host: string[]; any: boolean }, self: Command) => {
      if (any && host.length > 0) self.error("error: option '--any' cannot be used with option '--host <name>'");
      const { terminal, json } = context();
      const hosts = await withServices(context(), async ({ organizations }) =>
        any || host.length > 0 ? organizations.setHosts(name, host) : (await organizations.get(name)).hosts,
      );
      printResult(terminal, json, { name, hosts }, `"${name}" is reached at ${hosts.length > 0 ? hosts.join(', ') : 'any host'}`);
    });
  command
    .command('maintenance')
    .description('answers "Under maintenance" to every request of an organization, or stops doing so')
    .argument('<name>', 'name of the organization')
    .addArgument(new Argument('<state>', 'whether requests are answered so').choices(['on', 'off']))
    .action(async (name: string, state: string) => {
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.setMaintenance(name, state === 'on'));
      printResult(terminal, json, { name, underMaintenance: state === 'on' }, `Maintenance of "${name}" is ${state}`);
    });
  command
    .command('fiscal-year')
    .description('sets the month with which the fiscal year of an organization begins, for named periods')
    .argument('<name>', 'name of the organization')
    .addArgument(new Argument('<month>', 'number of the month').choices(months))
    .action(async (name: string, month: string) => {
      const { terminal, json } = context();
      const fiscalYearStart = Number(month);
      await withServices(context(), ({ organizations }) => organizations.setFiscalYear(name, fiscalYearStart));
      const result = { name, fiscalYearStart };
      printResult(terminal, json, result, `The fiscal year of "${name}" begins with month ${month}`);
    });
  command
    .command('time-zone')
    .description('sets the time zone in which the days of an organization begin, for named periods such as last-month')
    .argument('<name>', 'name of the organization')
    .argument('<zone>', 'IANA name of the time zone, such as America/New_York')
    .action(async (name: string, timeZone: string) => {
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.setTimeZone(name, timeZone));
      printResult(terminal, json, { name, timeZone }, `The days of "${name}" begin at midnight in ${timeZone}`);
    });
  command
    .command('currency')
    .description('sets the currency that the amounts of an organization are shown with; no amount is converted')
    .argument('<name>', 'name of the organization')
    .argument('<code>', 'code of the currency (ISO 4217), such as EUR, or none')
    .action(async (name: string, code: string) => {
      const { terminal, json } = context();
      const currency = code === 'none' ? null : code;
      await withServices(context(), ({ organizations }) => organizations.setCurrency(name, currency));
      printResult(
        terminal,
        json,
        { name, currency },
        `The amounts of "${name}" are shown ${currency === null ? 'without a currency' : `in ${code}`}`,
      );
    });
  addV2Command(command, context);
  command
    .command('rename')
    .description('gives an organization another name; nothing else changes')
    .argument('<name>', 'name of the organization')
    .argument('<new-name>', 'its new name')
    .action(async (name: string, newName: string) => {
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.rename(name, newName));
      printResult(terminal, json, { name: newName, earlierName: name }, `Renamed "${name}" to "${newName}"`);
    });
  command
    .command('delete')
    .description('deletes an organization for good: its books, provisions, users, saved reports and audit')
    .argument('<name>', 'name of the organization')
    .requiredOption('--confirm <name>', 'the name once more')
    .action(async (name: string, { confirm }: { confirm: string }) => {
      const { terminal, json } = context();
      const deleted = await withServices(context(), ({ organizations }) => organizations.delete(name, confirm));
      const counts = `${deleted.transactions} transactions, ${deleted.provisions} provisions, ${deleted.users} users`;
      const anchor = deleted.audit ? `; the last anchor of its audit was ${formatAnchor(deleted.audit)}` : '';
      printResult(terminal, json, { name, deleted }, `Deleted organization "${name}": ${counts}${anchor}`);
    });
  return command;
}

interface V2Options {
  readonly deprecatedAt?: string;
  readonly sunsetAt?: string;
  readonly link?: string;
  readonly none: boolean;
}

const NO_NOTICE: V2Notice = { v2DeprecatedAt: null, v2SunsetAt: null, v2MigrationLink: null };

/** The command that prints an organization's own values for the end of v2, or changes them. */
function addV2Command(command: Command, context: () => CommandContext): void {
  command
    .command('v2')
    .description("prints the organization's own values for the end of v2, or changes them; the settings have the rest")
    .argument('<name>', 'name of the organization')
    .option('--deprecated-at <when>', `time since which v2 is deprecated: ${instantForms.join(' or ')}`)
    .option('--sunset-at <when>', 'time from which v2 may be gone, in the same forms')
    .option('--link <url>', 'page that says how to leave v2')
    .option('--none', 'takes all of it back, so that the settings tell everything again', false)
    .action(async (name: string, { deprecatedAt, sunsetAt, link, none }: V2Options) => {
      const change: Partial<V2Notice> = {
        ...(deprecatedAt !== undefined && { v2DeprecatedAt: toNoticeTime(deprecatedAt) }),
        ...(sunsetAt !== undefined && { v2SunsetAt: toNoticeTime(sunsetAt) }),
        ...(link !== undefined && { v2MigrationLink: toNoticeLink(link) }),
      };
      const isChange = Object.keys(change).length > 0;
      if (none && isChange) throw new UsageError('--none cannot be used with --deprecated-at, --sunset-at or --link');
      const { terminal, json } = context();
      const notice = await withServices(context(), ({ organizations }) =>
        none || isChange ? organizations.setV2Notice(name, none ? NO_NOTICE : change) : organizations.get(name),
      );
      const { v2DeprecatedAt, v2SunsetAt, v2MigrationLink } = notice;
      const result = { name, deprecatedAt: v2DeprecatedAt, sunsetAt: v2SunsetAt, link: v2MigrationLink };
      printResult(terminal, json, result, `Stored for the end of v2 of "${name}": ${describeV2Notice(notice)}`);
    });
}
