import { Argument, InvalidArgumentError, Option } from 'commander';
import { privileges } from '../values/privileges';
import { OperatorError } from '../errors';
import { describeDateFault, isLocalDate, type LocalDate } from '../values/dates';
import { periodNames } from '../values/periods';

/** A command whose options are wrong, or wrong together. The operator sees the message as it is. */
export class UsageError extends OperatorError {}

/** A command that could not find out what it was asked. The operator sees the message as it is. */
export class UndecidedError extends OperatorError {}

/** The exit status of such a command. */
export const UNDECIDED = 3;

/** The file of settings that is read where it is there, unless a command names another one or none. */
export const DEFAULT_SETTINGS_FILE = '/etc/deposit-gateway/gateway.env';

/** Adds the value of an option that may be repeated. */
export const append = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value];

export const ORGANIZATION = ['--organization <name>', 'name of the organization'] as const;
export const USERNAME = ['--username <name>', 'name that the user logs in with'] as const;

/** The commands that change granted privileges. The word for taking one back is `revoke-grant`, because `revoke` ends a provision. */
export const grantCommands = [
  ['grant', 'grant', 'grants further privileges'],
  ['revoke-grant', 'revoke', 'takes privileges back'],
] as const;

const lateChoices = ['refuse', 'accept'] as const;
export type LateChoice = (typeof lateChoices)[number];

/** `--late`, for what imports lines. */
export const lateOption = (): Option =>
  new Option('--late <choice>', 'of changes of money at closed dates, refuses all of the import or lets them in as late')
    .choices(lateChoices)
    .default('refuse');

/** `--period`, the name of a period. */
export const periodOption = (description: string): Option => new Option('--period <name>', description).choices(periodNames);

/** One or more privileges. Help and completions list them; the service refuses others, with the same list. */
export function privilegesArgument(): Argument {
  const argument = new Argument('<privilege...>', 'one or more privileges');
  argument.argChoices = [...privileges];
  return argument;
}

/** `--grant`, for a new user or provision. */
export function grantOption(holder: 'user' | 'provision'): Option {
  const option = new Option('--grant <privilege>', `privilege beside those that every ${holder} has; may be repeated`);
  option.argChoices = [...privileges];
  return option.default([], 'none').argParser(append);
}

export const listPrivileges = (held: readonly string[]): string => (held.length > 0 ? held.join(' ') : 'no privileges');

export const MS_PER_SECOND = 1000;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Reads a time such as `45d` as seconds. Throws the error that commander shows with the option's name. */
export function readSeconds(text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? [];
  if (unit === undefined) throw new InvalidArgumentError('It must be a number with s, m, h or d, such as 15m.');
  return Number(count) * UNITS[unit]!;
}

/** Longer times overflow the timers of Node. */
const MAX_SECONDS = 20 * 86_400;

/** Reads a time of a timer. Throws the error that commander shows with the option's name. */
export function readTime(text: string): number {
  const seconds = readSeconds(text);
  if (seconds > MAX_SECONDS) throw new InvalidArgumentError('It must be at most 20d.');
  return seconds;
}

/** Reads a date. Throws the error that commander shows with the option's name. */
export function readDate(text: string): LocalDate {
  if (!isLocalDate(text)) throw new InvalidArgumentError(`${describeDateFault(text)}.`);
  return text;
}
