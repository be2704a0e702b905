import { readFile, stat } from 'node:fs/promises';
import { OperatorError } from '../errors';

const OTHERS_MAY = 0o006;

export const rethrowUnreadable =
  (file: string) =>
  (error: unknown): never => {
    throw new OperatorError(`Cannot read ${file}`, { cause: error });
  };

/** Reads a secret from a file of its own, which no other account may read. */
export async function readSecret(file: string): Promise<Buffer> {
  const { mode } = await stat(file).catch(rethrowUnreadable(file));
  if ((mode & OTHERS_MAY) !== 0)
    throw new OperatorError(`${file}: every account of this machine may read or change it: chmod o= takes that away`);
  return readFile(file).catch(rethrowUnreadable(file));
}
