import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Presets, SingleBar } from 'cli-progress';
import { InvalidArgumentError } from 'commander';
import { OperatorError } from '../errors';
import { decodeUtf8, mayBeMisread, Utf8Fault } from '../values/utf8';

/** The standard streams of a command. */
export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly errors: NodeJS.WriteStream;
}

/** Prints a result as JSON when the operator asked for it, otherwise as text. */
export function printResult(terminal: Terminal, json: boolean, result: unknown, text: string): void {
  terminal.output.write(json ? `${JSON.stringify(result)}\n` : text === '' ? '' : `${text}\n`);
}

/** The text without control characters: those of an id could clear the screen, or forge a row of a table. */
export const toPrintable = (text: string): string => text.replace(/\p{Cc}/gu, '?');

/** The day of a time in UTC; empty for none. */
export const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';

/** A table in text: each column is as wide as its longest value. */
export function formatTable(header: readonly string[], values: readonly (readonly string[])[]): string {
  const rows = values.map((row) => row.map(toPrintable));
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)));
  return [header, ...rows]
    .map((row) =>
      row
        .map((value, column) => value.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const MAX_COUNT = 100_000;

/** Reads the number of entries to list. Throws the error that commander shows with the option's name. */
export function readCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || count < 1 || count > MAX_COUNT)
    throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_COUNT}.`);
  return count;
}

/** Reads a limit, which may be 0. Throws the error that commander shows with the option's name. */
export function readLimit(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Asks for a new password twice without showing it. Reads the first line when standard input is not a terminal. */
export async function readNewPassword(terminal: Terminal, name = 'Password'): Promise<string> {
  const password = await readPassword(terminal, name);
  if (!terminal.input.isTTY) return password;
  if (password !== (await readPassword(terminal, `${name} again`))) throw new OperatorError(`The two ${name.toLowerCase()}s differ`);
  return password;
}

/** Asks for a password without showing it. Reads the first line when standard input is not a terminal. */
export async function readPassword(terminal: Terminal, name: string): Promise<string> {
  const { input } = terminal;
  if (input.isTTY) {
    const password = await askSilently(terminal, `${name}: `);
    if (mayBeMisread(password)) throw new OperatorError(`The ${name.toLowerCase()} is not UTF-8: set the terminal to UTF-8`);
    return password;
  }
  const pieces: Buffer[] = [];
  for await (const piece of input) {
    pieces.push(Buffer.from(piece as Buffer | string));
    if (pieces.at(-1)!.some((byte) => LINE_ENDS.includes(byte))) break;
  }
  return firstLineOf(Buffer.concat(pieces), `The ${name.toLowerCase()}`);
}

const LINE_ENDS = [...Buffer.from('\r\n')];

/** The first line of what was read, without its end and the mark that some editors begin a file with. Throws as `toText`. */
export function firstLineOf(bytes: Buffer, name: string): string {
  const end = bytes.findIndex((byte) => LINE_ENDS.includes(byte));
  return toText(end < 0 ? bytes : bytes.subarray(0, end), name).replace(/^\uFEFF/, '');
}

/** Decodes what an operator gave. Throws an OperatorError that begins with its name for bytes that are not UTF-8. */
export function toText(bytes: Buffer, name: string): string {
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (error instanceof Utf8Fault) throw new OperatorError(`${name} ${error.message}`, { cause: error });
    throw error;
  }
}

async function askSilently({ input, errors }: Terminal, question: string): Promise<string> {
  const silent = new Writable({ write: (_piece, _encoding, done) => done() });
  const prompt = createInterface({ input, output: silent, terminal: true });
  errors.write(question);
  try {
    return await prompt.question('');
  } catch (error) {
    throw new OperatorError('No password was given', { cause: error });
  } finally {
    prompt.close();
    errors.write('\n');
  }
}

/** A progress bar, which is shown on a terminal only. */
export interface Progress {
  /** Adds to what is done. The bar's format may have the names of the details. */
  add(amount: number, details?: Readonly<Record<string, string | number>>): void;
  stop(): void;
}

export const NO_PROGRESS: Progress = { add: () => undefined, stop: () => undefined };

export function startProgress({ errors }: Terminal, total: number | undefined, format: string): Progress {
  if (!errors.isTTY) return NO_PROGRESS;
  const bar = new SingleBar({ stream: errors, format, hideCursor: true, clearOnComplete: true }, Presets.shades_classic);
  bar.start(total ?? 0, 0);
  return { add: (amount, details) => bar.increment(amount, details), stop: () => bar.stop() };
}

/** Writes a piece, and resolves when the reader has taken it. Throws an OperatorError when the stream fails. */
export async function write(stream: Writable, piece: Buffer | string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.write(piece, (error) => {
      if (error) reject(new OperatorError(`Cannot write: ${error.message}`, { cause: error }));
      else resolve();
    });
  });
}

/** Writes all blocks at the pace of the reader. Throws an OperatorError when the stream fails. */
export async function writeAll(stream: Writable, content: AsyncIterable<Buffer>): Promise<void> {
  for await (const block of content) await write(stream, block);
}
