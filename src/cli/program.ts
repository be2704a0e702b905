import { Command, CommanderError } from 'commander';
import { ConfigError, readConfig } from '../config';
import { AppError, describeError, OperatorError } from '../errors';
import { auditCommand } from './audit-command';
import { checkCommand, versionCommand } from './book-commands';
import type { CommandContext } from './command';
import { demoCommand } from './demo-command';
import { exportCommand } from './export-command';
import { importCommand } from './import-command';
import { migrateCommand } from './migrate-command';
import { organizationCommand, provisionCommand, userCommand } from './organization-commands';
import { reportCommand } from './report-command';
import { schemaCommand } from './schema-command';
import { serveCommand } from './serve-command';
import { write, type Terminal } from './terminal';

/** The exit status of a command: 0 done, 1 failed, 2 wrong usage. */
export type ExitStatus = 0 | 1 | 2;

/** Runs `deposit-gateway` with these words. A failure is reported on standard error. */
export async function runProgram(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const program = new Command('deposit-gateway').description("A GraphQL and v2 REST gateway over a non-profit's deposit data");
  program.option('--json', 'print machine-readable output', false);
  const context = (): CommandContext => ({ terminal, json: program.opts<{ json: boolean }>().json, config: readConfig(environment) });
  const commands = [
    serveCommand,
    migrateCommand,
    demoCommand,
    organizationCommand,
    provisionCommand,
    userCommand,
    importCommand,
    exportCommand,
    auditCommand,
    versionCommand,
    checkCommand,
    reportCommand,
    schemaCommand,
  ];
  for (const create of commands) program.addCommand(create(context));
  for (const command of withSubcommands(program)) {
    command
      .exitOverride()
      .configureOutput({ writeOut: (text) => terminal.output.write(text), writeErr: (text) => terminal.errors.write(text) });
  }
  // The last write below throws the output's error; without this listener the error would end the process before.
  terminal.output.on('error', () => undefined);
  try {
    await program.parseAsync([...words], { from: 'user' });
    await write(terminal.output, '');
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.errors.write(`${describe(error)}\n`);
    return 1;
  }
}

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
