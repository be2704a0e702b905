import { Command } from 'commander';
import { OperatorError } from '../../errors';
import { withDatabase, type CommandContext } from '../command';
import { printResult } from '../terminal';

/** A migration tries again every few seconds, and says so about once a minute. */
const TRIES_PER_NOTE = 20;

/** `migrate [--check]`: applies the missing migrations, or only names them. */
export function migrateCommand(context: () => CommandContext): Command {
  return new Command('migrate')
    .description('applies the migrations that the database lacks')
    .option('--check', 'changes nothing; fails and names the migrations when some are missing', false)
    .action(async ({ check }: { check: boolean }) => {
      const { terminal, json } = context();
      await withDatabase({ ...context(), migrate: !check, mayMake: !check }, async (database) => {
        let waits = 0;
        const onWait = (): void => {
          if (waits++ % TRIES_PER_NOTE === 0) terminal.errors.write('A table is in use: readers go on, and the migration tries again\n');
        };
        const applied = check ? [] : await database.migrate(onWait);
        const { missing, newer } = await database.compareMigrations();
        const isNewer = newer.length > 0 ? `: the database is of a newer gateway, with ${newer.join(', ')}` : '';
        if (!check) {
          const text = applied.length > 0 ? `Applied ${applied.join(', ')}` : `Nothing to apply${isNewer}`;
          printResult(terminal, json, { applied, newer }, text);
          return;
        }
        if (json || missing.length === 0) printResult(terminal, json, { missing, newer }, `Every migration is applied${isNewer}`);
        if (missing.length > 0) throw new OperatorError(`Not applied: ${missing.join(', ')}; run \`deposit-gateway migrate\``);
      });
    });
}
