import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { ConfigError, readConfig, type Config } from '../../config';
import type { DatabasePlace } from '../../data/postgres/database-place';
import { AppError, describeError, OperatorError } from '../../errors';
import { mayBeMisread } from '../../values/utf8';
import type { CommandContext } from '../command';
import { UNDECIDED, UndecidedError, UsageError } from '../command-options';
import { DEFAULT_SETTINGS_FILE, withSettingsFile } from '../settings-file';
import { toPrintable, write, type Terminal } from '../terminal';

const PACKAGE = join(__dirname, '../../../package.json');

type CreateCommand = (context: () => CommandContext) => Command;

/**
 * The commands by name. Each loads its module when it is needed: the servers and the GraphQL schema take longer to load than most commands
 * take to run.
 */
/* eslint-disable @typescript-eslint/no-require-imports -- these run later than the imports above */
const commands: Readonly<Record<string, () => CreateCommand>> = {
  serve: () => (require('./serve-command') as typeof import('./serve-command')).serveCommand,
  migrate: () => (require('./database-commands') as typeof import('./database-commands')).migrateCommand,
  demo: () => (require('./demo-command') as typeof import('./demo-command')).demoCommand,
  organization: () => (require('./organization-commands') as typeof import('./organization-commands')).organizationCommand,
  provision: () => (require('./provision-commands') as typeof import('./provision-commands')).provisionCommand,
  user: () => (require('./user-commands') as typeof import('./user-commands')).userCommand,
  session: () => (require('./session-commands') as typeof import('./session-commands')).sessionCommand,
  login: () => (require('./session-commands') as typeof import('./session-commands')).loginCommand,
  import: () => (require('./import-command') as typeof import('./import-command')).importCommand,
  sync: () => (require('./sync-command') as typeof import('./sync-command')).syncCommand,
  webhook: () => (require('./webhook-command') as typeof import('./webhook-command')).webhookCommand,
  compare: () => (require('./compare-command') as typeof import('./compare-command')).compareCommand,
  export: () => (require('./export-command') as typeof import('./export-command')).exportCommand,
  prove: () => (require('./prove-command') as typeof import('./prove-command')).proveCommand,
  audit: () => (require('./audit-command') as typeof import('./audit-command')).auditCommand,
  usage: () => (require('./provision-commands') as typeof import('./provision-commands')).usageCommand,
  version: () => (require('./book-commands') as typeof import('./book-commands')).versionCommand,
  history: () => (require('./book-commands') as typeof import('./book-commands')).historyCommand,
  period: () => (require('./period-commands') as typeof import('./period-commands')).periodCommand,
  donor: () => (require('./book-commands') as typeof import('./book-commands')).donorCommand,
  check: () => (require('./book-commands') as typeof import('./book-commands')).checkCommand,
  vacuum: () => (require('./database-commands') as typeof import('./database-commands')).vacuumCommand,
  backup: () => (require('./backup-commands') as typeof import('./backup-commands')).backupCommand,
  restore: () => (require('./backup-commands') as typeof import('./backup-commands')).restoreCommand,
  verify: () => (require('./backup-commands') as typeof import('./backup-commands')).verifyCommand,
  parity: () => (require('./parity-command') as typeof import('./parity-command')).parityCommand,
  report: () => (require('./report-command') as typeof import('./report-command')).reportCommand,
  schema: () => (require('./schema-command') as typeof import('./schema-command')).schemaCommand,
  completions: () => (require('./completions-command') as typeof import('./completions-command')).completionsCommand,
};
/* eslint-enable */

/** The exit status of a command: 0 done, 1 failed, 2 wrong usage, 3 undecided. */
export type ExitStatus = 0 | 1 | 2 | 3;

/** The option that is followed by a file, which is no command. */
const SETTINGS_FILE = '--env-file';
/** The command whose output is made from all others. */
const COMPLETIONS = 'completions';

/**
 * Runs `deposit-gateway` with these words. Standard error names the database that a command uses, before its work, and a failure: as text,
 * or with `--json` as one line with a JSON object at the end, which has `database`, `error` and, for an error of the table, `code`.
 */
export async function runProgram(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const program = new Command('deposit-gateway').description("A GraphQL and v2 REST gateway over a non-profit's deposit data");
  const isJson = words.includes('--json');
  program.option('--json', 'print machine-readable output, errors too', false);
  program.version(isJson ? JSON.stringify({ version: readVersion() }) : readVersion(), '--version', 'print the version');
  program.option(`${SETTINGS_FILE} <file>`, `file with settings; ${DEFAULT_SETTINGS_FILE} by default, where it is there`);
  program.option('--no-env-file', 'reads no file with settings');
  program.option('-q, --quiet', 'leaves out the line that names the database, where DATABASE_URL or DATA_DIR does', false);
  let settings: Settings | undefined;
  let used: DatabasePlace | undefined;
  const context = (): CommandContext => {
    const { json, quiet, envFile } = program.opts<ProgramOptions>();
    // A secret may come from a pipe, which is empty after its first reading.
    const { config, namesDatabase } = (settings ??= readSettings(environment, envFile));
    const tellDatabase = (place: DatabasePlace, words: string): void => {
      if (used || (quiet && namesDatabase)) return;
      used = place;
      if (!json) terminal.errors.write(`Database: ${toPrintable(words)}\n`);
    };
    return { terminal, json, version: readVersion(), config, tellDatabase };
  };
  const chosen = words.find((word, position) => !word.startsWith('-') && words[position - 1] !== SETTINGS_FILE);
  const needed =
    chosen !== undefined && chosen !== COMPLETIONS && Object.hasOwn(commands, chosen) ? [commands[chosen]!] : Object.values(commands);
  for (const load of needed) program.addCommand(load()(context));
  let complaint = '';
  const writeErr = (text: string): void => void (isJson ? (complaint += text) : terminal.errors.write(text));
  for (const command of withSubcommands(program)) {
    command.exitOverride().configureOutput({ writeOut: (text) => terminal.output.write(text), writeErr });
  }
  // The last write below throws the output's error; without this listener the error would end the process before.
  terminal.output.on('error', () => undefined);
  try {
    const misread = words.findIndex(mayBeMisread) + 1;
    if (misread > 0) throw new UsageError(`Argument ${misread} is not UTF-8: a name would be stored as another one`);
    await program.parseAsync([...words], { from: 'user' });
    await write(terminal.output, '');
    if (isJson && used) terminal.errors.write(`${JSON.stringify({ database: used })}\n`);
    return 0;
  } catch (error) {
    const isUsage = error instanceof CommanderError;
    if (isUsage && error.exitCode === 0) return 0;
    if (isJson) {
      const text = isUsage ? complaint.trim().replace(/^error: /, '') : describe(error);
      const failure = { error: text, ...(error instanceof AppError && { code: error.code }), ...(used && { database: used }) };
      terminal.errors.write(`${JSON.stringify(failure)}\n`);
    } else if (!isUsage) terminal.errors.write(`${describe(error)}\n`);
    return isUsage || error instanceof UsageError ? 2 : error instanceof UndecidedError ? UNDECIDED : 1;
  }
}

interface ProgramOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly envFile?: string | false;
}

interface Settings {
  readonly config: Config;
  /** False where neither an address nor a directory is set, so that the database lies where the command was started. */
  readonly namesDatabase: boolean;
}

function readSettings(environment: Readonly<Record<string, string | undefined>>, file: string | false | undefined): Settings {
  const whole = withSettingsFile(environment, file);
  const config = readConfig(whole);
  return { config, namesDatabase: config.DATABASE_URL !== '' || Boolean(whole.DATA_DIR) };
}

const readVersion = (): string => (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }).version;

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function describe(error: unknown): string {
  if (error instanceof ConfigError || error instanceof OperatorError) return error.message;
  if (error instanceof AppError)
    return error.cause instanceof Error ? `${error.message}: ${lastLine(error.cause.message)}` : describeError(error);
  if (!(error instanceof Error)) return String(error);
  // The message of a system error is enough for an operator, such as a data directory that cannot be written. Anything else is a bug,
  // which needs its stack.
  return 'syscall' in error ? error.message : (error.stack ?? error.message);
}

/** The last line of a text. Prisma's messages quote our code first and end with the reason. */
const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
