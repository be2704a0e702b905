import { Command } from 'commander';
import { OperatorError } from '../errors';
import { withDatabase, type CommandContext } from './command';
import { printResult } from './terminal';

/** `migrate [--check]` */
export function migrateCommand(context: () => CommandContext): Command {
  return new Command('migrate')
    .description('brings the database to the newest schema')
    .option('--check', 'changes nothing; fails where prisma/schema.prisma is ahead of prisma/migrations, and prints the SQL', false)
    .action(async ({ check }: { check: boolean }) => {
      const { terminal, json } = context();
      await withDatabase(context(), async (database) => {
        if (check) {
          const drift = await explain(database.findDrift());
          if (drift !== '') throw new OperatorError(`The schema is ahead of its migrations:\n${drift}`);
          printResult(terminal, json, { drift: false }, 'The migrations match prisma/schema.prisma');
          return;
        }
        const applied = await explain(database.migrate());
        printResult(terminal, json, { applied }, applied.length > 0 ? `Applied ${applied.join(', ')}` : 'Nothing to apply');
      });
    });
}

/** The engine's errors are long traces; their first two lines say what is wrong. */
async function explain<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const reason = (error as Error).message.split('\n').slice(0, 2).join(' ');
    throw new OperatorError(`The migration failed: ${reason}`, { cause: error });
  }
}
