import { hash, verify } from '@node-rs/argon2';

export const MIN_PASSWORD_LENGTH = 12;

/** Hashes a password by argon2id with 19 MiB and two passes, the library's default and OWASP's first choice. PHC string format. */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

/** True when the password has this hash. A check without a hash takes as long, so that the time does not tell whether a user exists. */
export async function isPassword(password: string, passwordHash: string | undefined): Promise<boolean> {
  const matches = await verify(passwordHash ?? (await (someHash ??= hashPassword('no user has this password'))), password);
  return matches && passwordHash !== undefined;
}

let someHash: Promise<string> | undefined;
