import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { OperatorError } from '../../errors';

/** The first line of an encrypted file (age-encryption.org/v1). The program age reads such files too. */
const INTRO = 'age-encryption.org/v1\n';

/** The number of bytes by which `isEncrypted` tells files apart. */
export const INTRO_LENGTH = INTRO.length;

/** True when a file that begins with these bytes is encrypted. */
export const isEncrypted = (start: Buffer): boolean => start.toString('latin1', 0, INTRO_LENGTH) === INTRO;

/** Encrypts bytes with a passphrase: scrypt, then ChaCha20-Poly1305 in chunks of 64 kB whose order and end are sealed too. */
export async function* encrypt(source: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Buffer> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  yield* toBuffers(await encrypter.encrypt(toWebStream(source)));
}

/** Decrypts bytes. Throws an OperatorError for another passphrase, and for a file that was changed, cut or put together anew. */
export async function* decrypt(source: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Buffer> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const decrypted = await decrypter.decrypt(toWebStream(source)).catch((error: unknown) => {
    throw new OperatorError('The passphrase is not that of the backup, or its first bytes were changed', { cause: error });
  });
  try {
    yield* toBuffers(decrypted);
  } catch (error) {
    throw new OperatorError('The backup is not whole: its encryption is broken', { cause: error });
  }
}

/** The library takes and gives streams of the web, which Node's types tell from the browser's. */
const toWebStream = (source: AsyncIterable<Uint8Array>) =>
  Readable.toWeb(Readable.from(source, { objectMode: false })) as unknown as globalThis.ReadableStream<Uint8Array>;

async function* toBuffers(stream: object): AsyncGenerator<Buffer> {
  for await (const part of stream as ReadableStream<Uint8Array>) yield Buffer.from(part.buffer, part.byteOffset, part.byteLength);
}
