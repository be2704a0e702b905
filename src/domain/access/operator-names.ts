import { OperatorError } from '../../errors';

const MAX_NAME_LENGTH = 200;

/** Throws an OperatorError for a name that an organization or a user cannot have. */
export function assertName(what: string, name: string): void {
  if (name.trim() !== name || name === '' || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name)) {
    throw new OperatorError(
      `The name of the ${what} must be 1 to ${MAX_NAME_LENGTH} characters, with no blanks around it and no control characters`,
    );
  }
}
