import { Command } from 'commander';
import { REPORT_PRIVILEGE, type Privilege } from '../../values/privileges';
import { withServices, type CommandContext } from '../command';
import { grantCommands, grantOption, listPrivileges, ORGANIZATION, privilegesArgument, USERNAME } from '../command-options';
import { day, formatTable, printResult, readNewPassword } from '../terminal';

const describeUse = (privileges: readonly Privilege[]): string =>
  privileges.includes(REPORT_PRIVILEGE)
    ? 'log in and read everything, donors included'
    : 'log in and read deposits and totals, but neither reports nor donors';

/** A word quoted for a POSIX shell. */
const quote = (word: string): string => (/^[\w.@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

interface UserName {
  readonly organization: string;
  readonly username: string;
}

/** `user create | grant | revoke-grant | password | email | disable | enable | delete | list`: manages users and their privileges. */
export function userCommand(context: () => CommandContext): Command {
  const command = new Command('user');
  command
    .command('create')
    .description('creates a user; asks for the password twice, or reads it from standard input')
    .requiredOption(...ORGANIZATION)
    .requiredOption(...USERNAME)
    .addOption(grantOption('user'))
    .action(async ({ organization, username, grant: grants }: { organization: string; username: string; grant: string[] }) => {
      const { terminal, json } = context();
      const password = await readNewPassword(terminal);
      const privileges = await withServices(context(), ({ users }) => users.create({ organization, username, password, grants }));
      const text = `Created user "${username}" in "${organization}", who may ${describeUse(privileges)}`;
      const hint = ['deposit-gateway user grant --organization', quote(organization), '--username', quote(username), REPORT_PRIVILEGE];
      const mayReport = privileges.includes(REPORT_PRIVILEGE);
      printResult(terminal, json, { organization, username }, mayReport ? text : `${text}; to grant it: ${hint.join(' ')}`);
    });
  for (const [name, verb, description] of grantCommands) {
    command
      .command(name)
      .description(description)
      .addArgument(privilegesArgument())
      .requiredOption(...ORGANIZATION)
      .requiredOption(...USERNAME)
      .action(async (words: string[], { organization, username }: { organization: string; username: string }) => {
        const { terminal, json } = context();
        const privileges = await withServices(context(), ({ users }) =>
          users.changeGrants(organization, username, { verb, privileges: words }),
        );
        const text = `User "${username}" of "${organization}" has ${listPrivileges(privileges)}`;
        printResult(terminal, json, { organization, username, privileges }, text);
      });
  }
  // A user is disabled or deleted, and so nothing else can be meant by `user revoke`.
  command.commands.find((below) => below.name() === 'revoke-grant')!.alias('revoke');
  command
    .command('password')
    .description('replaces the password of a user and ends the open sessions; asks for it twice, or reads it from standard input')
    .requiredOption(...ORGANIZATION)
    .requiredOption(...USERNAME)
    .action(async ({ organization, username }: UserName) => {
      const { terminal, json } = context();
      const password = await readNewPassword(terminal);
      const ended = await withServices(context(), ({ users }) => users.setPassword(organization, username, password));
      const text = `Replaced the password of user "${username}" of "${organization}"; ended sessions: ${ended}`;
      printResult(terminal, json, { organization, username, endedSessions: ended }, text);
    });
  command
    .command('email')
    .description('says where reports are mailed to a user; an empty address ends that')
    .argument('<address>', 'such as ada@example.org')
    .requiredOption(...ORGANIZATION)
    .requiredOption(...USERNAME)
    .action(async (email: string, { organization, username }: UserName) => {
      const { terminal, json } = context();
      await withServices(context(), ({ users }) => users.setEmail(organization, username, email === '' ? null : email));
      const text = `User "${username}" of "${organization}" has ${email === '' ? 'no address' : `the address ${email}`}`;
      printResult(terminal, json, { organization, username, email: email === '' ? null : email }, text);
    });
  command
    .command('disable')
    .description('disables a user: open sessions are refused at once, and answers under way end within seconds')
    .requiredOption(...ORGANIZATION)
    .requiredOption(...USERNAME)
    .action(async ({ organization, username }: { organization: string; username: string }) => {
      const { terminal, json } = context();
      await withServices(context(), ({ users }) => users.disable(organization, username));
      printResult(terminal, json, { organization, username, disabled: true }, `Disabled user "${username}" of "${organization}"`);
    });
  command
    .command('enable')
    .description('enables a user again, who then has to log in anew')
    .requiredOption(...ORGANIZATION)
    .requiredOption(...USERNAME)
    .action(async ({ organization, username }: UserName) => {
      const { terminal, json } = context();
      await withServices(context(), ({ users }) => users.enable(organization, username));
      printResult(terminal, json, { organization, username, disabled: false }, `Enabled user "${username}" of "${organization}"`);
    });
  command
    .command('delete')
    .description('deletes a user and ends the open sessions; the name stays in the audit')
    .requiredOption(...ORGANIZATION)
    .requiredOption(...USERNAME)
    .action(async ({ organization, username }: UserName) => {
      const { terminal, json } = context();
      await withServices(context(), ({ users }) => users.delete(organization, username));
      printResult(terminal, json, { organization, username, deleted: true }, `Deleted user "${username}" of "${organization}"`);
    });
  command
    .command('list')
    .description('lists the users of an organization and their privileges')
    .requiredOption(...ORGANIZATION)
    .action(async ({ organization }: { organization: string }) => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ users }) => users.list(organization));
      const result = list.map(({ username, privileges, email, createdAt, disabledAt }) => ({
        username,
        privileges,
        email,
        createdAt,
        disabledAt,
      }));
      const rows = result.map((row) => [row.username, row.email ?? '', day(row.disabledAt), row.privileges.join(' ')]);
      printResult(terminal, json, result, formatTable(['USERNAME', 'E-MAIL', 'DISABLED', 'PRIVILEGES'], rows));
    });
  return command;
}
