import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { ConfigError, isSecretSetting, isSettingName, readConfig, type Config } from '../config';
import { decodeUtf8, Utf8Fault } from '../values/utf8';
import { DEFAULT_SETTINGS_FILE } from './command-options';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Settings {
  readonly config: Config;
  /** False where neither an address nor a directory is set, so that the database lies where the command was started. */
  readonly namesDatabase: boolean;
}

export type ReadSettings = typeof readSettings;

const OTHERS_MAY = 0o006;
/** The addresses of one database. That of a role is not mixed with that of another database. */
const ADDRESSES = ['DATABASE_URL', 'OWNER_DATABASE_URL', 'DATABASE_REPLICA_URLS'];

/** Reads the settings of the environment and of a file, which `withSettingsFile` describes. Throws a ConfigError. */
export function readSettings(environment: Environment, file: string | false | undefined): Settings {
  const whole = withSettingsFile(environment, file);
  const config = readConfig(whole);
  return { config, namesDatabase: config.DATABASE_URL !== '' || Boolean(whole.DATA_DIR) };
}

/**
 * The environment with the settings of a file, which the environment's own win over. `file` is the one that a command names, `undefined` for
 * the default one, where that is there, and `false` for none. Throws a ConfigError with all faults of the file, and for a default file whose
 * database is not the one that the environment's DATA_DIR has.
 */
export function withSettingsFile(environment: Environment, file: string | false | undefined): Environment {
  if (file === false) return environment;
  const content = readSettingsFile(file ?? DEFAULT_SETTINGS_FILE, file === undefined);
  if (content === undefined) return environment;
  const found = parseSettings(file ?? DEFAULT_SETTINGS_FILE, content.text);
  if (content.isOpenToOthers && [...found.keys()].some(isSecretSetting)) {
    throw new ConfigError(
      `${file ?? DEFAULT_SETTINGS_FILE}: every account of this machine may read or change the file, which holds secrets: chmod o= takes that away`,
    );
  }
  const own = (name: string): boolean => Boolean(environment[name]) || Boolean(environment[`${name}_FILE`]);
  const hasAddress = found.has('DATABASE_URL') || found.has('DATABASE_URL_FILE');
  if (file === undefined && hasAddress && own('DATA_DIR') && !own('DATABASE_URL')) {
    throw new ConfigError(
      `the environment has DATA_DIR, and ${DEFAULT_SETTINGS_FILE} has DATABASE_URL: choose by --no-env-file or --env-file ${DEFAULT_SETTINGS_FILE}`,
    );
  }
  const isOverruled = (name: string): boolean => {
    const setting = name.replace(/_FILE$/, '');
    return own(name) || own(setting) || (ADDRESSES.includes(setting) && own('DATABASE_URL'));
  };
  return { ...environment, ...Object.fromEntries([...found].filter(([name]) => !isOverruled(name))) };
}

const isQuoted = (given: string): boolean => /^(["']).*\1$/.test(given.trim());

/** The text of a file; undefined for one that is not there, where it need not be. A pipe is read once. */
function readSettingsFile(file: string, mayLack: boolean): { readonly text: string; readonly isOpenToOthers: boolean } | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const status = fstatSync(handle);
    const text = decodeUtf8(readFileSync(handle)).replace(/^\uFEFF/, '');
    return { text, isOpenToOthers: status.isFile() && (status.mode & OTHERS_MAY) !== 0 };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (mayLack && code === 'ENOENT') return undefined;
    throw new ConfigError(`${file}: the file of settings ${error instanceof Utf8Fault ? message : `cannot be read: ${message}`}`);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/**
 * Parses `NAME=value` lines as systemd's EnvironmentFile and Docker's --env-file agree on them: a `#` begins a comment at the start of a line
 * alone, and no value goes on in the next line. A line that the two read differently is a fault, but for quotes around a whole value, which
 * are no part of it. Node's own parser would end a password at its first `#`.
 */
function parseSettings(file: string, text: string): Map<string, string> {
  const found = new Map<string, string>();
  const lines = new Map<string, number>();
  const faults: string[] = [];
  for (const [position, content] of text.split('\n').entries()) {
    const line = content.trim();
    const number = position + 1;
    const fault = (reason: string): void => void faults.push(`${file}, line ${number}: ${reason}`);
    if (line === '' || line.startsWith('#')) continue;
    const [, name = '', given] = /^([^=]*)=(.*)$/.exec(line) ?? [];
    const value = given?.trim().replace(/^(["'])(.*)\1$/, '$2') ?? '';
    if (given === undefined) fault('expected NAME=value');
    else if (/^export\s/.test(name)) fault('leave out export: the file is no script of a shell');
    else if (/\s/.test(name)) fault('expected no blank before the =');
    else if (!isSettingName(name)) fault(`${/^[A-Za-z_]\w*$/.test(name) ? name : 'the name'} is no setting`);
    else if (lines.has(name)) fault(`${name} is set in line ${lines.get(name)!} too`);
    else if (/[\\\p{Cc}]/u.test(value)) fault(`${name} has a backslash or a control character`);
    else if (/^["']/.test(value)) fault(`${name} begins with a quote that does not end the value`);
    else if (isQuoted(given) && /["']/.test(value)) fault(`${name} has a quote within quotes`);
    else found.set(name, value);
    lines.set(name, lines.get(name) ?? number);
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return found;
}
