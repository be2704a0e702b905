import { Command } from 'commander';
import { rewriteTables, type TableRewrite } from '../../data/schema/table-rewrite';
import { OperatorError } from '../../errors';
import { withDatabase, type CommandContext } from '../command';
import { formatTable, printResult } from '../terminal';

/** `vacuum`: writes the tables with donors' texts anew, so that the files of the database have no text that was overwritten. */
export function vacuumCommand(context: () => CommandContext): Command {
  return new Command('vacuum')
    .description("writes the tables with donors' texts anew, so that no file has what was erased; reports and imports wait meanwhile")
    .action(async () => {
      const { terminal, json } = context();
      const rewrite = await withDatabase(context(), ({ address }) => rewriteTables(address));
      printResult(terminal, json, rewrite, describe(rewrite));
      assertRewritten(rewrite);
    });
}

/** Throws an OperatorError when rows that were overwritten are still in the tables, because transactions from before may read them. */
export function assertRewritten({ tables }: TableRewrite): void {
  const held = tables.filter(({ heldRows }) => heldRows > 0).map(({ table, heldRows }) => `${table}: ${heldRows}`);
  if (held.length > 0)
    throw new OperatorError(
      `Transactions from before still read rows that were overwritten (${held.join(', ')}): run \`vacuum\` again when reports, backups and the queries of replicas that began before have ended`,
    );
}

function describe({ tables, isLogPassed }: TableRewrite): string {
  const rows = tables.map(({ table, bytesBefore, bytesAfter }) => [table, String(bytesBefore), String(bytesAfter)]);
  return [
    formatTable(['TABLE', 'BYTES BEFORE', 'BYTES AFTER'], rows),
    isLogPassed
      ? 'No recovery needs the write-ahead log from before any more; archives and replicas keep theirs as they are told to'
      : 'The write-ahead log from before has the old rows until its segments are removed or written over: ask whoever runs the server',
  ].join('\n');
}
