import { hash } from 'node:crypto';
import { v2Names, type FileValues, type V2Name } from '../line/line-fields';

/** Sums are taken modulo the number of values that a SHA-256 can have. */
const MODULUS = 1n << 256n;

/** The JSON object of a line as v2 writes it: 26 fields in v2's order (contract section 4.3). */
export function toV2Json(values: Pick<FileValues, V2Name>): string {
  // A list of names as JSON.stringify's second argument takes twice as long.
  const line: Partial<Record<V2Name, unknown>> = {};
  for (const name of v2Names) line[name] = values[name];
  return JSON.stringify(line);
}

/** The SHA-256 of a line's v2 JSON, as a number. */
export const hashLine = (json: string | Buffer): bigint => BigInt(`0x${hash('sha256', json, 'hex')}`);

/**
 * The number of lines and the sum of their hashes, which are the same in whatever order the lines come. Two answers with equal sums have
 * equal lines, each as often.
 */
export class LineSum {
  private count = 0;
  private sum = 0n;

  get lines(): number {
    return this.count;
  }

  add(hash: bigint): void {
    this.count++;
    this.sum = (this.sum + hash) % MODULUS;
  }

  equals(other: LineSum): boolean {
    return this.count === other.count && this.sum === other.sum;
  }
}
