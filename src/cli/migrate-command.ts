import { Command, Option } from 'commander';
import { OperatorError } from '../errors';
import { withDatabase, type CommandContext } from './command';
import { printResult } from './terminal';

/** A migration tries again every few seconds, and says so about once a minute. */
const TRIES_PER_NOTE = 20;

/** `migrate [--check | --drift]`: applies the missing migrations, only names them, or compares all with prisma/schema.prisma. */
export function migrateCommand(context: () => CommandContext): Command {
  return new Command('migrate')
    .description('applies the migrations that the database lacks')
    .option('--check', 'changes nothing; fails and names the migrations when some are missing', false)
    .addOption(
      new Option('--drift', 'for developers: fails when prisma/schema.prisma is ahead of prisma/migrations; uses a scratch database')
        .default(false)
        .conflicts('check'),
    )
    .action(async ({ check, drift }: { check: boolean; drift: boolean }) => {
      const { terminal, json } = context();
      await withDatabase({ ...context(), migrate: !check, mayMake: !check }, async (database) => {
        if (check) {
          const missing = await database.listMissingMigrations();
          if (json || missing.length === 0) printResult(terminal, json, { missing }, 'Every migration is applied');
          if (missing.length > 0) throw new OperatorError(`Not applied: ${missing.join(', ')}; run \`deposit-gateway migrate\``);
          return;
        }
        if (drift) {
          const sql = await explain(database.findDrift());
          if (sql !== '') throw new OperatorError(`The schema is ahead of its migrations:\n${sql}`);
          printResult(terminal, json, { drift: false }, 'The migrations match prisma/schema.prisma');
          return;
        }
        let waits = 0;
        const onWait = (): void => {
          if (waits++ % TRIES_PER_NOTE === 0) terminal.errors.write('A table is in use: readers go on, and the migration tries again\n');
        };
        const applied = await explain(database.migrate(onWait));
        printResult(terminal, json, { applied }, applied.length > 0 ? `Applied ${applied.join(', ')}` : 'Nothing to apply');
      });
    });
}

/** Shortens the engine's errors: they are long traces whose first two lines hold the reason. */
async function explain<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const reason = (error as Error).message.split('\n').slice(0, 2).join(' ');
    throw new OperatorError(`The migration failed: ${reason}`, { cause: error });
  }
}
