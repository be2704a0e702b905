import { Argument, Command, Option } from 'commander';
import type { ProvisionRow } from '../../data/access/provision-store';
import { DEFAULT_DAYS } from '../../domain/access/usage-service';
import { describeProvision, EXPIRY_FORMS, toBoundPath, toExpiry, toSpanMs } from '../../domain/access/provision-bounds';
import { withServices, type CommandContext } from '../command';
import { append, grantCommands, grantOption, listPrivileges, ORGANIZATION, privilegesArgument, UsageError } from '../command-options';
import { day, formatTable, printResult, readCount } from '../terminal';

const kinds = { web: 'WEB', mobile: 'MOBILE', api: 'API' } as const;
const NEVER = 'never';
const DEFAULT_OVERLAP = '7d';

const PROVISION = ['<provision>', 'its number, the first eight characters of its UUID, or the whole UUID'] as const;
const ADDRESS = '--address <network>';
const ADDRESS_MEANING = 'IP address or network in CIDR notation that callers come from; may be repeated';
const REPORT = '--report <name>';
const REPORT_MEANING = 'saved report that the api provision opens, and nothing else; may be repeated; schema.graphql is the schema';

interface CreateOptions {
  readonly organization: string;
  readonly kind: keyof typeof kinds;
  readonly label: string;
  readonly grant: string[];
  readonly expires?: string;
  readonly address: string[];
  readonly report: string[];
}

/** The parts of a provision that are no secret, in the form of JSON. */
const toResult = ({ id, keys, organization, kind, label, ...provision }: ProvisionRow) => ({
  number: id,
  provision: keys[0]!.firstCharacters,
  organization: organization.name,
  kind,
  label,
  privileges: provision.privileges,
  addresses: provision.addresses,
  reports: provision.reports,
  createdAt: provision.createdAt,
  lastUsedAt: provision.lastUsedAt,
  expiresAt: provision.expiresAt,
  revokedAt: provision.revokedAt,
  // The keys that a rotation has replaced, and that are good for a while.
  replaced: keys.slice(1).map(({ firstCharacters, expiresAt }) => ({ provision: firstCharacters, expiresAt })),
});

/** `provision create | list | label | grant | revoke-grant | expire | addresses | reports | rotate | revoke`: manages provisions. */
export function provisionCommand(context: () => CommandContext): Command {
  const command = new Command('provision');
  command
    .command('create')
    .description('creates a provision and prints its UUID, which is shown this once')
    .requiredOption(...ORGANIZATION)
    .addOption(
      new Option('--kind <kind>', 'web and mobile provisions are public, an api provision is a secret')
        .choices(Object.keys(kinds))
        .makeOptionMandatory(),
    )
    .option('--label <text>', 'note on the purpose of the provision, such as reporting', '')
    .addOption(grantOption('provision'))
    .option('--expires <when>', `time from which it is refused: ${EXPIRY_FORMS}; never when it is missing`)
    .addOption(new Option(ADDRESS, ADDRESS_MEANING).default([], 'any').argParser(append))
    .addOption(new Option(REPORT, REPORT_MEANING).default([], 'not bound').argParser(append))
    .action(async ({ organization, label, grant: grants, expires, address: addresses, report: reports, ...options }: CreateOptions) => {
      const { terminal, json } = context();
      const kind = kinds[options.kind];
      const expiresAt = expires === undefined ? null : toExpiry(expires);
      const provision = await withServices(context(), ({ provisions }) =>
        provisions.create({ organization, kind, label, grants, bounds: { expiresAt, addresses, reports } }),
      );
      printResult(terminal, json, { provision, organization, kind, label, expiresAt, addresses, reports }, provision);
    });
  command
    .command('list')
    .description('lists the provisions of all organizations by their first characters, with their bounds and privileges')
    .action(async () => {
      const { terminal, json } = context();
      const result = (await withServices(context(), ({ provisions }) => provisions.list())).map(toResult);
      const rows = result.map((row) => [
        ...[String(row.number), row.provision, row.organization, row.kind, row.label],
        ...[day(row.lastUsedAt), day(row.expiresAt), day(row.revokedAt)],
        [...row.addresses, ...row.reports.map(toBoundPath)].join(' '),
        row.privileges.join(' '),
      ]);
      const header = ['NUMBER', 'PROVISION', 'ORGANIZATION', 'KIND', 'LABEL', 'LAST USED', 'EXPIRES', 'REVOKED', 'BOUND TO', 'PRIVILEGES'];
      printResult(terminal, json, result, formatTable(header, rows));
    });
  const printChanged = (provision: ProvisionRow, text: string): void => {
    const { terminal, json } = context();
    printResult(terminal, json, toResult(provision), text);
  };
  command
    .command('label')
    .description('replaces the note on the purpose of a provision')
    .argument(...PROVISION)
    .argument('<text>', 'note on the purpose of the provision')
    .action(async (name: string, label: string) => {
      const provision = await withServices(context(), ({ provisions }) => provisions.label(name, label));
      printChanged(provision, `Provision ${describeProvision(provision)} is "${label}"`);
    });
  for (const [name, verb, description] of grantCommands) {
    command
      .command(name)
      .description(description)
      .argument(...PROVISION)
      .addArgument(privilegesArgument())
      .action(async (provision: string, words: string[]) => {
        const changed = await withServices(context(), async ({ provisions }) => {
          const privileges = await provisions.changeGrants(provision, { verb, privileges: words });
          return { ...(await provisions.get(provision)), privileges };
        });
        printChanged(changed, `Provision ${describeProvision(changed)} has ${listPrivileges(changed.privileges)}`);
      });
  }
  command
    .command('expire')
    .description('sets the time from which a provision is refused')
    .argument(...PROVISION)
    .argument('<when>', `${EXPIRY_FORMS}, or ${NEVER}`)
    .action(async (name: string, when: string) => {
      const expiresAt = when === NEVER ? null : toExpiry(when);
      const provision = await withServices(context(), ({ provisions }) => provisions.expire(name, expiresAt));
      printChanged(provision, `Provision ${describeProvision(provision)} expires ${expiresAt?.toISOString() ?? NEVER}`);
    });
  addBindCommands(command, context, printChanged);
  command
    .command('rotate')
    .description('gives a provision a new UUID and prints it, this once; the earlier one stays good for a while')
    .argument(...PROVISION)
    .option('--overlap <span>', 'time for which the earlier UUID stays good, such as 7d, 12h or 30m; 0 ends it at once', DEFAULT_OVERLAP)
    .action(async (name: string, { overlap }: { overlap: string }) => {
      const { terminal, json } = context();
      const overlapMs = toSpanMs(overlap);
      const { uuid, provision, overlapEnd } = await withServices(context(), ({ provisions }) => provisions.rotate(name, overlapMs));
      printResult(terminal, json, { provision: uuid, number: provision.id, earlierExpiresAt: overlapEnd }, uuid);
      const note = `The earlier UUID of provision ${describeProvision(provision)} is good until ${overlapEnd.toISOString()}`;
      if (!json && terminal.errors.isTTY) terminal.errors.write(`${note}\n`);
    });
  command
    .command('revoke')
    .description('ends a provision for good')
    .argument(...PROVISION)
    .action(async (name: string) => {
      const { terminal, json } = context();
      const provision = await withServices(context(), ({ provisions }) => provisions.revoke(name));
      const result = { number: provision.id, provision: provision.keys[0]!.firstCharacters, revoked: true };
      printResult(terminal, json, result, `Revoked provision ${describeProvision(provision)}`);
    });
  return command;
}

/** The commands that print the bounds of a provision, or replace them. */
function addBindCommands(command: Command, context: () => CommandContext, print: (provision: ProvisionRow, text: string) => void): void {
  command
    .command('addresses')
    .description('prints the networks that callers of a provision come from, or replaces them')
    .addArgument(new Argument(...PROVISION))
    .addOption(new Option(ADDRESS, ADDRESS_MEANING).default([], 'unchanged').argParser(append))
    .option('--any', 'lets callers come from anywhere again', false)
    .action(async (name: string, { address, any }: { address: string[]; any: boolean }) => {
      assertOne(any, '--any', address, ADDRESS);
      const provision = await withServices(context(), ({ provisions }) =>
        any || address.length > 0 ? provisions.bindToAddresses(name, address) : provisions.get(name),
      );
      const { addresses } = provision;
      print(
        provision,
        `Provision ${describeProvision(provision)} is good at ${addresses.length > 0 ? addresses.join(', ') : 'any address'}`,
      );
    });
  command
    .command('reports')
    .description('prints the saved reports that an api provision is bound to, or replaces them; it then opens their files and nothing else')
    .addArgument(new Argument(...PROVISION))
    .addOption(new Option(REPORT, REPORT_MEANING).default([], 'unchanged').argParser(append))
    .option('--unbound', 'lets the provision open all that its privileges open', false)
    .action(async (name: string, { report, unbound }: { report: string[]; unbound: boolean }) => {
      assertOne(unbound, '--unbound', report, REPORT);
      const provision = await withServices(context(), ({ provisions }) =>
        unbound || report.length > 0 ? provisions.bindToReports(name, report) : provisions.get(name),
      );
      const { reports } = provision;
      const text = reports.length > 0 ? `opens ${reports.join(', ')} alone` : 'is not bound to reports';
      print(provision, `Provision ${describeProvision(provision)} ${text}`);
    });
}

function assertOne(flag: boolean, flagName: string, values: readonly string[], option: string): void {
  if (flag && values.length > 0) throw new UsageError(`${flagName} cannot be used with ${option}`);
}

const USAGE_COLUMNS = ['ORGANIZATION', 'PROVISION', 'LABEL', 'PATH', 'USER AGENT', 'REQUESTS', 'ERRORS', 'LINES', 'LAST USE'];

/** `usage`: shows who calls v2. */
export function usageCommand(context: () => CommandContext): Command {
  return new Command('usage')
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
      printResult(terminal, json, rows, formatTable(USAGE_COLUMNS, cells));
    });
}
