import { dirname, resolve } from 'node:path';
import { getuid } from 'node:process';
import { OperatorError } from '../../errors';

type Describe = (directory: string) => string;

const notOurs: Describe = (directory) =>
  `this account (uid ${getuid?.()}) may not read and write ${directory}: give it the directory with chown, or set DATA_DIR to one that it has`;
const full: Describe = (directory) => `there is no room left for ${directory}: free some, or set DATA_DIR to a directory on another disk`;

/** The faults of a data directory by the system's code, in words that say what to do. */
const faults: Readonly<Record<string, Describe>> = {
  EACCES: notOurs,
  EPERM: notOurs,
  EROFS: (directory) => `${directory} is on a disk that nobody may write: set DATA_DIR to a directory on another one`,
  // Parents are not made, so that a misspelt path is an error.
  ENOENT: (directory) => `${directory} cannot be made, because ${dirname(directory)} is not there: make that first, or mend DATA_DIR`,
  ENOTDIR: (directory) => `${directory} is no directory, or lies in none: set DATA_DIR to one`,
  ELOOP: (directory) => `${directory} is a link that leads to itself: set DATA_DIR to a directory`,
  ENAMETOOLONG: (directory) => `the name of ${directory} is too long: set DATA_DIR to a shorter one`,
  ENOSPC: full,
  EDQUOT: full,
};

/** Takes a step in a data directory. Throws an OperatorError that names the directory, and what to do, when the system refuses the step. */
export async function inDirectory<Result>(dataDirectory: string, step: Promise<Result>): Promise<Result> {
  try {
    return await step;
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    const describe = syscall !== undefined && Object.hasOwn(faults, code) ? faults[code] : undefined;
    throw describe ? new OperatorError(`DATA_DIR: ${describe(resolve(dataDirectory))}`, { cause: error }) : error;
  }
}
