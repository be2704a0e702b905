import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { ChangeSource } from '../data/books/book-transaction';
import { OperatorError } from '../errors';
import { importFormatNames, type ImportFormat } from '../values/file-formats';
import type { CommandContext } from './command';
import { UsageError } from './command-options';
import { NO_PROGRESS, startProgress, toPrintable, type Progress } from './terminal';

/** The word that stands for standard input in the place of a file. */
export const STANDARD_INPUT = '-';

/** The format of an import: the one that the operator names, or that the file's name ends in. */
export function toFormat(file: string, named: ImportFormat | undefined): ImportFormat {
  if (named !== undefined) return named;
  if (file === STANDARD_INPUT) throw new UsageError('Standard input has no ending: --format json, ndjson or csv names its format');
  const format = importFormatNames.find((known) => `.${known}` === extname(file).toLowerCase());
  if (!format) throw new OperatorError(`${file}: the name of an import file ends in .json, .ndjson or .csv, or --format names its format`);
  return format;
}

/** The file, or the standard input, that an import reads: once, as it comes, and never a copy on the disk. */
export class ImportSource {
  private readonly hash = createHash('sha256');
  private readonly isPipe: boolean;

  constructor(
    private readonly file: string,
    readonly format: ImportFormat,
    private readonly context: Pick<CommandContext, 'terminal' | 'json'>,
    /** True where a file of NDJSON may say that there are no lines. */
    private readonly mayBeEmpty: boolean,
  ) {
    this.isPipe = file === STANDARD_INPUT;
  }

  /**
   * The bytes of the file. Throws an OperatorError when it cannot be read, and when it is empty and may not be: its source has most likely
   * failed.
   */
  async *read(): AsyncGenerator<Buffer> {
    const { file, isPipe, hash, context } = this;
    const progress = isPipe ? this.awaitInput() : startProgress(context.terminal, await sizeOf(file), FILE_PROGRESS);
    let isEmpty = true;
    try {
      for await (const piece of (isPipe ? context.terminal.input : createReadStream(file)) as AsyncIterable<Buffer>) {
        isEmpty = false;
        progress.add(piece.length);
        hash.update(piece);
        yield piece;
      }
    } catch (error) {
      throw new OperatorError(`Cannot read ${isPipe ? 'standard input' : file}`, { cause: error });
    } finally {
      progress.stop();
    }
    if (isEmpty && (isPipe || !this.mayBeEmpty)) throw new OperatorError(`${isPipe ? 'Standard input' : file} ${EMPTY}`);
  }

  /** The origin of the change, when everything has been read. */
  toChange(): ChangeSource {
    const name = this.isPipe ? 'standard input' : toPrintable(basename(this.file));
    return { cause: 'import', file: { name, sha256: this.hash.digest('hex') } };
  }

  /** Tells a person at a terminal what is awaited. A progress bar would overwrite what the person types. */
  private awaitInput(): Progress {
    const { terminal, json } = this.context;
    if (!terminal.input.isTTY) return startProgress(terminal, undefined, INPUT_PROGRESS);
    if (!json) terminal.errors.write(`Type or paste deposit lines as ${this.format}; Ctrl-D at the start of a line ends them\n`);
    return NO_PROGRESS;
  }
}

const FILE_PROGRESS = 'Importing {bar} {percentage}% | {eta_formatted} left';
const INPUT_PROGRESS = 'Importing | {value} bytes | {duration_formatted}';
const EMPTY = 'is empty: nothing was imported. A source without lines sends {"response":[]}, or CSV with its header';

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: unknown) => {
    throw new OperatorError(`Cannot read ${file}`, { cause: error });
  });
  if (!found.isFile()) throw new OperatorError(`${file} is not a file`);
  return found.size;
}
