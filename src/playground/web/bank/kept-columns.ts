import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { TableColumns, TableHead } from './table-columns';

/** The columns of a table are known by the SHA-256 of its header, so that no text of a file is kept. */
const keyOf = ({ names }: TableHead): string => `deposit-gateway.statement.${bytesToHex(sha256(utf8ToBytes(JSON.stringify(names))))}`;

/**
 * Reads the columns that somebody chose for a header before. One that cannot be read is as good as none. The order of dates and the decimal
 * sign are not kept: files of two banks may have the same header.
 */
export function readKeptColumns(head: TableHead): TableColumns | undefined {
  // Tables of two banks may have as many columns.
  if (!head.isNamed) return undefined;
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(head)) ?? 'null') as Partial<Record<keyof TableColumns, unknown>> | null;
    if (stored === null) return undefined;
    const place = (value: unknown): number | undefined => (typeof value === 'number' && value < head.names.length ? value : undefined);
    return {
      ...{ date: place(stored.date) ?? 0, amount: place(stored.amount), credit: place(stored.credit) },
      ...{ debit: place(stored.debit), text: place(stored.text), direction: place(stored.direction) },
      ...{ dateOrder: undefined, decimalSign: undefined },
    };
  } catch {
    return undefined;
  }
}

/** Keeps the columns of a header in this browser. */
export function keepColumns(head: TableHead, { dateOrder: _order, decimalSign: _sign, ...places }: TableColumns): void {
  if (!head.isNamed) return;
  try {
    localStorage.setItem(keyOf(head), JSON.stringify(places));
  } catch {
    // A browser without room, or that stores nothing, asks again.
  }
}
