import { open } from 'node:fs/promises';
import { OperatorError } from '../errors';
import { openArchive, type OpenArchive } from '../formats/backup/backup-archive';
import { decrypt, encrypt, INTRO_LENGTH, isEncrypted } from '../formats/backup/backup-encryption';
import { readSecret } from './secret-file';
import { firstLineOf, readNewPassword, readPassword, type Terminal } from './terminal';

/** The options of commands that read or write an encrypted file. */
export interface PassphraseOptions {
  /** The file whose first line is the passphrase; the terminal or standard input when it is missing. */
  readonly passphraseFile?: string;
}

const MIN_PASSPHRASE_LENGTH = 12;
const PASSPHRASE = 'Passphrase';

/** Asks for the passphrase of a new file, and returns the function that encrypts with it. */
export async function createEncryption(terminal: Terminal, { passphraseFile }: PassphraseOptions) {
  const passphrase = passphraseFile === undefined ? await readNewPassword(terminal, PASSPHRASE) : await readFirstLine(passphraseFile);
  if (passphrase.length < MIN_PASSPHRASE_LENGTH) {
    throw new OperatorError(`The passphrase needs at least ${MIN_PASSPHRASE_LENGTH} characters`);
  }
  return (content: AsyncIterable<Buffer>): AsyncIterable<Buffer> => encrypt(content, passphrase);
}

/** Opens the archive in a file, and asks for the passphrase when it is encrypted. Throws an OperatorError when it is no backup. */
export async function openBackupFile(terminal: Terminal, file: string, { passphraseFile }: PassphraseOptions): Promise<OpenArchive> {
  const onFault = (error: unknown): never => {
    throw new OperatorError(`Cannot read ${file}: ${(error as Error).message}`, { cause: error });
  };
  const handle = await open(file).catch(onFault);
  const start = Buffer.alloc(INTRO_LENGTH);
  await handle.read(start, 0, INTRO_LENGTH, 0).catch(onFault);
  const content = handle.createReadStream({ start: 0 });
  if (!isEncrypted(start)) return openArchive(content);
  const passphrase = passphraseFile === undefined ? await readPassword(terminal, PASSPHRASE) : await readFirstLine(passphraseFile);
  if (passphrase === '') throw new OperatorError(`No passphrase was given: ${file} is encrypted, and --passphrase-file names its file`);
  return openArchive(decrypt(content, passphrase));
}

const readFirstLine = async (file: string): Promise<string> => firstLineOf(await readSecret(file), file);
