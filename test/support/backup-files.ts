import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';

const run = promisify(execFile);

/** A file within a backup. */
export interface BackupEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** The names of the files in a backup, as tar(1) lists them. */
export async function listBackup(file: string): Promise<string[]> {
  const { stdout } = await run('tar', ['tzf', file]);
  return stdout.trim().split('\n');
}

/** The files in a backup. */
export async function readBackup(file: string): Promise<BackupEntry[]> {
  const tar = extract();
  tar.end(gunzipSync(await readFile(file)));
  const entries: BackupEntry[] = [];
  for await (const entry of tar) {
    const parts: Buffer[] = [];
    for await (const part of entry) parts.push(part as Buffer);
    entries.push({ name: entry.header.name, content: Buffer.concat(parts) });
  }
  return entries;
}

/** Writes files as a backup. */
export async function writeBackup(file: string, entries: readonly BackupEntry[]): Promise<void> {
  const tar = pack();
  for (const { name, content } of entries) tar.entry({ name }, content);
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  await writeFile(file, gzipSync(Buffer.concat(parts)));
}

/** The file of the checksums that belongs to files, as sha256sum(1) writes it. */
export function sumsOf(entries: readonly BackupEntry[]): BackupEntry {
  const lines = entries.map(({ name, content }) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
  return { name: 'SHA256SUMS', content: Buffer.from(lines.join('')) };
}
