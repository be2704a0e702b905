import { Command, Option } from 'commander';
import { REPORT_PRIVILEGE, type Privilege } from '../domain/privileges';
import { withServices, type CommandContext } from './command';
import { readPassword, formatTable, printResult } from './terminal';

const append = (value: string, earlier: readonly string[]): string[] => [...earlier, value];
const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';
const kinds = { web: 'WEB', mobile: 'MOBILE', api: 'API' } as const;

/** The commands that change what somebody was granted; `revoke` alone ends a provision. */
const grantCommands = [
  ['grant', 'grant'],
  ['revoke-grant', 'revoke'],
] as const;

const listPrivileges = (privileges: readonly string[]): string => (privileges.length > 0 ? privileges.join(' ') : 'no privileges');

const describeUse = (privileges: readonly Privilege[]): string =>
  privileges.includes(REPORT_PRIVILEGE)
    ? 'log in and read everything, donors included'
    : 'log in and read deposits and totals, but neither reports nor donors';

/** A word as a shell takes it. */
const quote = (word: string): string => (/^[\w.@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

/** `organization create | list | hosts | maintenance` */
export function organizationCommand(context: () => CommandContext): Command {
  const command = new Command('organization').description('the organizations whose deposits are served');
  command
    .command('create')
    .argument('<name>')
    .option('--host <name>', 'a host name it may be reached at; may be repeated, none means any', append, [])
    .action(async (name: string, { host }: { host: string[] }) => {
      const { terminal, json } = context();
      const { id, hosts } = await withServices(context(), ({ organizations }) => organizations.create(name, host));
      printResult(terminal, json, { id, name, hosts }, `Created organization "${name}"`);
    });
  command.command('list').action(async () => {
    const { terminal, json } = context();
    const list = await withServices(context(), ({ organizations }) => organizations.list());
    const result = list.map(({ id, name, hosts, underMaintenance }) => ({ id, name, hosts, underMaintenance }));
    const rows = result.map(({ name, hosts, underMaintenance }) => [name, hosts.join(' '), underMaintenance ? 'on' : 'off']);
    printResult(terminal, json, result, formatTable(['NAME', 'HOSTS', 'MAINTENANCE'], rows));
  });
  command
    .command('hosts')
    .description('says by which host names it may be reached, or changes them')
    .argument('<name>')
    .option('--host <name>', 'a host name it may be reached at from now on; may be repeated', append, [])
    .option('--any', 'lets it be reached at any host name', false)
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
    .argument('<name>')
    .argument('<state>', 'on or off')
    .action(async (name: string, state: string, _options: object, self: Command) => {
      if (state !== 'on' && state !== 'off') self.error(`error: the state is on or off, not '${state}'`);
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.setMaintenance(name, state === 'on'));
      printResult(terminal, json, { name, underMaintenance: state === 'on' }, `Maintenance of "${name}" is ${state}`);
    });
  return command;
}

/** `provision create | list | grant | revoke-grant | revoke` */
export function provisionCommand(context: () => CommandContext): Command {
  const command = new Command('provision').description('what applications identify themselves with');
  command
    .command('create')
    .requiredOption('--organization <name>')
    .addOption(
      new Option('--kind <kind>', 'web and mobile provisions are public, an api provision is a secret')
        .choices(Object.keys(kinds))
        .makeOptionMandatory(),
    )
    .option('--label <text>', 'what it is for', '')
    .option('--grant <privilege>', 'a further privilege; may be repeated', append, [])
    .action(async (options: { organization: string; kind: keyof typeof kinds; label: string; grant: string[] }) => {
      const { terminal, json } = context();
      const { organization, label, grant: grants } = options;
      const kind = kinds[options.kind];
      const provision = await withServices(context(), ({ organizations }) =>
        organizations.createProvision({ organization, kind, label, grants }),
      );
      printResult(terminal, json, { provision, organization, kind, label }, provision);
    });
  command.command('list').action(async () => {
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
  for (const [name, verb] of grantCommands) {
    command
      .command(name)
      .argument('<uuid>')
      .argument('<privilege...>')
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
    .argument('<uuid>')
    .action(async (uuid: string) => {
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.revokeProvision(uuid));
      printResult(terminal, json, { provision: uuid, revoked: true }, `Revoked ${uuid}`);
    });
  return command;
}

/** `user create | grant | revoke-grant | unlock | disable | list` */
export function userCommand(context: () => CommandContext): Command {
  const command = new Command('user').description('the people who may log in');
  command
    .command('create')
    .description('asks for the password, or takes it from standard input')
    .requiredOption('--organization <name>')
    .requiredOption('--username <name>')
    .option('--grant <privilege>', 'a further privilege; may be repeated', append, [])
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
  for (const [name, verb] of grantCommands) {
    command
      .command(name)
      .argument('<privilege...>')
      .requiredOption('--organization <name>')
      .requiredOption('--username <name>')
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
    .description('forgets the failed logins of a user')
    .requiredOption('--organization <name>')
    .requiredOption('--username <name>')
    .option('--address <address>', 'also lets the user log in from there, whatever others try elsewhere')
    .action(async ({ organization, username, address }: { organization: string; username: string; address?: string }) => {
      const { terminal, json } = context();
      await withServices(context(), async ({ organizations, logins }) =>
        logins.unlock(await organizations.getUser(organization, username), address),
      );
      printResult(terminal, json, { organization, username, unlocked: true }, `Unlocked user "${username}" of "${organization}"`);
    });
  command
    .command('disable')
    .requiredOption('--organization <name>')
    .requiredOption('--username <name>')
    .action(async ({ organization, username }: { organization: string; username: string }) => {
      const { terminal, json } = context();
      await withServices(context(), ({ organizations }) => organizations.disableUser(organization, username));
      printResult(terminal, json, { organization, username, disabled: true }, `Disabled user "${username}" of "${organization}"`);
    });
  command
    .command('list')
    .requiredOption('--organization <name>')
    .action(async ({ organization }: { organization: string }) => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ organizations }) => organizations.listUsers(organization));
      const result = list.map(({ username, privileges, createdAt, disabledAt }) => ({ username, privileges, createdAt, disabledAt }));
      const rows = result.map((row) => [row.username, day(row.disabledAt), row.privileges.join(' ')]);
      printResult(terminal, json, result, formatTable(['USERNAME', 'DISABLED', 'PRIVILEGES'], rows));
    });
  return command;
}
