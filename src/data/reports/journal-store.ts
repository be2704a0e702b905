import { Prisma } from '../../generated/prisma/client';
import type { RowColumn } from '../../rows/row-template';
import type { Money } from '../../values/money';
import { whereLines, type LineSet } from '../books/line-set';
import { toArrayLiteral } from '../postgres/value-list';
import { numberOf } from '../postgres/version-stamp';
import type { Copy, ReportSnapshot } from '../reading/report-snapshot';
import type { JournalAccounts } from './journal-account-store';

/** The deposits of a journal, and the accounts that they are written to. */
export interface JournalSide {
  /** Lines of posted deposits in a known state. */
  readonly lineSet: LineSet;
  readonly accounts: JournalAccounts;
}

/** The entries of a journal: those of its deposits, or their differences to another journal. */
export interface JournalQuestion extends JournalSide {
  /** The journal that was booked, which entries are differences to; undefined for whole entries. */
  readonly booked: JournalSide | undefined;
  /** The code of the currency; empty for none. */
  readonly currency: string;
  /** The tax rate that Xero wants in each row, and the journal that Sage Intacct posts to. */
  readonly taxRate: string;
  readonly journalId: string;
}

/** The figures of a journal, and the reasons why it cannot be written. */
export interface JournalCheck {
  readonly rows: number;
  readonly entries: number;
  /** The sum of the debits, which is that of the credits. */
  readonly debits: Money;
  /** The first deposit whose shares are not its amount. */
  readonly faulty: { readonly depositId: string; readonly amount: Money; readonly shares: Money } | null;
  /** The first funds without an account, by their ids, and the number of all. */
  readonly unmapped: readonly { readonly designationId: number; readonly designation: string }[];
  readonly unmappedFunds: number;
}

const { sql, raw } = Prisma;
const MONEY = 'numeric(40, 2)::text';
/** The most funds without an account that are named. */
const NAMED_FUNDS = 10;

/** Reads the entries of a journal. */
export class JournalStore {
  /** Reads the figures of a journal, and what is wrong with it. */
  async check(question: JournalQuestion, snapshot: ReportSnapshot): Promise<JournalCheck> {
    const [check] = await snapshot.list<JournalCheck & Record<string, unknown>>(sql`WITH ${withParts(question)}, lacking AS (
        SELECT fund AS id, max(fund_name) AS name FROM part WHERE account IS NULL GROUP BY fund
      )
      SELECT (SELECT count(*) FROM part)::float8 AS rows, (SELECT count(DISTINCT (deposit_date, deposit_id)) FROM part)::float8 AS entries,
        (SELECT COALESCE(sum(value) FILTER (WHERE value > 0), 0) FROM part)::${raw(MONEY)} AS debits,
        (SELECT json_build_object('depositId', deposit_id, 'amount', amount::${raw(MONEY)}, 'shares', shares::${raw(MONEY)})
          FROM entry WHERE amount <> shares AND (deposit_date, deposit_id) IN (SELECT deposit_date, deposit_id FROM part)
          ORDER BY deposit_date, deposit_id, sign LIMIT 1) AS faulty,
        (SELECT COALESCE(json_agg(json_build_object('designationId', id, 'designation', name) ORDER BY id), '[]')
          FROM (SELECT * FROM lacking ORDER BY id LIMIT ${NAMED_FUNDS}::int) AS first) AS unmapped,
        (SELECT count(*) FROM lacking)::float8 AS "unmappedFunds"`);
    return check!;
  }

  /** Reads the rows of all entries as COPY's text format, by the dates and ids of the deposits. The `field` of a column is one of `fieldsOf`. */
  copyEntries(copy: Copy, question: JournalQuestion, columns: readonly RowColumn[]): AsyncGenerator<Buffer> {
    const values = fieldsOf(question);
    const selected = columns.map(({ field }) => {
      const value = values[field];
      if (value === undefined) throw new Error(`A journal has no ${field}`);
      return value;
    });
    return copy(sql`WITH ${withParts(question)}, numbered AS (
        SELECT part.*, stands, stood, row_number() OVER (PARTITION BY deposit_date, deposit_id ORDER BY rank, account COLLATE "C") AS line
        FROM part JOIN (
          SELECT deposit_date, deposit_id, bool_or(sign = 1) AS stands, bool_or(sign = -1) AS stood FROM entry GROUP BY deposit_date, deposit_id
        ) AS deposit USING (deposit_date, deposit_id)
      )
      SELECT ${Prisma.join(selected)} FROM numbered ORDER BY deposit_date, deposit_id, line`);
  }
}

/**
 * The tables of a journal, each made from those before, in their order:
 * - `line`: the lines of the journal that is asked for, with sign 1, and those of the journal that was booked, with sign -1;
 * - `gift`: each gift once, because its amounts stand in each of its lines;
 * - `account`: the accounts of funds. Those that were booked may be others than those of now;
 * - `posting`: the money of a deposit by account, debits positive, credits negative. A fund without an account stays by itself;
 * - `part`: the rows of the entries. An entry is of a deposit and a date, so that the money of a deposit that was moved leaves its old date;
 * - `entry`: the amount of a deposit in a state, and the sum of its shares, of which unknown ones count as nothing.
 */
function withParts({ booked, ...asked }: JournalQuestion): Prisma.Sql {
  const sides = [{ ...asked, sign: raw('1') }, ...(booked ? [{ ...booked, sign: raw('-1') }] : [])];
  const join = (toSql: (side: (typeof sides)[number]) => Prisma.Sql): Prisma.Sql => Prisma.join(sides.map(toSql), ' UNION ALL ');
  const lines = join(
    ({
      sign,
      lineSet,
    }) => sql`SELECT ${sign} AS sign, deposit_date, deposit_id, transaction_id, designation_id, designation, amount, fee_amount,
      COALESCE(allocation_amount, 0) AS share FROM deposit_line WHERE ${whereLines(lineSet)}`,
  );
  const accounts = join(({ sign, accounts: { funds } }) => {
    const ids = toArrayLiteral(funds.map(({ designationId }) => designationId));
    const names = toArrayLiteral(funds.map(({ account }) => account));
    return sql`SELECT ${sign} AS side, fund, account FROM unnest(${ids}::bigint[], ${names}::text[]) AS of_fund (fund, account)`;
  });
  const own = (name: 'bank' | 'fees'): Prisma.Sql =>
    booked
      ? sql`CASE WHEN sign = 1 THEN ${asked.accounts[name]}::text ELSE ${booked.accounts[name]}::text END`
      : sql`${asked.accounts[name]}::text`;
  return sql`line AS MATERIALIZED (${lines}
  ), gift AS MATERIALIZED (
    SELECT DISTINCT sign, deposit_date, deposit_id, transaction_id, amount, fee_amount FROM line
  ), account AS MATERIALIZED (
    ${accounts}
  ), posting AS (
    SELECT sign, deposit_date, deposit_id, 0 AS rank, ${own('bank')} AS account, NULL::bigint AS fund, NULL::text AS fund_name,
      sum(amount - fee_amount) AS value FROM gift GROUP BY sign, deposit_date, deposit_id
    UNION ALL
    SELECT sign, deposit_date, deposit_id, 1, ${own('fees')}, NULL, NULL, sum(fee_amount) FROM gift GROUP BY sign, deposit_date, deposit_id
    UNION ALL
    SELECT sign, deposit_date, deposit_id, 2, account, CASE WHEN account IS NULL THEN designation_id END, max(designation), -sum(share)
    FROM line LEFT JOIN account ON side = sign AND fund = designation_id
    GROUP BY sign, deposit_date, deposit_id, account, CASE WHEN account IS NULL THEN designation_id END
  ), part AS MATERIALIZED (
    SELECT deposit_date, deposit_id, account, fund, min(rank) AS rank, max(fund_name) AS fund_name, sum(sign * value) AS value
    FROM posting GROUP BY deposit_date, deposit_id, account, fund HAVING sum(sign * value) <> 0
  ), entry AS MATERIALIZED (
    SELECT sign, deposit_date, deposit_id, sum(value) FILTER (WHERE rank < 2) AS amount, COALESCE(-sum(value) FILTER (WHERE rank = 2), 0) AS shares
    FROM posting GROUP BY sign, deposit_date, deposit_id
  )`;
}

/** The expressions of the fields of a row. */
function fieldsOf({ lineSet, booked, accounts, currency, taxRate, journalId }: JournalQuestion): Readonly<Record<string, Prisma.Sql>> {
  // The date is a part of the id: a deposit that was moved and is booked again, whole, is another entry than the one that it had.
  const own = raw(`'deposit-' || deposit_id || to_char(deposit_date, '-YYYYMMDD')`);
  // After accounts were saved anew, a second difference may end with the same version.
  const moved = booked && booked.accounts.number !== accounts.number ? `-accounts-${accounts.number}` : '';
  const id = booked
    ? sql`(${own} || ${`@${numberOf(lineSet.state!)}${moved}`}::text || CASE WHEN stands THEN '' ELSE '-reversal' END)`
    : sql`(${own})`;
  const subject = raw(
    booked === undefined
      ? `'Deposit '`
      : `CASE WHEN stands AND stood THEN 'Change of deposit ' WHEN stands THEN 'Deposit ' ELSE 'Reversal of deposit ' END`,
  );
  const description = sql`(${subject} || deposit_id)`;
  const inHead = (value: Prisma.Sql): Prisma.Sql => sql`CASE WHEN line = 1 THEN ${value} ELSE '' END`;
  return {
    ...{ id, description, account: raw('account'), depositId: raw('deposit_id'), line: raw('line') },
    date: raw('deposit_date::text'),
    dateOfMonth: raw(`to_char(deposit_date, 'MM/DD/YYYY')`),
    // The name of the month, in English in any locale, is read the same in all countries.
    dateInWords: raw(`to_char(deposit_date, 'DD Mon YYYY')`),
    debit: raw(`CASE WHEN value > 0 THEN value::${MONEY} END`),
    credit: raw(`CASE WHEN value < 0 THEN (-value)::${MONEY} END`),
    amount: raw(`value::${MONEY}`),
    currency: sql`${currency}::text`,
    taxRate: sql`${taxRate}::text`,
    narration: sql`(${id} || ': ' || ${description})`,
    quickbooksId: toShortId(id, QUICKBOOKS_NUMBER),
    journalIdInHead: inHead(sql`${journalId}::text`),
    dateInHead: inHead(raw(`to_char(deposit_date, 'MM/DD/YYYY')`)),
    idInHead: inHead(toShortId(id, INTACCT_DESCRIPTION)),
  };
}

/** The characters that QuickBooks Online takes of a journal's number, and Sage Intacct of a description. */
const QUICKBOOKS_NUMBER = 21;
const INTACCT_DESCRIPTION = 30;

/**
 * An id of an entry, or the beginning of its SHA-256 where it has more characters than fit. 80 bits are the same for no two entries. A digit at
 * the beginning could make a spreadsheet take it for a number.
 */
const toShortId = (id: Prisma.Sql, most: number): Prisma.Sql =>
  sql`CASE WHEN length(${id}) <= ${most}::int THEN ${id} ELSE 'D' || left(encode(sha256(convert_to(${id}, 'UTF8')), 'hex'), 20) END`;
