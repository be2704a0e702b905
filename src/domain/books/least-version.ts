import { numberOf, type VersionStamp } from '../../data/postgres/version-stamp';
import { AppError, InputError } from '../../errors';

/** The header by which a caller asks for a version of the books that is not older than one it has seen. */
export const LEAST_VERSION = 'X-Min-Data-Version';

/** The number in the header, 0 without one. Throws INVALID_PARAMETERS for anything else than a number of a version. */
export function parseLeastVersion(text = '0'): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InputError(`${LEAST_VERSION} is not the number of a version`);
  return Number(text);
}

/**
 * Throws INVALID_PARAMETERS when the version is older than the request asks for, which happens when a server takes over that lacks what
 * another one had.
 */
export function assertNewEnough(version: VersionStamp, least: number): void {
  const number = numberOf(version);
  if (number >= least) return;
  const fault = `${LEAST_VERSION} is ${least}, and the books are of version ${number}`;
  throw new AppError('INVALID_PARAMETERS', { fault, retryAfterSeconds: 1 });
}
