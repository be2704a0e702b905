import { Argument, InvalidArgumentError, Option } from 'commander';
import { privileges } from '../values/privileges';
import { OperatorError } from '../errors';
import { describeDateFault, isLocalDate, type LocalDate } from '../values/dates';
import { periodNames } from '../values/periods';

/** A command whose options are wrong, or wrong together. The operator sees the message as it is. */
export class UsageError extends OperatorError {}

/** A command that could not tell what it was asked for: neither yes nor no. The operator sees the message as it is. */
export class UndecidedError extends OperatorError {}

/** Adds the value of an option that may be repeated. */
export const append = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value];

export const ORGANIZATION = ['--organization <name>', 'name of the organization'] as const;
export const USERNAME = ['--username <name>', 'name that the user logs in with'] as const;

/** The commands that change granted privileges. The word for taking one back is `revoke-grant`, because `revoke` ends a provision. */
export const grantCommands = [
  ['grant', 'grant', 'grants further privileges'],
  ['revoke-grant', 'revoke', 'takes privileges back'],
] as const;

/** Reads a date of an option. Throws the error that commander shows with the option's name. */
export function readDate(text: string): LocalDate {
  if (!isLocalDate(text)) throw new InvalidArgumentError(`${describeDateFault(text)}.`);
  return text;
}

/** Reads the address of a service. Commander does not read it, because its message would repeat the credentials in it. */
export function readAddress(option: string, text: string, example: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${option}: expected an address such as ${example}`);
  if (url.username !== '' || url.password !== '') throw new UsageError(`${option} must not have credentials: --provision-file has them`);
  return url;
}

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
