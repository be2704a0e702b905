import { Command, InvalidArgumentError, Option } from 'commander';
import type { MadePrune } from '../../data/books/history-store';
import { parseAsOf } from '../../formats/as-of';
import { isLocalDate, type LocalDate } from '../../values/dates';
import { withServices, type CommandContext } from '../command';
import { ORGANIZATION } from '../command-options';
import { printResult } from '../terminal';

/** `history`: takes old states of the books out of their history. */
export function historyCommand(context: () => CommandContext): Command {
  return new Command('history').description('prunes old states of the books').addCommand(pruneCommand(context));
}

interface PruneOptions {
  readonly organization: string;
  readonly before: LocalDate | Date;
  readonly dryRun: boolean;
}

function pruneCommand(context: () => CommandContext): Command {
  return new Command('prune')
    .description('takes the states of the books out of the history that were over before a day began: they can be asked for no more')
    .requiredOption(...ORGANIZATION)
    .addOption(
      new Option('--before <date>', "a day by the organization's clock, YYYY-MM-DD, or an instant like 2026-11-01T00:00:00Z")
        .argParser(readBeginning)
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'tells what would be taken out, and changes nothing', false)
    .action(async ({ organization, before, dryRun }: PruneOptions) => {
      const { terminal, json } = context();
      const prune = await withServices(context(), async ({ organizations, history }) =>
        history.prune(await organizations.get(organization), before, dryRun),
      );
      printResult(terminal, json, prune, describePrune(organization, prune));
    });
}

function readBeginning(text: string): LocalDate | Date {
  const found = isLocalDate(text) ? text : parseAsOf(text)?.at;
  if (found === undefined) throw new InvalidArgumentError('It must be a date like 2026-11-01, or an instant like 2026-11-01T00:00:00Z.');
  return found;
}

function describePrune(organization: string, { earliest, versions, lineStates, closes, version }: MadePrune): string {
  if (earliest === null) return `"${organization}" has no data version yet`;
  const kept = `data version ${earliest.number} of ${earliest.recordedAt.toISOString()}`;
  if (versions === 0) return `Nothing to prune of "${organization}": the earliest state is that of ${kept}`;
  return [
    version === null ? `Would prune "${organization}"` : `Pruned "${organization}", at data version ${version}`,
    `Versions that can be asked for no more: ${versions}`,
    `States of lines that are deleted: ${lineStates}`,
    `The earliest state is that of ${kept}`,
    ...closes.map((through) => `The report as it was closed through ${through} goes; the figures of the close stay`),
  ].join('\n');
}
