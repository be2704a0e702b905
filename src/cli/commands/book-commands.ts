import { Command, InvalidArgumentError, Option } from 'commander';
import type { BookCheck } from '../../data/books/book-store';
import type { ErasureResult } from '../../domain/reports/erasure-service';
import type { MadePrune } from '../../data/books/history-store';
import { OperatorError } from '../../errors';
import { parseAsOf } from '../../formats/as-of';
import { toSeen } from '../../formats/import-line';
import { isLocalDate, type LocalDate } from '../../values/dates';
import { withServices, type CommandContext } from '../command';
import { ORGANIZATION } from '../command-options';
import { formatTable, printResult, readCount } from '../terminal';

/** `check`: compares the lines of an organization, or of all, with the books. */
export function checkCommand(context: () => CommandContext): Command {
  return new Command('check')
    .option('--organization <name>', 'name of the organization; all of them when it is missing')
    .option('--repair', 'brings lines that differ in line with the books, as a new data version', false)
    .action(async ({ organization, repair }: { organization?: string; repair: boolean }) => {
      const { terminal, json } = context();
      const checks = await withServices(context(), async ({ organizations, books }) => {
        const chosen = organization === undefined ? await organizations.list() : [await organizations.get(organization)];
        const found: Check[] = [];
        for (const { id, name } of chosen) {
          const check = await books.check(id);
          found.push({ organization: name, ...check, repaired: null });
          if (!repair || agrees(check)) continue;
          const { number } = await books.repair(id);
          found.push({ organization: name, ...(await books.check(id)), repaired: number });
        }
        return found;
      });
      printResult(terminal, json, checks, checks.map(describe).join('\n'));
      const last = new Map(checks.map((check) => [check.organization, check]));
      const faulty = [...last.values()].filter((check) => !agrees(check) || !check.versionsAreWhole || check.paddedIds.count > 0);
      if (faulty.length > 0) throw new OperatorError(`Not in order: ${faulty.map((check) => check.organization).join(', ')}`);
    });
}

interface Check extends BookCheck {
  readonly organization: string;
  /** The data version that a repair had made before this check; null when there was none. */
  readonly repaired: number | null;
}

const agrees = ({ differences, totalsAgree, unsearchableDonors }: BookCheck): boolean =>
  differences === 0 && totalsAgree && unsearchableDonors === 0;

function describe({ organization, repaired, ...check }: Check): string {
  const { lines, version, differences, first, versionsAreWhole, totalsAgree, unsearchableDonors, paddedIds } = check;
  const head = `${organization}${repaired === null ? '' : ', repaired'}: ${lines} lines at data version ${version}, ${differences} of them different from the books`;
  const details = first.map(({ allocationId, kind, columns }) =>
    kind === 'different' ? `  ${allocationId}: ${columns.join(', ')}` : `  ${allocationId}: ${kind}`,
  );
  return [
    head,
    ...details,
    ...(differences > first.length ? [`  and ${differences - first.length} more`] : []),
    ...(versionsAreWhole ? [] : ['  the numbers of the data versions have a gap']),
    ...(totalsAgree ? [] : [`  the totals of data version ${version} are not those of the lines`]),
    ...(unsearchableDonors === 0 ? [] : [`  ${unsearchableDonors} donors are not found by their names`]),
    ...describePadded(paddedIds),
  ].join('\n');
}

function describePadded({ count, first }: BookCheck['paddedIds']): string[] {
  if (count === 0) return [];
  const more = count > first.length ? `, and ${count - first.length} more` : '';
  return [
    `  ${count} ids begin or end with a blank or a character that nobody sees, so that a clean file adds its lines beside theirs; import a clean file with --replace: ${first.map(({ kind, id }) => `${kind} ${toSeen(id)}`).join(', ')}${more}`,
  ];
}

/** `version list`: lists the versions of an organization's books. */
export function versionCommand(context: () => CommandContext): Command {
  const list = new Command('list')
    .description("lists the versions of an organization's books, the newest first: cause, file, changes and totals")
    .requiredOption('--organization <name>', 'name of the organization')
    .addOption(new Option('--limit <count>', 'number of versions to list').default(50).argParser(readCount))
    .action(async (options: { organization: string; limit: number }) => {
      const { terminal, json } = context();
      const versions = await withServices(context(), async ({ organizations, books, audit }) => {
        const { id } = await organizations.get(options.organization);
        return audit.accompany(audit.operator(id), audit.command('version list'), () => books.newestVersions(id, options.limit));
      });
      const rows = versions.map((version) => [
        ...[String(version.number), version.recordedAt.toISOString(), version.cause, version.fileName ?? ''],
        ...[version.linesAdded, version.linesChanged, version.linesRemoved, version.lines, version.transactions].map(String),
        ...[version.amount, version.feeAmount],
      ]);
      printResult(terminal, json, versions, formatTable(COLUMNS, rows));
    });
  return new Command('version').addCommand(list);
}

const COLUMNS = ['VERSION', 'AT', 'CAUSE', 'FILE', 'ADDED', 'CHANGED', 'REMOVED', 'LINES', 'TRANSACTIONS', 'AMOUNT', 'FEES'];

/** `donor`: forgets donors, and lists those who were forgotten. */
export function donorCommand(context: () => CommandContext): Command {
  return new Command('donor').addCommand(eraseCommand(context)).addCommand(erasedCommand(context));
}

function readDonorId(text: string): number {
  const donorId = Number(text);
  if (!/^[1-9][0-9]*$/.test(text) || !Number.isSafeInteger(donorId))
    throw new InvalidArgumentError('It must be the number of a donor, from 1 on: donor 0 is nobody.');
  return donorId;
}

interface EraseOptions {
  readonly organization: string;
  readonly donor: number;
  readonly reason: string;
  readonly dryRun: boolean;
}

function eraseCommand(context: () => CommandContext): Command {
  return new Command('erase')
    .description("empties a donor's names, contact and memos in all states of the books; the donor's number and money stay")
    .requiredOption(...ORGANIZATION)
    .addOption(new Option('--donor <number>', 'number of the donor').argParser(readDonorId).makeOptionMandatory())
    .requiredOption('--reason <text>', 'the reason, which is kept: it must not name the donor')
    .option('--dry-run', 'erases nothing, and shows what would be erased', false)
    .action(async ({ organization, donor: donorId, reason, dryRun: isTrial }: EraseOptions) => {
      const { terminal, json } = context();
      const result = await withServices(context(), async ({ organizations, erasures, audit }) => {
        const { id } = await organizations.get(organization);
        return erasures.erase(id, { donorId, reason, erasedBy: audit.operator(id).username, isTrial });
      });
      printResult(terminal, json, { organization, ...result, dryRun: isTrial }, describeErasure(result, organization, isTrial).join('\n'));
    });
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

function describeErasure({ donorId, erased, mentions }: ErasureResult, organization: string, isTrial: boolean): string[] {
  const donor = `donor ${donorId} of "${organization}"`;
  const place = [
    ...(erased === null
      ? [`Nothing to erase: ${donor} was erased before, and the books have no text of this donor`]
      : [
          isTrial
            ? `A trial: ${donor} would be erased, at data version ${erased.version}`
            : `Erased ${donor}, at data version ${erased.version}`,
          `Overwritten: ${count(erased.lines, 'line')} of the newest state, ${count(erased.states, 'earlier state')} of lines`,
        ]),
  ];
  const { count: found, first } = mentions;
  const named =
    found === 0
      ? []
      : [
          `${count(found, 'other row')} may name the donor by text, and ${found === 1 ? 'stays as it is' : 'stay as they are'}. These are possible matches: look at each${found > first.length ? `; the first ${first.length}` : ''}`,
          formatTable(
            ['KIND', 'ID'],
            first.map(({ kind, id }) => [kind, id]),
          ),
        ];
  const next =
    erased === null || isTrial
      ? []
      : ['Next: `deposit-gateway vacuum` takes the overwritten texts out of the files; then write the register with `donor erased --json`'];
  return [...place, ...named, ...next];
}

function erasedCommand(context: () => CommandContext): Command {
  return new Command('erased')
    .description('lists the donors who were erased; with --json it writes the register that `restore --erased` takes')
    .option('--organization <name>', 'name of the organization; all of them when it is missing')
    .action(async ({ organization }: { organization?: string }) => {
      const { terminal, json } = context();
      const erasures = await withServices(context(), async ({ organizations, erasures: service }) => {
        const chosen = organization === undefined ? await organizations.list() : [await organizations.get(organization)];
        const lists = await Promise.all(
          chosen.map(async ({ id, name, createdAt }) => {
            const owner = { organization: name, organizationId: id, organizationCreatedAt: createdAt };
            return (await service.list(id)).map((erased) => ({ ...owner, ...erased }));
          }),
        );
        return lists.flat();
      });
      const rows = erasures.map(({ organization: name, donorId, version, erasedAt, erasedBy, reason }) => [
        ...[name, String(donorId), String(version), erasedAt.toISOString(), erasedBy ?? '', reason],
      ]);
      printResult(terminal, json, erasures, formatTable(['ORGANIZATION', 'DONOR', 'VERSION', 'ERASED', 'BY', 'REASON'], rows));
    });
}

/** `history`: takes old states of the books out of their history. */
export function historyCommand(context: () => CommandContext): Command {
  return new Command('history').addCommand(pruneCommand(context));
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
