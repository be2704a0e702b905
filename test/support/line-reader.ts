import type { FileFormat } from '../../src/values/file-formats';
import { readImportLines } from '../../src/formats/import-format';

/** The lines of a text that comes in pieces of random sizes, or the message of its fault. */
export async function readLines(
  format: FileFormat,
  text: string | Buffer,
  cuts: readonly number[],
): Promise<{ line: number; values: unknown }[] | string> {
  const bytes = Buffer.from(text as string);
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0, piece = 0; at < bytes.length; piece++) {
      const length = cuts[piece % cuts.length]!;
      yield await Promise.resolve(bytes.subarray(at, at + length));
      at += length;
    }
  }
  const lines: { line: number; values: unknown }[] = [];
  try {
    for await (const some of readImportLines(format, pieces())) lines.push(...some);
    return lines;
  } catch (error) {
    return (error as Error).message;
  }
}
