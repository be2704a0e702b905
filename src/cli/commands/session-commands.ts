import { Command } from 'commander';
import { withServices, type CommandContext } from '../command';
import { ORGANIZATION, UsageError, USERNAME } from '../command-options';
import { formatTable, printResult } from '../terminal';

/** `session list | end`: the open logins of an organization. */
export function sessionCommand(context: () => CommandContext): Command {
  const command = new Command('session');
  command
    .command('list')
    .description('lists the open sessions of an organization or of a user, the newest first')
    .requiredOption(...ORGANIZATION)
    .option(...USERNAME)
    .action(async ({ organization, username }: { organization: string; username?: string }) => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ users }) => users.listSessions(organization, username));
      const result = list.map((session) => ({
        session: session.id,
        username: session.username,
        provision: session.provision,
        createdAt: session.createdAt,
        lastSeenAt: session.lastSeenAt,
        expiresAt: session.expiresAt,
      }));
      const rows = result.map((row) => [
        ...[row.session, row.username, `${row.provision}…`],
        ...[row.createdAt, row.lastSeenAt, row.expiresAt].map((time) => time.toISOString()),
      ]);
      printResult(terminal, json, result, formatTable(['SESSION', 'USERNAME', 'PROVISION', 'OPENED', 'LAST SEEN', 'EXPIRES'], rows));
    });
  command
    .command('end')
    .description('ends a session, or all sessions of a user or of the organization, at once; answers under way end within seconds')
    .argument('[session]', 'session as `session list` names it')
    .requiredOption(...ORGANIZATION)
    .option('--username <name>', 'user whose sessions all end')
    .option('--all', 'ends all sessions of the organization', false)
    .action(async (id: string | undefined, options: { organization: string; username?: string; all: boolean }) => {
      const { terminal, json } = context();
      const { organization, username, all } = options;
      if ([id, username, all || undefined].filter((choice) => choice !== undefined).length !== 1)
        throw new UsageError('Name a session, or a user by --username, or take --all');
      const ended = await withServices(context(), async ({ users }) => {
        if (id === undefined) return users.endSessions(organization, username);
        await users.endSession(organization, id);
        return 1;
      });
      printResult(terminal, json, { organization, ended }, `Ended sessions of "${organization}": ${ended}`);
    });
  return command;
}

/** `login unlock`: lets a user log in again whose password was guessed at. */
export function loginCommand(context: () => CommandContext): Command {
  const command = new Command('login');
  command
    .command('unlock')
    .description('forgets the failed logins of a user, who may then log in again at once')
    .requiredOption(...ORGANIZATION)
    .requiredOption(...USERNAME)
    .option('--address <address>', 'IP address from which the user can log in even while others guess the password elsewhere')
    .action(async ({ organization, username, address }: { organization: string; username: string; address?: string }) => {
      const { terminal, json } = context();
      await withServices(context(), ({ users }) => users.unlock(organization, username, address));
      printResult(terminal, json, { organization, username, unlocked: true }, `Unlocked user "${username}" of "${organization}"`);
    });
  return command;
}
