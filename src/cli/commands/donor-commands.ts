import { Command, InvalidArgumentError, Option } from 'commander';
import type { ErasureResult } from '../../domain/reports/erasure-service';
import { withServices, type CommandContext } from '../command';
import { ORGANIZATION } from '../command-options';
import { formatTable, printResult } from '../terminal';

/** `donor`: forgets donors, and lists those who were forgotten. */
export function donorCommand(context: () => CommandContext): Command {
  return new Command('donor')
    .description('erases the texts of donors, and lists those who were erased')
    .addCommand(eraseCommand(context))
    .addCommand(erasedCommand(context));
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
      printResult(terminal, json, { organization, ...result, dryRun: isTrial }, describe(result, organization, isTrial).join('\n'));
    });
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

function describe({ donorId, erased, mentions }: ErasureResult, organization: string, isTrial: boolean): string[] {
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
          chosen.map(async ({ id, name }) => (await service.list(id)).map((erased) => ({ organization: name, ...erased }))),
        );
        return lists.flat();
      });
      const rows = erasures.map(({ organization: name, donorId, version, erasedAt, erasedBy, reason }) => [
        ...[name, String(donorId), String(version), erasedAt.toISOString(), erasedBy ?? '', reason],
      ]);
      printResult(terminal, json, erasures, formatTable(['ORGANIZATION', 'DONOR', 'VERSION', 'ERASED', 'BY', 'REASON'], rows));
    });
}
