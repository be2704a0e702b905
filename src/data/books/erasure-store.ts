import { Prisma } from '../../generated/prisma/client';
import { donorTexts, lineFields } from '../../line/line-fields';
import type { Database } from '../postgres/database';
import { numberOf, VERSION_STAMP, type VersionStamp } from '../postgres/version-stamp';
import { BookTransaction } from './book-transaction';
import { IS_CURRENT, toSnakeCase } from './line-columns';
import { whereLines, type LineSet } from './line-set';
import type { RequestBooks } from './request-books';

/** A donor of the register, which has no text of the donor. */
export interface ErasedDonor {
  readonly donorId: number;
  /** The data version that erased. */
  readonly version: number;
  readonly erasedAt: Date;
  readonly erasedBy: string | null;
  readonly reason: string;
}

/** A donor who is to be erased. */
export type Erasure = Pick<ErasedDonor, 'donorId' | 'erasedBy' | 'reason'>;

/** The state of a donor before an erasure. */
export interface DonorState {
  readonly donorId: number;
  readonly isKnown: boolean;
  /** True when the books, or any state of the lines, have a text of the donor. */
  readonly hasTexts: boolean;
  readonly isErased: boolean;
}

/** The outcome of an erasure. */
export interface Erased {
  readonly version: number;
  /** The lines of the newest state that the erasure has written anew. */
  readonly lines: number;
  /** The earlier states of lines that were overwritten, those that the erasure has ended among them. */
  readonly states: number;
}

/** A row that may name the donor by text. It is told by its place, and never by the text itself. */
interface Mention {
  readonly kind: 'report' | 'audit' | 'close' | 'file' | 'erasure';
  /** The name of the report, the number of the row, or the data version. */
  readonly id: string;
}

/** The rows that may name the donor: their number, and the first of each kind. */
export interface Mentions {
  readonly count: number;
  readonly first: readonly Mention[];
}

/** The rows of a file: the lines of a set in its state; with `from`, those that are not the same in both states. */
export interface StateRows {
  readonly lineSet: LineSet;
  readonly from: VersionStamp | undefined;
}

/** The donors who were erased, and the erasing of their texts. */
export class ErasureStore {
  constructor(private readonly database: Database) {}

  /** The donors of the register, the last that was erased first. */
  list(organizationId: number): Promise<ErasedDonor[]> {
    return this.database.query<ErasedDonor>({ name: 'list-erased', text: LIST, values: [organizationId] });
  }

  /** The newest version that has erased a donor after a state; undefined when none has. */
  async findStampAfter(organizationId: number, state: VersionStamp, books: RequestBooks): Promise<VersionStamp | undefined> {
    const organization = Prisma.sql`organization_id = ${organizationId}::int`;
    const select = Prisma.sql`SELECT ${VERSION_STAMP} AS stamp FROM data_version WHERE ${organization} AND number = (
      SELECT max(version) FROM erased_donor WHERE ${organization} AND version > ${numberOf(state)}::bigint
    )`;
    return (await books.list<{ stamp: VersionStamp }>(organizationId, select))[0]?.stamp;
  }

  /** The number of states of lines of the rows whose texts an erasure after an instant has emptied. */
  async countErasedIn({ lineSet, from }: StateRows, since: Date, books: RequestBooks): Promise<number> {
    const organization = Prisma.sql`organization_id = ${lineSet.organizationId}::int`;
    // A distributed database finds its node by the organization, and not within OR.
    const inRows = from
      ? Prisma.sql`(${whereLines({ ...lineSet, state: from })} OR ${whereLines(lineSet)})
          AND NOT (since <= ${numberOf(from)}::bigint AND until > ${numberOf(lineSet.state!)}::bigint)`
      : whereLines(lineSet);
    const select = Prisma.sql`SELECT count(*)::float8 AS count FROM deposit_line
      WHERE ${organization} AND ${inRows} AND erased_version > GREATEST(${numberOf(lineSet.state!)}::bigint, (
        SELECT max(number) FROM data_version WHERE ${organization} AND recorded_at <= ${since}::timestamptz
      ))`;
    return (await books.list<{ count: number }>(lineSet.organizationId, select))[0]!.count;
  }

  /** Runs an erasure in one transaction: committed when `work` resolves, undone when it throws or when it is a trial. */
  inTransaction<Result>(
    organizationId: number,
    isTrial: boolean,
    work: (transaction: ErasureTransaction) => Promise<Result>,
  ): Promise<Result> {
    return BookTransaction.run(this.database, organizationId, (books) => work(new ErasureTransaction(books)), {
      end: isTrial ? 'ROLLBACK' : 'COMMIT',
    });
  }
}

/** The steps of an erasure. */
export class ErasureTransaction {
  constructor(private readonly books: BookTransaction) {}

  /** From here to the end of the transaction, nothing else changes the books. */
  lock(): Promise<void> {
    return this.books.lock();
  }

  /** The states of donors, in the order of their numbers. */
  async find(donorIds: readonly number[]): Promise<DonorState[]> {
    return (await this.books.query<DonorState & Record<string, unknown>>(FIND_DONORS, [this.books.organizationId, donorIds])).rows;
  }

  /**
   * Finds what else may name a donor by the texts that the books have. The rows of the audit are many, and are read without the lock, so
   * that no import waits for them.
   */
  async findMentions(donorId: number, limit: number): Promise<Mentions> {
    await this.stageTexts(donorId);
    await this.books.query(CREATE_PLACES);
    for (const statement of STAGE_PLACES) await this.books.query(statement, [this.books.organizationId]);
    const { rows } = await this.books.query<Mention & { count: number }>(FIND_MENTIONS, [this.books.organizationId, limit]);
    const counts = new Map(rows.map(({ kind, count }) => [kind, count]));
    return { count: [...counts.values()].reduce((sum, count) => sum + count, 0), first: rows.map(({ kind, id }) => ({ kind, id })) };
  }

  /** The first kind of a donor's text that a reason has; null when it has none. */
  async findInReason(donorId: number, reason: string): Promise<string | null> {
    await this.stageTexts(donorId);
    const { rows } = await this.books.query<{ field: string }>(FIND_IN_REASON, [reason]);
    return rows[0]?.field ?? null;
  }

  /** Empties the texts of donors in the books and in all states of their lines, as one data version. */
  async erase(erasures: readonly Erasure[]): Promise<Erased> {
    const { books } = this;
    const values = [books.organizationId, erasures.map(({ donorId }) => donorId)];
    for (const statement of ERASE_BOOKS) await books.query(statement, values);
    const { number, lines } = await books.advance({ cause: 'erase' });
    let states = 0;
    for (const statement of ERASE_LINES) states += (await books.query(statement, [...values, number])).rowCount ?? 0;
    for (const { donorId, reason, erasedBy } of erasures) {
      await books.query(REGISTER, [books.organizationId, donorId, number, reason, erasedBy]);
    }
    return { version: number, lines: lines.changed, states };
  }

  /** Copies all texts of a donor but the memos into a temporary table, so that no statement has one of them as a value: a server may log values. */
  private async stageTexts(donorId: number): Promise<void> {
    await this.books.query(CREATE_TEXTS);
    for (const statement of STAGE_TEXTS) await this.books.query(statement, [this.books.organizationId, donorId]);
  }
}

/** The columns of donors, each beside that of lines. */
const DONOR_COLUMNS = donorTexts
  .filter((name) => lineFields[name].of === 'donor')
  .map((name) => [toSnakeCase(lineFields[name].as), name] as const);
const donorColumns = DONOR_COLUMNS.map(([column]) => column).join(', ');
const lineColumns = DONOR_COLUMNS.map(([, column]) => column).join(', ');

const toEmpty = (columns: string): string => columns.replaceAll(/\w+/g, (column) => `${column} = ''`);
const hasText = (columns: string): string => `(${columns}) <> (${columns.replaceAll(/\w+/g, `''`)})`;

const LIST = `
SELECT donor_id::float8 AS "donorId", version::float8 AS version, recorded_at AS "erasedAt", erased_by AS "erasedBy", reason
FROM erased_donor JOIN data_version ON data_version.organization_id = erased_donor.organization_id AND number = version
WHERE erased_donor.organization_id = $1 ORDER BY version DESC, donor_id`;

/** The gifts that are the donors' now. */
const GIFTS = 'SELECT id FROM transaction WHERE organization_id = $1 AND donor_id = ANY ($2::bigint[])';
/** The gifts that are in the books no more, and were the donors' at last. */
const GONE_GIFTS = `SELECT transaction_id FROM deposit_line AS gone WHERE organization_id = $1 AND donor_id = ANY ($2::bigint[])
  AND NOT EXISTS (SELECT FROM transaction gift WHERE gift.organization_id = $1 AND gift.id = gone.transaction_id)
  AND NOT EXISTS (
    SELECT FROM deposit_line later WHERE later.organization_id = $1 AND later.transaction_id = gone.transaction_id AND later.until > gone.until
  )`;
const MEMOS = 'designation_memo, main_memo';
const LINE_TEXTS = donorTexts.join(', ');

const FIND_DONORS = `
SELECT asked.id::float8 AS "donorId", donor.id IS NOT NULL AS "isKnown", COALESCE(donor.has_text, false) OR memo.id IS NOT NULL OR line.id IS NOT NULL AS "hasTexts",
  erased.id IS NOT NULL AS "isErased"
FROM unnest($2::bigint[]) AS asked (id)
LEFT JOIN (SELECT id, ${hasText(donorColumns)} AS has_text FROM donor WHERE organization_id = $1 AND id = ANY ($2::bigint[])) AS donor ON donor.id = asked.id
LEFT JOIN (
  SELECT DISTINCT gift.donor_id AS id FROM transaction gift JOIN allocation share ON share.organization_id = $1 AND share.transaction_id = gift.id
  WHERE gift.organization_id = $1 AND gift.donor_id = ANY ($2::bigint[]) AND (gift.main_memo <> '' OR share.memo <> '')
) AS memo ON memo.id = asked.id
LEFT JOIN (
  SELECT donor_id AS id FROM deposit_line WHERE organization_id = $1 AND donor_id = ANY ($2::bigint[]) AND ${hasText(LINE_TEXTS)}
  UNION SELECT gift.donor_id FROM transaction gift JOIN deposit_line past ON past.organization_id = $1 AND past.transaction_id = gift.id
  WHERE gift.organization_id = $1 AND gift.donor_id = ANY ($2::bigint[]) AND (past.designation_memo <> '' OR past.main_memo <> '')
  UNION SELECT gone.donor_id FROM deposit_line gone JOIN deposit_line past ON past.organization_id = $1 AND past.transaction_id = gone.transaction_id
  WHERE gone.organization_id = $1 AND gone.donor_id = ANY ($2::bigint[]) AND gone.transaction_id IN (${GONE_GIFTS})
    AND (past.designation_memo <> '' OR past.main_memo <> '')
) AS line ON line.id = asked.id
LEFT JOIN (SELECT DISTINCT donor_id AS id FROM erased_donor WHERE organization_id = $1) AS erased ON erased.id = asked.id
ORDER BY asked.id`;

const ERASE_BOOKS = [
  `UPDATE donor SET ${toEmpty(donorColumns)}, search_text = donor_search_forms('', '')
WHERE organization_id = $1 AND id = ANY ($2::bigint[]) AND ${hasText(donorColumns)}`,
  `UPDATE transaction SET main_memo = '' WHERE organization_id = $1 AND donor_id = ANY ($2::bigint[]) AND main_memo <> ''`,
  `UPDATE allocation SET memo = '' WHERE organization_id = $1 AND memo <> '' AND transaction_id IN (${GIFTS})`,
  `INSERT INTO changed_transaction ${GIFTS}`,
];

/** Empties the memos of the earlier states of gifts, which may have been of others then, as the data version `$3`. */
export const toErasedMemos = (gifts: string): string => `UPDATE deposit_line SET ${toEmpty(MEMOS)}, erased_version = $3::bigint
WHERE organization_id = $1 AND NOT ${IS_CURRENT} AND transaction_id IN (${gifts}) AND ${hasText(MEMOS)}`;

const ERASE_LINES = [
  `UPDATE deposit_line SET ${toEmpty(LINE_TEXTS)}, donor_search = donor_search_forms('', ''), erased_version = $3::bigint
WHERE organization_id = $1 AND donor_id = ANY ($2::bigint[]) AND ${hasText(LINE_TEXTS)}`,
  toErasedMemos(`${GIFTS} UNION ${GONE_GIFTS}`),
];

const REGISTER = `
INSERT INTO erased_donor (organization_id, donor_id, version, reason, erased_by) VALUES ($1, $2::bigint, $3::bigint, $4, $5)`;

const CREATE_TEXTS = `
CREATE TEMPORARY TABLE IF NOT EXISTS donor_text (${DONOR_COLUMNS.map(([column]) => `${column} text COLLATE "C" NOT NULL`).join(', ')}) ON COMMIT DROP;
TRUNCATE donor_text`;
const STAGE_TEXTS = [
  `INSERT INTO donor_text SELECT ${donorColumns} FROM donor WHERE organization_id = $1 AND id = $2::bigint`,
  `INSERT INTO donor_text SELECT DISTINCT ${lineColumns} FROM deposit_line WHERE organization_id = $1 AND donor_id = $2::bigint`,
];

/** Short texts, such as the number of a house, are in any reason. */
const LEAST_TEXT = 3;
/** A city, a state and a zip are many people's. */
const NAMING = ['first_name', 'last_name', 'address1', 'address2', 'address3', 'phone', 'email'];
/** The whole name has more letters than its parts. In Chinese it has two or more, and no space between. */
const WHOLE_NAMES = [`last_name || ' ' || first_name`, `first_name || ' ' || last_name`];
const UNSPACED_NAMES = ['last_name || first_name', 'first_name || last_name'];
const ofBoth = (name: string, more = ''): string => `CASE WHEN first_name <> '' AND last_name <> ''${more} THEN ${name} END`;
const IS_CHINESE = ` AND first_name || last_name COLLATE "C" ~ '[\\u2E80-\\u9FFF\\uAC00-\\uD7FF\\U00020000-\\U0003FFFF]'`;
const NAMED = [
  ...NAMING.map((column) => [column, column, LEAST_TEXT] as const),
  ...WHOLE_NAMES.map((name) => ['name', ofBoth(name), LEAST_TEXT] as const),
  ...UNSPACED_NAMES.map((name) => ['name', ofBoth(name, IS_CHINESE), 2] as const),
];
const FIND_IN_REASON = `
SELECT field FROM (
  ${NAMED.map(([field, text, least]) => `SELECT '${field}' AS field, ${text} AS text, ${least} AS least FROM donor_text`).join(' UNION ALL ')}
) AS named
WHERE (char_length(btrim(text)) >= least AND strpos(lower($1::text), lower(btrim(text))) > 0)
  OR (char_length(fold_for_search(text)) >= least AND strpos(fold_for_search($1::text), fold_for_search(text)) > 0)
LIMIT 1`;

/** The texts by which others are searched, as whole words: the whole name both ways and the last name in all forms, the email and the phone. */
const TERMS = `
SELECT DISTINCT ' ' || btrim(form) || ' ' AS term FROM (
  SELECT regexp_split_to_table(unnest(ARRAY[donor_search_forms(first_name, last_name), search_forms(last_name), fold_for_search(email),
    fold_for_search(phone)]), ' [|] ') AS form
  FROM donor_text
) AS naming WHERE btrim(form) <> ''`;
// A distributed database joins a temporary table with another one alone.
const CREATE_PLACES = 'CREATE TEMPORARY TABLE naming_place (kind text NOT NULL, id text NOT NULL, text text) ON COMMIT DROP';
const STAGE_PLACES = [
  `INSERT INTO naming_place SELECT 'close', version::text, concat_ws(' | ', note, reopen_reason) FROM period_close WHERE organization_id = $1`,
  `INSERT INTO naming_place SELECT 'file', number::text, file_name FROM data_version WHERE organization_id = $1 AND file_name IS NOT NULL`,
  `INSERT INTO naming_place SELECT DISTINCT 'erasure', version::text, reason FROM erased_donor WHERE organization_id = $1`,
];
const PLACES = `
SELECT 'report' AS kind, name AS id, concat_ws(' | ', name, title, query, variables::text) AS text FROM saved_report WHERE organization_id = $1
UNION ALL SELECT 'audit', number::text, concat_ws(' | ', operation, username, provision_label, subject, detail, file_address)
FROM audit_record WHERE organization_id = $1
UNION ALL SELECT kind, id, text FROM naming_place`;
const FIND_MENTIONS = `
WITH named AS MATERIALIZED (${TERMS}
)
SELECT kind, id, count FROM (
  SELECT kind, id, row_number() OVER (PARTITION BY kind ORDER BY length(id), id) AS position, count(*) OVER (PARTITION BY kind)::float8 AS count
  FROM (${PLACES}
  ) AS place
  WHERE EXISTS (SELECT FROM named WHERE strpos(' ' || search_forms(place.text) || ' ', named.term) > 0)
) AS mention
WHERE position <= $2::int ORDER BY kind, position`;
