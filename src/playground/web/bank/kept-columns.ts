import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { dateOrders, decimalSigns, type TableColumns, type TableHead } from './table-columns';

/** The columns of a table are known by the SHA-256 of its header, so that no text of a file is kept. */
const keyOf = ({ names }: TableHead): string => `deposit-gateway.statement.${bytesToHex(sha256(utf8ToBytes(JSON.stringify(names))))}`;

/** Reads the columns that somebody chose for a header before. One that cannot be read is as good as none. */
export function readKeptColumns(head: TableHead): TableColumns | undefined {
  // Tables of two banks may have as many columns.
  if (!head.isNamed) return undefined;
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(head)) ?? 'null') as Partial<Record<keyof TableColumns, unknown>> | null;
    if (stored === null) return undefined;
    const place = (value: unknown): number | undefined => (typeof value === 'number' && value < head.names.length ? value : undefined);
    const named = <Name extends string>(value: unknown, names: Readonly<Record<Name, string>>): Name | undefined =>
      typeof value === 'string' && Object.hasOwn(names, value) ? (value as Name) : undefined;
    return {
      ...{ date: place(stored.date) ?? 0, amount: place(stored.amount), credit: place(stored.credit) },
      ...{ debit: place(stored.debit), text: place(stored.text) },
      ...{ dateOrder: named(stored.dateOrder, dateOrders), decimalSign: named(stored.decimalSign, decimalSigns) },
    };
  } catch {
    return undefined;
  }
}

/** Keeps the columns of a header in this browser. */
export function keepColumns(head: TableHead, columns: TableColumns): void {
  if (!head.isNamed) return;
  try {
    localStorage.setItem(keyOf(head), JSON.stringify(columns));
  } catch {
    // A browser without room, or that stores nothing, asks again.
  }
}
