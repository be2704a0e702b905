import { Command, Option } from 'commander';
import { toCommand, toOperator } from '../domain/audit-service';
import { REPORT_PRIVILEGE, type Privilege } from '../domain/privileges';
import { withServices, type CommandContext } from './command';
import { readPassword, formatTable, printResult } from './terminal';

const append = (value: string, earlier: readonly string[]): string[] => [...earlier, value];
const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';
const kinds = { web: 'WEB', mobile: 'MOBILE', api: 'API' } as const;

/** The commands that change granted privileges. The word for taking one back is `revoke-grant`, because `revoke` ends a provision. */
const grantCommands = [
  ['grant', 'grant', 'grants further privileges'],
  ['revoke-grant', 'revoke', 'takes privileges back'],
] as const;

const listPrivileges = (privileges: readonly string[]): string => (privileges.length > 0 ? privileges.join(' ') : 'no privileges');

const describeUse = (privileges: readonly Privilege[]): string =>
  privileges.includes(REPORT_PRIVILEGE)
    ? 'log in and read everything, donors included'
    : 'log in and read deposits and totals, but neither reports nor donors';

/** A word quoted for a POSIX shell. */
const quote = (word: string): string => (/^[\w.@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

/** `organization create | list | hosts | maintenance | fiscal-year`: manages organizations. */
export function organizationCommand(context: () => CommandContext): Command {
  const command = new Command('organization').description('the organizations whose deposits are served');
  command
    .command('create')
    .description('creates an organization')
    .argument('<name>', 'name of the organization, such as "Hope Foundation"')
    .option('--host <name>', 'host name that the organization is served at; may be repeated; any host name when it is missing', append, [])
    .action(async (name: string, { host }: { host: string[] }) => {
      const { terminal, json } = context();
      const { id, hosts } = await withServices(context(), ({ organizations }) => organizations.create(name, host));
      printResult(terminal, json, { id, name, hosts }, `Created organization "${name}"`);
    });
  command
    .command('list')
    .description('lists the organizations, their host names, and whether they are under maintenance')
    .action(async () => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ organizations }) => organizations.list());
      const result = list.map(({ id, name, hosts, underMaintenance, fiscalYearStart }) => ({
        ...{ id, name, hosts, underMaintenance, fiscalYearStart },
      }));
      const rows = result.map(({ name, hosts, underMaintenance }) => [name, hosts.join(' '), underMaintenance ? 'on' : 'off']);
      printResult(terminal, json, result, formatTable(['NAME', 'HOSTS', 'MAINTENANCE'], rows));
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
    .argument('<state>', 'on or off')
    .action(async (name: string, state: string, _options: object, self: Command) => {
      if (state !== 'on' && state !== 'off') self.error(`error: the state is on or off, not '${state}'`);
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.setMaintenance(name, state === 'on'));
      printResult(terminal, json, { name, underMaintenance: state === 'on' }, `Maintenance of "${name}" is ${state}`);
    });
  command
    .command('fiscal-year')
    .description('sets the month with which the fiscal year of an organization begins, for the periods of the Playground')
    .argument('<name>', 'name of the organization')
    .argument('<month>', 'number of the month, from 1 to 12')
    .action(async (name: string, month: string, _options: object, self: Command) => {
      if (!/^([1-9]|1[0-2])$/.test(month)) self.error(`error: the month is a number from 1 to 12, not '${month}'`);
      const { terminal, json } = context();
      const fiscalYearStart = Number(month);
      await withServices(context(), ({ organizations }) => organizations.setFiscalYear(name, fiscalYearStart));
      const result = { name, fiscalYearStart };
      printResult(terminal, json, result, `The fiscal year of "${name}" begins with month ${month}`);
    });
  return command;
}

/** `provision create | list | grant | revoke-grant | revoke`: manages provisions and their privileges. */
export function provisionCommand(context: () => CommandContext): Command {
  const command = new Command('provision').description(
    'the provisions: identifiers (UUIDs) that applications send in the header Provision',
  );
  command
    .command('create')
    .description('creates a provision and prints its UUID')
    .requiredOption('--organization <name>', 'name of the organization')
    .addOption(
      new Option('--kind <kind>', 'web and mobile provisions are public, an api provision is a secret')
        .choices(Object.keys(kinds))
        .makeOptionMandatory(),
    )
    .option('--label <text>', 'note on the purpose of the provision, such as reporting', '')
    .option('--grant <privilege>', 'privilege beside those that every provision has; may be repeated', append, [])
    .action(async (options: { organization: string; kind: keyof typeof kinds; label: string; grant: string[] }) => {
      const { terminal, json } = context();
      const { organization, label, grant: grants } = options;
      const kind = kinds[options.kind];
      const provision = await withServices(context(), ({ organizations }) =>
        organizations.createProvision({ organization, kind, label, grants }),
      );
      printResult(terminal, json, { provision, organization, kind, label }, provision);
    });
  command
    .command('list')
    .description('lists the provisions of all organizations and their privileges')
    .action(async () => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ organizations }) => organizations.listProvisions());
      const result = list.map(({ id, organization, kind, label, privileges, createdAt, lastUsedAt, revokedAt }) => ({
        provision: id,
        organization: organization.name,
        kind,
        label,
        privileges,
        createdAt,
        lastUsedAt,
        revokedAt,
      }));
      const rows = result.map((row) => [
        row.provision,
        row.organization,
        row.kind,
        row.label,
        day(row.lastUsedAt),
        day(row.revokedAt),
        row.privileges.join(' '),
      ]);
      printResult(
        terminal,
        json,
        result,
        formatTable(['PROVISION', 'ORGANIZATION', 'KIND', 'LABEL', 'LAST USED', 'REVOKED', 'PRIVILEGES'], rows),
      );
    });
  for (const [name, verb, description] of grantCommands) {
    command
      .command(name)
      .description(description)
      .argument('<uuid>', 'the provision')
      .argument('<privilege...>', 'one or more privileges')
      .action(async (uuid: string, words: string[]) => {
        const { terminal, json } = context();
        const privileges = await withServices(context(), ({ organizations }) =>
          organizations.changeProvisionGrants(uuid, { verb, privileges: words }),
        );
        printResult(terminal, json, { provision: uuid, privileges }, `${uuid} has ${listPrivileges(privileges)}`);
      });
  }
  command
    .command('revoke')
    .description('ends a provision for good')
    .argument('<uuid>', 'the provision')
    .action(async (uuid: string) => {
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.revokeProvision(uuid));
      printResult(terminal, json, { provision: uuid, revoked: true }, `Revoked ${uuid}`);
    });
  return command;
}

/** `user create | grant | revoke-grant | unlock | disable | list`: manages users and their privileges. */
export function userCommand(context: () => CommandContext): Command {
  const command = new Command('user').description('the users of an organization, who log in with a name and a password');
  command
    .command('create')
    .description('creates a user; asks for the password, or reads it from standard input')
    .requiredOption('--organization <name>', 'name of the organization')
    .requiredOption('--username <name>', 'name that the user logs in with')
    .option('--grant <privilege>', 'privilege beside those that every user has; may be repeated', append, [])
    .action(async ({ organization, username, grant: grants }: { organization: string; username: string; grant: string[] }) => {
      const { terminal, json } = context();
      const password = await readPassword(terminal);
      const privileges = await withServices(context(), ({ organizations }) =>
        organizations.createUser({ organization, username, password, grants }),
      );
      const text = `Created user "${username}" in "${organization}", who may ${describeUse(privileges)}`;
      const hint = ['deposit-gateway user grant --organization', quote(organization), '--username', quote(username), REPORT_PRIVILEGE];
      const mayReport = privileges.includes(REPORT_PRIVILEGE);
      printResult(terminal, json, { organization, username }, mayReport ? text : `${text}; to grant it: ${hint.join(' ')}`);
    });
  for (const [name, verb, description] of grantCommands) {
    command
      .command(name)
      .description(description)
      .argument('<privilege...>', 'one or more privileges')
      .requiredOption('--organization <name>', 'name of the organization')
      .requiredOption('--username <name>', 'name that the user logs in with')
      .action(async (words: string[], { organization, username }: { organization: string; username: string }) => {
        const { terminal, json } = context();
        const privileges = await withServices(context(), ({ organizations }) =>
          organizations.changeUserGrants(organization, username, { verb, privileges: words }),
        );
        const text = `User "${username}" of "${organization}" has ${listPrivileges(privileges)}`;
        printResult(terminal, json, { organization, username, privileges }, text);
      });
  }
  command
    .command('unlock')
    .description('forgets the failed logins of a user, who may then log in again at once')
    .requiredOption('--organization <name>', 'name of the organization')
    .requiredOption('--username <name>', 'name that the user logs in with')
    .option('--address <address>', 'IP address from which the user can log in even while others guess the password elsewhere')
    .action(async ({ organization, username, address }: { organization: string; username: string; address?: string }) => {
      const { terminal, json } = context();
      await withServices(context(), async ({ organizations, logins, audit }) => {
        const user = await organizations.getUser(organization, username);
        const subject = `user ${username}`;
        await audit.record(toOperator(user.organizationId), toCommand('user unlock'), { kind: 'rights', subject });
        await logins.unlock(user, address);
      });
      printResult(terminal, json, { organization, username, unlocked: true }, `Unlocked user "${username}" of "${organization}"`);
    });
  command
    .command('disable')
    .description('disables a user for good; open sessions are refused from then on')
    .requiredOption('--organization <name>', 'name of the organization')
    .requiredOption('--username <name>', 'name that the user logs in with')
    .action(async ({ organization, username }: { organization: string; username: string }) => {
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.disableUser(organization, username));
      printResult(terminal, json, { organization, username, disabled: true }, `Disabled user "${username}" of "${organization}"`);
    });
  command
    .command('list')
    .description('lists the users of an organization and their privileges')
    .requiredOption('--organization <name>', 'name of the organization')
    .action(async ({ organization }: { organization: string }) => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ organizations }) => organizations.listUsers(organization));
      const result = list.map(({ username, privileges, createdAt, disabledAt }) => ({ username, privileges, createdAt, disabledAt }));
      const rows = result.map((row) => [row.username, day(row.disabledAt), row.privileges.join(' ')]);
      printResult(terminal, json, result, formatTable(['USERNAME', 'DISABLED', 'PRIVILEGES'], rows));
    });
  return command;
}
