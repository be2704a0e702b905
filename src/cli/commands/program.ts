import { Command, CommanderError } from 'commander';
import type { DatabasePlace } from '../../data/postgres/database-place';
import { AppError } from '../../errors';
import { readVersion } from '../../package-files';
import { mayBeMisread } from '../../values/utf8';
import type { CommandContext } from '../command';
import { DEFAULT_SETTINGS_FILE, UNDECIDED, UndecidedError, UsageError } from '../command-options';
import { describeCommandFailure } from '../failure-words';
import type { ReadSettings, Settings } from '../settings-file';
import { toPrintable, write, type Terminal } from '../terminal';

type CreateCommand = (context: () => CommandContext) => Command;

interface CommandEntry {
  readonly description: string;
  /** Loads the command's module. The servers and the GraphQL schema take longer to load than most commands take to run. */
  readonly load: () => Promise<CreateCommand>;
}

/** The commands by name. */
const commands: Readonly<Record<string, CommandEntry>> = {
  serve: {
    description: 'runs the gateway until it is told to stop (what npm start does)',
    load: async () => (await import('./serve-command')).serveCommand,
  },
  migrate: {
    description: 'applies the migrations that the database lacks',
    load: async () => (await import('./database-commands')).migrateCommand,
  },
  demo: {
    description: 'creates a demo organization with two years of realistic deposits',
    load: async () => (await import('./demo-command')).demoCommand,
  },
  organization: {
    description: 'the organizations whose deposits are served',
    load: async () => (await import('./organization-commands')).organizationCommand,
  },
  provision: {
    description: 'the provisions: identifiers (UUIDs) that applications send in the header Provision',
    load: async () => (await import('./provision-commands')).provisionCommand,
  },
  user: {
    description: 'the users of an organization, who log in with a name and a password',
    load: async () => (await import('./user-commands')).userCommand,
  },
  session: {
    description: 'the sessions: open logins of users',
    load: async () => (await import('./session-commands')).sessionCommand,
  },
  login: {
    description: 'the limits of logins',
    load: async () => (await import('./session-commands')).loginCommand,
  },
  import: {
    description: 'imports deposit lines from a v2 answer (.json), from its lines (.ndjson) or from .csv; all or nothing',
    load: async () => (await import('./import-command')).importCommand,
  },
  sync: {
    description: "keeps an organization's books equal to those of its old v2 service",
    load: async () => (await import('./sync-command')).syncCommand,
  },
  webhook: {
    description: 'the webhooks: receivers that are told of new data versions',
    load: async () => (await import('./webhook-command')).webhookCommand,
  },
  schedule: {
    description: 'the schedules by which saved reports are mailed',
    load: async () => (await import('./report-commands')).scheduleCommand,
  },
  compare: {
    description: 'asks an old and a new v2 service the same, and tells how their answers differ',
    load: async () => (await import('./compare-command')).compareCommand,
  },
  export: {
    description: 'writes the deposit report of a range of deposit dates',
    load: async () => (await import('./export-command')).exportCommand,
  },
  prove: {
    description: 'finds the receipt of a file by its SHA-256, makes the file again in the state that it is of, and compares the bytes',
    load: async () => (await import('./prove-command')).proveCommand,
  },
  audit: {
    description: 'shows who has read personal data, and what was changed in rights',
    load: async () => (await import('./audit-command')).auditCommand,
  },
  usage: {
    description: 'shows who calls v2: requests, errors and lines of each provision, path and user agent, the newest use first',
    load: async () => (await import('./provision-commands')).usageCommand,
  },
  version: {
    description: "shows the versions of an organization's books",
    load: async () => (await import('./book-commands')).versionCommand,
  },
  history: {
    description: 'prunes old states of the books',
    load: async () => (await import('./book-commands')).historyCommand,
  },
  period: {
    description: 'closes months whose report was booked, and reopens them',
    load: async () => (await import('./period-commands')).periodCommand,
  },
  donor: {
    description: 'erases the texts of donors, and lists those who were erased',
    load: async () => (await import('./book-commands')).donorCommand,
  },
  check: {
    description: 'computes every line of the report from the books and compares it with the one that stands',
    load: async () => (await import('./book-commands')).checkCommand,
  },
  vacuum: {
    description: "writes the tables with donors' texts anew, so that no file has what was erased; reports and imports wait meanwhile",
    load: async () => (await import('./database-commands')).vacuumCommand,
  },
  backup: {
    description: 'writes the whole database to a file, in one state, also while a gateway serves it',
    load: async () => (await import('./backup-commands')).backupCommand,
  },
  restore: {
    description: 'makes the database of a backup, where there is none; an embedded one is in place when it is complete and compared',
    load: async () => (await import('./backup-commands')).restoreCommand,
  },
  verify: {
    description: 'restores a backup into a temporary database, compares the lines of each organization, and removes it',
    load: async () => (await import('./backup-commands')).verifyCommand,
  },
  parity: {
    description:
      'reads a range through every door of a running gateway and compares each with the books, without and with pending deposits',
    load: async () => (await import('./parity-command')).parityCommand,
  },
  report: {
    description: 'the saved reports of an organization: queries with names, whose files are served at /reports/NAME.csv',
    load: async () => (await import('./report-commands')).reportCommand,
  },
  journal: {
    description: 'the accounts that the journal of an organization is written to',
    load: async () => (await import('./report-commands')).journalCommand,
  },
  schema: {
    description: 'prints the GraphQL schema',
    load: async () => (await import('./schema-command')).schemaCommand,
  },
  completions: {
    description: 'prints a script by which a shell completes the words of this command',
    load: async () => (await import('./completions-command')).completionsCommand,
  },
};

/** The exit status of a command: 0 done, 1 failed, 2 wrong usage, 3 undecided. */
export type ExitStatus = 0 | 1 | 2 | 3;

/** The option that is followed by a file, which is no command. */
const SETTINGS_FILE = '--env-file';
/** The command whose output is made from all others. */
const COMPLETIONS = 'completions';
/** The command that is followed by the one that it describes. */
const HELP = 'help';

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
  const createContext = (readSettings: ReadSettings): CommandContext => {
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
  const chosen = words.find((word, position) => !word.startsWith('-') && word !== HELP && words[position - 1] !== SETTINGS_FILE);
  let complaint = '';
  const writeErr = (text: string): void => void (isJson ? (complaint += text) : terminal.errors.write(text));
  // The last write below throws the output's error; without these listeners an error would end the process before its work is done.
  terminal.output.on('error', () => undefined);
  terminal.errors.on('error', () => undefined);
  try {
    for (const [name, { description, load }] of Object.entries(commands)) {
      const isNeeded = chosen === name || chosen === COMPLETIONS;
      const command = isNeeded ? await create(load, createContext) : new Command(name);
      program.addCommand(command.description(description));
    }
    for (const command of withSubcommands(program)) {
      command.exitOverride().configureOutput({ writeOut: (text) => terminal.output.write(text), writeErr });
    }
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
      const text = isUsage ? complaint.trim().replace(/^error: /, '') : describeCommandFailure(error);
      const failure = { error: text, ...(error instanceof AppError && { code: error.code }), ...(used && { database: used }) };
      terminal.errors.write(`${JSON.stringify(failure)}\n`);
    } else if (!isUsage) terminal.errors.write(`${describeCommandFailure(error)}\n`);
    return isUsage || error instanceof UsageError ? 2 : error instanceof UndecidedError ? UNDECIDED : 1;
  }
}

/** Loads a command, and the reading of the settings that it gets. */
async function create(load: CommandEntry['load'], createContext: (readSettings: ReadSettings) => CommandContext): Promise<Command> {
  const [createCommand, { readSettings }] = await Promise.all([load(), import('../settings-file')]);
  return createCommand(() => createContext(readSettings));
}

interface ProgramOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly envFile?: string | false;
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
