import { Command, Option } from 'commander';
import { readPassword, formatTable, printResult } from './terminal';
import { withServices, type CommandContext } from './command';

const append = (value: string, earlier: readonly string[]): string[] => [...earlier, value];
const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';
const kinds = { web: 'WEB', mobile: 'MOBILE', api: 'API' } as const;

/** `organization create | list | maintenance` */
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

/** `provision create | list | revoke` */
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

/** `user create | disable | list` */
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
      await withServices(context(), ({ organizations }) => organizations.createUser({ organization, username, password, grants }));
      printResult(terminal, json, { organization, username }, `Created user "${username}" in "${organization}"`);
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
