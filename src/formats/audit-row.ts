import { createHash } from 'node:crypto';
import type { LocalDate } from '../values/dates';
import type { FileReport } from './file-address';
import type { PendingChoice } from './line-conditions';

/** The kinds of audit rows of single events, which the log and the metrics tell too. */
export const auditEvents = ['login', 'login_failed', 'lockout', 'logout', 'refusal', 'rights'] as const;
/** The kinds of audit rows. */
export const auditKinds = ['read', 'file', ...auditEvents, 'anchor'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** The ways into the gateway, by their names in the audit. `gateway` is the gateway itself. */
export const auditDoors = ['v2', 'graphql', 'file', 'odata', 'agent', 'mail', 'command', 'operators', 'gateway'] as const;
export type AuditDoor = (typeof auditDoors)[number];

/** The facts of an audit row. A row of the end of a reading has its outcome alone, and the row of its start all that is known before. */
export interface AuditFacts {
  readonly kind: AuditKind;
  readonly door: AuditDoor;
  /** The name of the operation: of a v2 path, of a GraphQL operation, of a file, of an agent's tool or of a command. */
  readonly operation: string;
  /** SHA-256 of the operation's text, in hex; null for an operation without a text. */
  readonly operationHash: string | null;
  /** The account of the operating system for a command; null when no user was logged in. */
  readonly username: string | null;
  readonly provisionLabel: string | null;
  /** The first eight characters of the provision, because the whole of it may be a secret; null on the command line. */
  readonly provisionStart: string | null;
  /** The IP address of the caller; null on the command line. */
  readonly address: string | null;
  /** The report of a file; null for other readings. */
  readonly report: FileReport | null;
  readonly format: string | null;
  /** The range of deposit dates, or of dates of transactions where the conditions say so; null where the operation had none. */
  readonly startDate: LocalDate | null;
  readonly endDate: LocalDate | null;
  readonly pending: PendingChoice | null;
  /** The names of the conditions, without their values. */
  readonly conditions: readonly string[];
  /** The number of readings. */
  readonly reads: number | null;
  /** The number of the report's lines that were read; null where it is not known. */
  readonly lines: number | null;
  /** The bytes of a file that were sent, counted before any content coding. */
  readonly bytes: number | null;
  readonly fileSha256: string | null;
  readonly digest: string | null;
  readonly moneyDigest: string | null;
  /** The query string by which the file is made again. Its values may be personal, so that only the proof of a file reads it. */
  readonly fileAddress: string | null;
  /** The number of the rendering that the file was made by. */
  readonly rendering: number | null;
  /** The version of the books that the answer is of; null when no row was read. */
  readonly dataVersion: number | null;
  readonly outcome: 'whole' | 'broken' | null;
  /** The user or the provision whose rights were changed, or the report that was, such as `user ada`. */
  readonly subject: string | null;
  /** The change in words. */
  readonly detail: string | null;
  /** True for a file that may tell of donors, also by their number; null for other rows. */
  readonly tellsDonors: boolean | null;
}

/** An audit row before it has a place in the chain. */
export interface NewAuditRow extends AuditFacts {
  /** Rows with the same id tell of the same reading. */
  readonly entry: string;
  readonly part: 'only' | 'started' | 'ended';
  readonly at: Date;
}

/** A place in a chain: the number of a row and its hash. */
export interface ChainPlace {
  readonly number: number;
  readonly hash: string;
}

/** The place before the first row. */
export const CHAIN_START: ChainPlace = { number: 0, hash: '0'.repeat(64) };

/** The facts that a row does not have. */
export const NO_FACTS = {
  operationHash: null,
  username: null,
  provisionLabel: null,
  provisionStart: null,
  address: null,
  report: null,
  format: null,
  startDate: null,
  endDate: null,
  pending: null,
  conditions: [],
  reads: null,
  lines: null,
  bytes: null,
  fileSha256: null,
  digest: null,
  moneyDigest: null,
  fileAddress: null,
  rendering: null,
  dataVersion: null,
  outcome: null,
  subject: null,
  detail: null,
  tellsDonors: null,
} as const satisfies Partial<AuditFacts>;

/** The fields that a row's hash covers, in order. */
const HASHED = [
  ...['entry', 'part', 'at', 'kind', 'door', 'operation', 'operationHash', 'username', 'provisionLabel', 'provisionStart', 'address'],
  ...[
    'report',
    'format',
    'startDate',
    'endDate',
    'pending',
    'conditions',
    'reads',
    'lines',
    'bytes',
    'fileSha256',
    'digest',
    'moneyDigest',
  ],
  ...['dataVersion', 'outcome', 'subject', 'detail', 'tellsDonors', 'fileAddress', 'rendering'],
] as readonly (keyof NewAuditRow)[];

/**
 * The place of a row that follows another: its hash is the SHA-256, in hex, of the hash before it, a line feed and the row as a JSON array,
 * written as PostgreSQL's `json_build_array` writes it.
 */
export function toNextPlace(before: ChainPlace, organizationId: number, row: NewAuditRow): ChainPlace {
  const number = before.number + 1;
  const values = [organizationId, number, ...HASHED.map((field) => row[field])];
  const text = `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
  return { number, hash: createHash('sha256').update(`${before.hash}\n${text}`).digest('hex') };
}

/** An anchor as an operator writes it down. */
export const formatAnchor = ({ number, hash }: ChainPlace): string => `${number}:${hash}`;

/** Reads an anchor; undefined for any other text. */
export function parseAnchor(text: string): ChainPlace | undefined {
  const [, number, hash] = /^([0-9]{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  return hash === undefined ? undefined : { number: Number(number), hash };
}
