import { Command } from 'commander';
import { rewriteTables, type TableRewrite } from '../../data/schema/table-rewrite';
import { OperatorError } from '../../errors';
import { withDatabase, type CommandContext } from '../command';
import { formatTable, printResult } from '../terminal';

/** A migration tries again every few seconds, and says so about once a minute. */
const TRIES_PER_NOTE = 20;

/** `migrate [--check]`: applies the missing migrations, or only names them. */
export function migrateCommand(context: () => CommandContext): Command {
  return new Command('migrate')
    .option('--check', 'changes nothing; fails and names the migrations when some are missing', false)
    .action(async ({ check }: { check: boolean }) => {
      const { terminal, json } = context();
      await withDatabase({ ...context(), migrate: false, mayMake: !check }, async (database) => {
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

/** `vacuum`: writes the tables with donors' texts anew, so that the files of the database have no text that was overwritten. */
export function vacuumCommand(context: () => CommandContext): Command {
  return new Command('vacuum').action(async () => {
    const { terminal, json } = context();
    const rewrite = await withDatabase(context(), ({ address }) => rewriteTables(address));
    printResult(terminal, json, rewrite, describeRewrite(rewrite));
    const reason = describeHeldRows(rewrite);
    if (reason !== '') throw new OperatorError(reason);
  });
}

/** The rows that were overwritten and are still in the tables, because transactions from before may read them; empty when there are none. */
export function describeHeldRows({ tables }: TableRewrite): string {
  const held = tables.filter(({ heldRows }) => heldRows > 0).map(({ table, heldRows }) => `${table}: ${heldRows}`);
  if (held.length === 0) return '';
  return `Transactions from before still read rows that were overwritten (${held.join(', ')}): run \`vacuum\` again when reports, backups and the queries of replicas that began before have ended`;
}

function describeRewrite(rewrite: TableRewrite): string {
  const rows = rewrite.tables.map(({ table, bytesBefore, bytesAfter }) => [table, String(bytesBefore), String(bytesAfter)]);
  return [formatTable(['TABLE', 'BYTES BEFORE', 'BYTES AFTER'], rows), describeLog(rewrite)].join('\n');
}

/** The old rows that the write-ahead log may have after a rewrite, and the way to be rid of them. */
export function describeLog({ isLogPassed, isLogRecycled }: TableRewrite): string {
  const passed = isLogPassed
    ? 'No recovery needs the write-ahead log from before any more; archives and replicas keep theirs as they are told to'
    : 'The write-ahead log from before has the old rows until its segments are removed or written over: ask whoever runs the server';
  return isLogPassed && isLogRecycled ? `${passed}\n${RECYCLED}` : passed;
}

const RECYCLED =
  'The server uses segments of the log again (wal_recycle), and they keep old bytes until they are written over: set wal_recycle = off in postgresql.conf, reload it, and run `vacuum` again';
