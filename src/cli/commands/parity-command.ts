import { Command, Option } from 'commander';
import type { DoorResult, ParityResult } from '../../domain/parity/parity-service';
import { figureNames } from '../../domain/parity/line-figures';
import { AppError, describeError, OperatorError } from '../../errors';
import { createSchema } from '../../graphql/schema';
import { SchemaReportDocuments } from '../../resolvers/reports/report-documents';
import type { Services } from '../../services';
import type { LocalDate } from '../../values/dates';
import { withServices, type CommandContext } from '../command';
import { ORGANIZATION, readDate, UNDECIDED, UndecidedError, UsageError } from '../command-options';
import { readAddress, readCredentials } from '../source-credentials';
import { onStopSignal } from '../stop-signals';
import { formatTable, printResult, startProgress, toPrintable } from '../terminal';
import { baseUrl } from './demo-command';

interface ParityOptions {
  readonly organization: string;
  readonly from: LocalDate;
  readonly to: LocalDate;
  readonly provisionFile: string;
  readonly url?: string;
  readonly showValues: boolean;
}

/** `parity`: reads a range through every door of a running gateway and compares each with the books. */
export function parityCommand(context: () => CommandContext): Command {
  return new Command('parity')
    .requiredOption(...ORGANIZATION)
    .addOption(new Option('--from <date>', 'first deposit date').argParser(readDate).makeOptionMandatory())
    .addOption(new Option('--to <date>', 'last deposit date').argParser(readDate).makeOptionMandatory())
    .requiredOption('--provision-file <file>', 'file with an API provision of the organization that was granted the report')
    .option('--url <url>', 'address of the gateway; by default that of HOST and PORT on this machine')
    .option('--show-values', "shows values that differ, which may be donors' data", false)
    .action(async (options: ParityOptions) => {
      if (options.from > options.to) throw new UsageError('--from must not be after --to');
      const { config, terminal, json } = context();
      const url = readAddress('--url', '--provision-file', options.url ?? baseUrl(config, config.PORT));
      const stopping = new AbortController();
      const off = onStopSignal(() => (stopping.signal.aborted ? process.exit(UNDECIDED) : stopping.abort()));
      const progress = startProgress(terminal, undefined, 'Reading {door} | {duration_formatted}');
      try {
        const run = { url, signal: stopping.signal, onDoor: (door: string) => progress.add(1, { door }) };
        const found = await withServices({ ...context(), hasOwnStop: true }, (services) => compare(services, options, run)).catch(
          undecided,
        );
        stopping.signal.throwIfAborted();
        progress.stop();
        const results = options.showValues ? found : found.map((result) => ({ ...result, doors: result.doors.map(maskValues) }));
        printResult(terminal, json, results, results.map(describeResult).join('\n\n'));
        assertEqual(results);
      } catch (error) {
        if (stopping.signal.aborted) throw new UndecidedError('Ended by a signal: nothing was decided', { cause: error });
        throw error;
      } finally {
        progress.stop();
        off();
      }
      if (!json) terminal.output.write(`\n${EQUAL}\n`);
    });
}

interface Run {
  readonly url: URL;
  readonly signal: AbortSignal;
  readonly onDoor: (door: string) => void;
}

async function compare(
  { organizations, provisions, parity }: Services,
  { organization: name, from, to, provisionFile }: ParityOptions,
  { url, signal, onDoor }: Run,
): Promise<ParityResult[]> {
  const organization = await organizations.get(name);
  const { provision } = await readCredentials({
    ...{ url, provisionFile, cookieFile: undefined, service: 'the gateway', names: '--provision-file' },
  });
  const keys = (await provisions.list(name)).flatMap((row) => row.keys.map(({ firstCharacters }) => firstCharacters));
  const isKnown = keys.some((start) => start !== '' && provision.toLowerCase().startsWith(start));
  if (!isKnown) throw new OperatorError(`The provision in ${provisionFile} is none of ${name}`);
  return await parity.compare({
    organizationId: organization.id,
    ...{ startDate: from, endDate: to, onDoor },
    gateway: { url, provision, signal },
    documents: new SchemaReportDocuments(createSchema()),
  });
}

/** Status 1 says that a door differs. */
function undecided(error: unknown): never {
  if (error instanceof AppError) throw new UndecidedError(describeError(error), { cause: error });
  if (error instanceof OperatorError && !(error instanceof UsageError)) throw new UndecidedError(error.message, { cause: error });
  throw error;
}

const EQUAL = 'Every door tells what the books tell.';

/** Throws the verdict when it is not that all doors are equal. A difference counts more than a comparison that could not be made. */
function assertEqual(results: readonly ParityResult[]): void {
  const different = new Set(results.flatMap(({ doors }) => doors.filter(({ differs }) => differs !== null).map(({ door }) => door)));
  if (different.size > 0) throw new OperatorError(`Not every door tells what the books tell: ${[...different].join(', ')}.`);
  const reason = results.find(({ verdict }) => verdict === 'undecided')?.reason;
  if (reason !== undefined) throw new UndecidedError(`It could not be decided: ${toPrintable(reason ?? '')}`);
}

const SHOWN_DIGEST = 12;
const HEADER = ['DOOR', 'LINES', 'TRANSACTIONS', 'DEPOSITS', 'BY LINE', 'BY TRANSACTION', 'BY ALLOCATION', 'UNKNOWN', 'DIGEST', 'EQUAL'];
/** The figures of the table. The money digest, and figures of the fields that v2 lacks or that a line should not have, stand in --json alone. */
const SHOWN = figureNames.filter((name) => !['extras', 'otherFields', 'moneyDigest'].includes(name));

function describeResult({ pending, reason, version, doors }: ParityResult): string {
  const title = pending === 'WITH' ? 'With pending deposits' : 'Without pending deposits';
  if (doors.length === 0) return `${title}: not decided\n${toPrintable(reason ?? '')}`;
  const rows = doors.map(({ door, figures, differs, fault }) => [
    door,
    ...SHOWN.map((name) => (name === 'digest' ? figures[name]?.slice(0, SHOWN_DIGEST) : figures[name]) ?? '-'),
    fault !== null ? 'not read' : differs === null ? 'yes' : 'no',
  ]);
  const differences = doors.filter(({ differs }) => differs !== null).map(describeDifference);
  const faults = doors.flatMap(({ fault }) => (fault === null ? [] : toPrintable(fault)));
  return [`${title}, data version ${version}`, formatTable(HEADER, rows), ...differences, ...faults].join('\n');
}

function describeDifference({ door, differs, first }: DoorResult): string {
  if (!first) return `${door}: ${differs} differs, and no line does`;
  const { line, allocationId, field, books, door: given } = first;
  const at = `${door}: line ${line}, allocation ${toText(allocationId)}`;
  if (field === null) return toPrintable(`${at}: ${given === true ? 'the books do not have it' : 'the door does not have it'}`);
  return toPrintable(`${at}, ${field}: ${toText(books)} in the books, ${toText(given)} here`);
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? 'nothing' : JSON.stringify(value));

/** The result of a door without donors' data: a value is told by its length. */
function maskValues(result: DoorResult): DoorResult {
  const { first } = result;
  if (!first) return result;
  // Only the books say that a text is an id.
  if (first.field === null)
    return first.books === true ? result : { ...result, first: { ...first, allocationId: mask(first.allocationId) } };
  return { ...result, first: { ...first, books: mask(first.books), door: mask(first.door) } };
}

const mask = (value: unknown): string => `(${value === null ? 'null' : typeof value} of ${toText(value).length} characters)`;
