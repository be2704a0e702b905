import type { AuditDoor, AuditFacts, AuditKind } from '../../formats/audit-row';
import { transactionDateNames } from '../../formats/line-conditions';
import { Prisma } from '../../generated/prisma/client';
import { isAmong } from '../postgres/value-list';
import type { Database } from '../postgres/database';
import { selectPage, type KeyOrder, type KeysetPage } from '../postgres/keyset';

const { sql, raw, join } = Prisma;

/** An entry of the audit: a single row, or the row of the start of a reading together with that of its end. */
export interface AuditEntry extends Omit<AuditFacts, 'provisionStart' | 'fileAddress' | 'rendering'> {
  readonly id: string;
  /** The number of the row, or of the row of the start. */
  readonly number: number;
  /** The hash of that row. */
  readonly hash: string;
  /** The first eight characters of the provision. */
  readonly provision: string | null;
  readonly startedAt: Date;
  /** Null while the reading is under way, or when the gateway died during it. */
  readonly finishedAt: Date | null;
}

/** The entry of a file with all that the file is made again by, which no door shows. */
export interface FileEntry extends AuditEntry, Pick<AuditFacts, 'fileAddress' | 'rendering'> {
  readonly organizationId: number;
}

/** The entries of a list. Times are from the first one on and before the second one; dates are those of the ranges that were read. */
export interface AuditList {
  readonly organizationId: number;
  readonly isDescending: boolean;
  readonly kinds?: readonly AuditKind[] | undefined;
  readonly doors?: readonly AuditDoor[] | undefined;
  /** Null for entries without a user. */
  readonly username?: string | null | undefined;
  /** The first eight characters of a provision. */
  readonly provision?: string | undefined;
  readonly from?: Date | undefined;
  readonly before?: Date | undefined;
  /** Entries whose range of deposit dates has a day in common with this one. A reading without a range has every day. */
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** Reads the entries of the audit. */
export class AuditStore {
  constructor(private readonly database: Database) {}

  async find(organizationId: number, id: string): Promise<AuditEntry | null> {
    const select = sql`SELECT ${raw(VALUES)} FROM ${raw(ENTRIES)} AS source WHERE organization_id = ${organizationId}::int AND entry = ${id}::uuid`;
    return (await this.database.list<AuditEntry>(select))[0] ?? null;
  }

  /** The entry of a file by its id; null for another entry. */
  async findFile(organizationId: number, id: string): Promise<FileEntry | null> {
    const select = sql`SELECT ${raw(FILE_VALUES)} FROM ${raw(ENTRIES)} AS source
      WHERE organization_id = ${organizationId}::int AND entry = ${id}::uuid AND kind = 'file'`;
    return (await this.database.list<FileEntry>(select))[0] ?? null;
  }

  /** The entries of files with these bytes, those of one organization or of all, the newest first. */
  listFiles(fileSha256: string, organizationId: number | undefined): Promise<FileEntry[]> {
    const inOrganization = organizationId === undefined ? Prisma.empty : sql`AND organization_id = ${organizationId}::int`;
    return this.database.list<FileEntry>(sql`SELECT ${raw(FILE_VALUES)} FROM ${raw(ENTRIES)} AS source
      WHERE file_sha256 = ${fileSha256} AND kind = 'file' ${inOrganization} ORDER BY at DESC, organization_id, source.number DESC`);
  }

  async list(list: AuditList, page: KeysetPage): Promise<AuditEntry[]> {
    const { isDescending } = list;
    const from = sql`${raw(ENTRIES)} AS source`;
    const select = selectPage({ values: raw(VALUES), from, where: isInList(list), order: auditOrder, isDescending, page });
    const entries = await this.database.list<AuditEntry>(select);
    return page.fromEnd ? entries.reverse() : entries;
  }

  async count(list: AuditList): Promise<number> {
    const select = sql`SELECT count(*)::float8 AS count FROM ${raw(ENTRIES)} AS source
      WHERE ${isInList(list)}`;
    return (await this.database.list<{ count: number }>(select))[0]!.count;
  }
}

/** The order of entries, which lists follow forwards or backwards. */
export const auditOrder: KeyOrder = { columns: { number: 'bigint' } };

/** The facts that a reading has at its end alone. */
const END_FACTS = ['reads', 'lines', 'bytes', 'file_sha256', 'digest', 'money_digest', 'data_version', 'outcome'];
const ENTRIES = `(
  SELECT begun.organization_id, begun.number, begun.hash, begun.entry, begun.at, ended.at AS ended_at, begun.part, begun.kind, begun.door,
    begun.operation, begun.operation_hash, begun.username, begun.provision_label, begun.provision_start, begun.address, begun.report,
    begun.format, begun.start_date, begun.end_date, begun.pending, begun.conditions, begun.subject, begun.detail, begun.tells_donors,
    begun.file_address, begun.rendering,
    ${END_FACTS.map((name) => `ended.${name}`).join(', ')}
  FROM audit_record AS begun
  LEFT JOIN audit_record AS ended
    ON ended.organization_id = begun.organization_id AND ended.entry = begun.entry AND ended.part = 'ended' AND begun.part = 'started'
  WHERE begun.part <> 'ended'
)`;
const VALUES = `entry AS id, number::float8 AS number, hash, at AS "startedAt", CASE part WHEN 'only' THEN at ELSE ended_at END AS "finishedAt",
  kind, door, operation, operation_hash AS "operationHash", username, provision_label AS "provisionLabel", provision_start AS provision,
  address, report, format, start_date::text AS "startDate", end_date::text AS "endDate", pending, conditions,
  reads::float8 AS reads, lines::float8 AS lines, bytes::float8 AS bytes, file_sha256 AS "fileSha256", digest, money_digest AS "moneyDigest",
  data_version::float8 AS "dataVersion", outcome, subject, detail, tells_donors AS "tellsDonors"`;
const FILE_VALUES = `${VALUES}, organization_id AS "organizationId", file_address AS "fileAddress", rendering`;

/** PostgreSQL's text cannot hold a NUL, and no row has the character that takes its place. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\uFFFD');

/** No row is of before 1970, and PostgreSQL knows fewer of those times than a Date. */
const toTime = (time: Date): Prisma.Sql => sql`to_timestamp(${Math.max(0, time.getTime() / MS_PER_SECOND)}::float8)`;
const MS_PER_SECOND = 1000;

/** A range of transactions' dates says nothing about the days of their deposits. */
const mayHaveRead = (days: Prisma.Sql): Prisma.Sql =>
  sql`(kind IN ('read', 'file') AND (${days} OR conditions && ARRAY[${transactionDateNames.file}, ${transactionDateNames.operation}]::text[]))`;

function isInList({ organizationId, kinds, doors, username, provision, from, before, startDate, endDate }: AuditList): Prisma.Sql {
  const conditions = [
    sql`organization_id = ${organizationId}::int`,
    ...(kinds ? [isAmong('kind', kinds, 'text')] : []),
    ...(doors ? [isAmong('door', doors, 'text')] : []),
    ...(username === undefined ? [] : [username === null ? sql`username IS NULL` : sql`username = ${withoutNul(username)}::text`]),
    ...(provision === undefined ? [] : [sql`provision_start = ${withoutNul(provision)}::text`]),
    ...(from ? [sql`at >= ${toTime(from)}`] : []),
    ...(before ? [sql`at < ${toTime(before)}`] : []),
    ...(startDate === undefined ? [] : [mayHaveRead(sql`COALESCE(end_date, 'infinity') >= ${startDate}::date`)]),
    ...(endDate === undefined ? [] : [mayHaveRead(sql`COALESCE(start_date, '-infinity') <= ${endDate}::date`)]),
  ];
  return join(conditions, ' AND ');
}
