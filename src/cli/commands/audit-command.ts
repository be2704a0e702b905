import { Command, InvalidArgumentError, Option } from 'commander';
import type { AuditEntry } from '../../data/audit/audit-store';
import { OperatorError } from '../../errors';
import { toProvisionStart } from '../../domain/audit/audit-service';
import { describeFault } from '../../domain/audit/audit-verification';
import {
  auditDoors,
  auditKinds,
  formatAnchor,
  parseAnchor,
  type AuditDoor,
  type AuditKind,
  type ChainPlace,
} from '../../formats/audit-row';
import { isByTransactionDate } from '../../formats/line-conditions';
import type { LocalDate } from '../../values/dates';
import { withServices, type CommandContext } from '../command';
import { readDate } from '../command-options';
import { formatTable, printResult, readCount } from '../terminal';

interface ListOptions {
  readonly organization: string;
  readonly from?: LocalDate;
  readonly to?: LocalDate;
  readonly user?: string;
  readonly provision?: string;
  readonly start?: LocalDate;
  readonly end?: LocalDate;
  readonly kind?: AuditKind;
  readonly door?: AuditDoor;
  readonly limit: number;
}

/** `audit list | verify | anchor`: shows who read what, and proves that no row was changed. `audit` alone lists. */
export function auditCommand(context: () => CommandContext): Command {
  const command = new Command('audit');
  command
    .command('list', { isDefault: true })
    .description('lists readings, files, logins, refusals and changes of rights, the newest first')
    .requiredOption('--organization <name>', 'name of the organization')
    .option('--from <date>', 'first day of the list (UTC), YYYY-MM-DD', readDate)
    .option('--to <date>', 'last day of the list (UTC), YYYY-MM-DD', readDate)
    .option('--user <name>', 'user who has read')
    .option('--provision <uuid>', 'provision, or its first eight characters')
    .option('--start <date>', 'readings of deposits on this day or later, YYYY-MM-DD', readDate)
    .option('--end <date>', 'readings of deposits on this day or earlier, YYYY-MM-DD', readDate)
    .addOption(new Option('--kind <kind>', 'kind of the rows').choices(auditKinds))
    .addOption(new Option('--door <door>', 'way into the gateway').choices(auditDoors))
    .addOption(new Option('--limit <count>', 'number of rows to list').default(50).argParser(readCount))
    .action(async (options: ListOptions) => {
      const { terminal, json } = context();
      const entries = await withServices(context(), async ({ organizations, audit }) => {
        const { id } = await organizations.get(options.organization);
        // The list tells digests, which are personal data. It begins with the row of its own reading.
        return audit.accompany(audit.operator(id), audit.command('audit list'), () => audit.list(toList(id, options), options.limit));
      });
      printResult(terminal, json, entries, formatTable(COLUMNS, entries.map(toRow)));
    });
  command
    .command('verify')
    .description('compares every row with the chain of hashes; fails and names the first row that was changed, added or taken out')
    .requiredOption('--organization <name>', 'name of the organization')
    .option('--anchor <number:hash>', 'a place that `audit anchor` printed earlier', readAnchor)
    .action(async ({ organization, anchor }: { organization: string; anchor?: ChainPlace }) => {
      const { terminal, json } = context();
      const { rows, ends, fault } = await withServices(context(), async ({ organizations, audit }) => {
        const { id } = await organizations.get(organization);
        return audit.verify(id, anchor);
      });
      const newest = ends && formatAnchor(ends.newest);
      const result = { organization, rows, newest, deletedUpTo: ends?.anchor.number ?? 0, fault };
      printResult(
        terminal,
        json,
        result,
        fault ? '' : `${organization}: ${rows} rows are as they were written; the newest is ${newest ?? 'none'}`,
      );
      if (fault) throw new OperatorError(`${organization}: ${describeFault(fault)}`);
    });
  command
    .command('anchor')
    .description('prints the number and the hash of the newest row, to be kept where nobody can change both')
    .requiredOption('--organization <name>', 'name of the organization')
    .action(async ({ organization }: { organization: string }) => {
      const { terminal, json } = context();
      const place = await withServices(context(), async ({ organizations, audit }) =>
        audit.anchor((await organizations.get(organization)).id),
      );
      if (!place) throw new OperatorError(`The audit of "${organization}" has no row yet`);
      printResult(terminal, json, { organization, ...place }, formatAnchor(place));
    });
  return command;
}

/** The names of the ways by which operators come. */
const OPERATOR_DOORS: Readonly<Partial<Record<AuditDoor, string>>> = { command: 'command line', operators: "operators' door" };

const COLUMNS = ['AT', 'WHO', 'FROM', 'KIND', 'DOOR', 'WHAT', 'RANGE', 'READS', 'OUTCOME', 'LINES', 'DIGEST'];
const MS_PER_DAY = 86_400_000;

function toWho({ username, provision, door }: AuditEntry): string {
  const operators = OPERATOR_DOORS[door];
  if (operators !== undefined) return username === null ? operators : `${username} (${operators})`;
  return username ?? (provision === null ? 'gateway' : `provision ${provision}…`);
}

function toRow(entry: AuditEntry): string[] {
  const { kind, door, operation, startDate, endDate, conditions, subject, detail } = entry;
  const basis = isByTransactionDate(conditions) ? ' (some by transaction date)' : '';
  const isReading = kind === 'read' || kind === 'file';
  return [
    entry.startedAt.toISOString(),
    toWho(entry),
    ...[entry.address ?? '', kind, door],
    [operation || '(no name)', subject ?? '', detail ?? ''].filter((text) => text !== '').join(' '),
    startDate === null && endDate === null ? '' : `${startDate ?? ''}/${endDate ?? ''}${basis}`,
    String(entry.reads ?? ''),
    isReading ? (entry.outcome ?? 'not finished') : '',
    String(entry.lines ?? ''),
    entry.digest ?? '',
  ];
}

function toList(organizationId: number, { from, to, user, provision, start, end, kind, door }: ListOptions) {
  return {
    organizationId,
    isDescending: true,
    username: user,
    startDate: start,
    endDate: end,
    provision: provision === undefined ? undefined : toProvisionStart(provision.toLowerCase()),
    kinds: kind && [kind],
    doors: door && [door],
    from: from === undefined ? undefined : new Date(from),
    before: to === undefined ? undefined : new Date(new Date(to).getTime() + MS_PER_DAY),
  };
}

function readAnchor(text: string): ChainPlace {
  const place = parseAnchor(text);
  if (!place) throw new InvalidArgumentError('It must be what `audit anchor` prints.');
  return place;
}
