import { readFile } from 'node:fs/promises';
import { OperatorError } from '../errors';
import { JsonFault, readJson } from '../formats/json-text';
import { rethrowUnreadable } from './secret-file';

/** A donor of a register that `donor erased --json` has written. */
export interface RegisteredErasure {
  /** The organization's name when the register was written. It may be another one's in a backup. */
  readonly organization: string;
  /** The number and the time that tell the organization from all others, in each of its backups. */
  readonly organizationId: number;
  readonly organizationCreatedAt: string;
  readonly donorId: number;
  readonly erasedAt: string;
  readonly erasedBy: string | null;
  readonly reason: string;
}

/** Reads the register in a file, the earliest erasure first. Throws an OperatorError, which names the file, for one that is none. */
export async function readRegister(file: string): Promise<RegisteredErasure[]> {
  const rows = parse(file, await readFile(file).catch(rethrowUnreadable(file)));
  const isRegister = Array.isArray(rows) && rows.every(isErasure);
  if (!isRegister) throw new OperatorError(`${file} is no register of erased donors: write one with \`donor erased --json\``);
  return rows.toSorted((a, b) => Date.parse(a.erasedAt) - Date.parse(b.erasedAt));
}

function parse(file: string, content: Uint8Array): unknown {
  try {
    return readJson(content);
  } catch (error) {
    if (error instanceof JsonFault) throw new OperatorError(`${file} ${error.message}`, { cause: error });
    throw error;
  }
}

function isErasure(row: unknown): row is RegisteredErasure {
  if (typeof row !== 'object' || row === null) return false;
  const { organization, organizationId, organizationCreatedAt, donorId, erasedAt, erasedBy, reason } = row as Readonly<
    Record<string, unknown>
  >;
  return (
    typeof organization === 'string' &&
    Number.isSafeInteger(organizationId) &&
    isInstant(organizationCreatedAt) &&
    Number.isSafeInteger(donorId) &&
    (donorId as number) > 0 &&
    isInstant(erasedAt) &&
    (erasedBy === null || typeof erasedBy === 'string') &&
    typeof reason === 'string' &&
    // PostgreSQL holds no NUL.
    !reason.includes('\0') &&
    !erasedBy?.includes('\0')
  );
}

const isInstant = (value: unknown): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value));
