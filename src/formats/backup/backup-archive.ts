import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack, type Pack } from 'tar-stream';
import { z } from 'zod';
import { OperatorError } from '../../errors';

/**
 * The layout of a backup: a gzipped tar, so that tar and sha256sum read it without the gateway. `manifest.json` comes first, then the rows
 * of each table in pieces, as COPY's text, and last `SHA256SUMS` with the SHA-256 of every file before it.
 */
const FORMAT = 1;
const MANIFEST = 'manifest.json';
const SUMS = 'SHA256SUMS';
const PIECE = /^tables\/(.{1,63})\/[0-9]{6,}\.copy$/s;

/** The bytes of a table's rows in one file of the archive. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** A file of the archive is read into memory, so that one which claims to be longer is refused. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Level 2 takes a third of the time of level 6, and a tenth more space. */
const GZIP_LEVEL = 2;
const NAME_DIGITS = 6;
const OWNER_ONLY = 0o600;

const organizationShape = z.object({
  name: z.string(),
  /** The newest version of its books. */
  dataVersion: z.number(),
  lines: z.number(),
  transactions: z.number(),
  deposits: z.number(),
  /** The sum by transaction, as exact text. */
  amount: z.string(),
  /** The digest of all of its lines, those of pending deposits too. */
  digest: z.string(),
  /** The money digest of the same lines. */
  moneyDigest: z.string(),
  /** The newest place of its audit, as `audit anchor` prints it; null without an audit. */
  audit: z.string().nullable(),
});

const manifestShape = z.object({
  format: z.literal(FORMAT),
  /** The version of the gateway that wrote the backup. */
  gateway: z.string(),
  postgres: z.string(),
  createdAt: z.iso.datetime(),
  /** The names of the migrations that the database had, in order. */
  migrations: z.array(z.string()),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  sequences: z.array(z.object({ name: z.string(), value: z.string(), isCalled: z.boolean() })),
  /** Null when the schema was older than the gateway, which cannot read its lines then. */
  organizations: z.array(organizationShape).nullable(),
});

/** The facts of an organization by which a restored copy is compared with the database that the backup is of. */
export type OrganizationFigures = Readonly<z.output<typeof organizationShape>>;
export type BackupTable = Readonly<z.output<typeof manifestShape>['tables'][number]>;
export type BackupSequence = Readonly<z.output<typeof manifestShape>['sequences'][number]>;
export type BackupManifest = Readonly<Omit<z.output<typeof manifestShape>, 'format'>>;

/** Rows of a table in COPY's text format, cut anywhere. The pieces of a table follow one another. */
export interface TablePiece {
  readonly table: string;
  readonly content: Buffer;
}

/** A backup that is being read. `pieces` must be read to their end: only there is it known that the backup is whole. */
export interface OpenArchive {
  readonly manifest: BackupManifest;
  readonly pieces: AsyncGenerator<TablePiece>;
}

/** Writes a backup to `target`, at the pace at which that takes it. Throws the error of the rows, or of the target. */
export async function writeArchive(
  manifest: BackupManifest,
  pieces: AsyncIterable<TablePiece>,
  target: (archive: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const tar = pack();
  // A stream that fails also fails those beside it, with an error that says less. The first error is the reason.
  let reason: unknown;
  const note = (error: unknown): never => {
    reason ??= error;
    throw error;
  };
  const filling = fill(tar, manifest, pieces).catch((error: unknown) => {
    if (!tar.destroyed) reason ??= error;
    tar.destroy(error as Error);
  });
  try {
    await pipeline(tar, createGzip({ level: GZIP_LEVEL }), (archive: AsyncIterable<Buffer>) => target(archive).catch(note));
  } catch (error) {
    reason ??= error;
  }
  tar.destroy();
  await filling;
  if (reason !== undefined) throw reason as Error;
}

async function fill(tar: Pack, manifest: BackupManifest, pieces: AsyncIterable<TablePiece>): Promise<void> {
  const mtime = new Date(manifest.createdAt);
  let sums = '';
  const add = async (name: string, content: Buffer): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      const entry = tar.entry({ name, mode: OWNER_ONLY, mtime }, content, (error) => (error ? reject(error) : resolve()));
      // An archive that is given up gives up its open entry. An error that nobody listens for would end the process.
      entry.on('error', reject);
    });
    sums += toSum(name, content);
  };
  await add(MANIFEST, Buffer.from(`${JSON.stringify({ format: FORMAT, ...manifest }, null, 1)}\n`));
  const numbers = new Map<string, number>();
  for await (const { table, content } of joinPieces(pieces)) {
    const number = (numbers.get(table) ?? 0) + 1;
    numbers.set(table, number);
    await add(`tables/${table}/${String(number).padStart(NAME_DIGITS, '0')}.copy`, content);
  }
  await add(SUMS, Buffer.from(sums));
  tar.finalize();
}

/** Puts pieces of a table together to the length of a file of the archive. */
async function* joinPieces(pieces: AsyncIterable<TablePiece>): AsyncGenerator<TablePiece> {
  let table = '';
  let waiting: Buffer[] = [];
  let length = 0;
  const take = (): TablePiece => {
    const content = Buffer.concat(waiting);
    waiting = [];
    length = 0;
    return { table, content };
  };
  for await (const piece of pieces) {
    if (length > 0 && (piece.table !== table || length >= PIECE_BYTES)) yield take();
    ({ table } = piece);
    waiting.push(piece.content);
    length += piece.content.length;
  }
  if (length > 0) yield take();
}

/** Opens a backup. Throws an OperatorError, here or while the pieces are read, when it is not one, not whole, or was changed. */
export async function openArchive(source: AsyncIterable<Uint8Array>): Promise<OpenArchive> {
  const files = readFiles(source);
  const first = await files.next();
  if (first.done || first.value.name !== MANIFEST) throw damaged(`${MANIFEST} is missing`);
  return { manifest: parseManifest(first.value.content), pieces: readPieces(files) };
}

function parseManifest(content: Buffer): BackupManifest {
  const { format } = z.object({ format: z.number() }).catch({ format: 0 }).parse(parseJson(content));
  if (format > FORMAT) throw new OperatorError(`The backup has format ${format}, of a newer gateway`);
  const result = manifestShape.safeParse(parseJson(content));
  if (!result.success) throw damaged(`${MANIFEST}: ${result.error.issues[0]?.path.join('.') ?? ''} cannot be read`);
  return result.data;
}

function parseJson(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString());
  } catch {
    throw damaged(`${MANIFEST} cannot be read`);
  }
}

interface ArchiveFile {
  readonly name: string;
  readonly content: Buffer;
}

async function* readPieces(files: AsyncGenerator<ArchiveFile>): AsyncGenerator<TablePiece> {
  for await (const { name, content } of files) {
    const table = PIECE.exec(name)?.[1];
    if (table === undefined) throw damaged(`it has a file ${JSON.stringify(name)}`);
    yield { table, content };
  }
}

/** Reads the files before SHA256SUMS, and compares them with it. */
async function* readFiles(source: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveFile> {
  const tar = extract();
  const feeding = pipeline(source, createGunzip(), tar);
  // The loop below gets the error too.
  feeding.catch(() => undefined);
  let sums = '';
  let isWhole = false;
  try {
    for await (const entry of tar) {
      const { name, size } = entry.header;
      if (isWhole || size > MAX_FILE_BYTES) throw damaged(`the file ${JSON.stringify(name)} does not belong there`);
      const parts: Buffer[] = [];
      for await (const part of entry) parts.push(part as Buffer);
      const content = Buffer.concat(parts);
      if (name === SUMS) {
        if (content.toString() !== sums) throw damaged('the checksums are not those of its content');
        isWhole = true;
        continue;
      }
      sums += toSum(name, content);
      yield { name, content };
    }
    await feeding;
  } catch (error) {
    throw error instanceof OperatorError ? error : damaged((error as Error).message, error);
  }
  if (!isWhole) throw damaged('it has no end');
}

/** A line of SHA256SUMS, as sha256sum(1) writes it. */
const toSum = (name: string, content: Buffer): string => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;

const damaged = (reason: string, cause?: unknown): OperatorError => new OperatorError(`The backup is not whole: ${reason}`, { cause });
