import { hash, verify } from '@node-rs/argon2';

// argon2id with 19 MiB and two passes, the library's default and OWASP's first choice.
export const MIN_PASSWORD_LENGTH = 12;

/** The password's argon2id hash in PHC string format. */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

/** Takes as long without a hash as with one, so that the time does not tell whether a user exists. */
export async function isPassword(password: string, passwordHash: string | undefined): Promise<boolean> {
  const matches = await verify(passwordHash ?? (await (someHash ??= hashPassword('no user has this password'))), password);
  return matches && passwordHash !== undefined;
}

let someHash: Promise<string> | undefined;
