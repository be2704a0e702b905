import { InputError } from '../errors';
import { extraNames, LATE, lineFields, lineNames, moneyNames, v2Names, type FieldType, type LineName } from '../line/line-fields';
import type { RowColumn } from '../rows/row-template';
import type { FileColumns, FileObject } from './file-format';
import type { BookedState } from './file-parameters';
import { summaryAmounts, summaryCounts, summaryGiftDates, summaryParts, summaryShares, type SummaryPart } from '../values/figure-names';
import type { JournalLayout } from '../values/journal-layouts';
import type { PeriodDates } from '../values/periods';
import { groupColumns, groupContact, type GroupBy } from './line-groups';

const text = (field: string) => ({ field, kind: 'text' }) as const;
const freeText = (field: string) => ({ field, kind: 'text', freeText: true }) as const;
const number = (field: string) => ({ field, kind: 'number' }) as const;
const nullable = (field: string) => ({ field, kind: 'nullable' }) as const;

/** The columns of each type of field that has a value in every line. */
const COLUMNS: Readonly<Record<FieldType, (field: string) => RowColumn>> = {
  ...{ id: freeText, text: freeText, name: freeText, code: freeText },
  ...{ number, date: text, money: text },
  status: (field) => ({ field, kind: 'text', isLowerCase: true }),
  boolean: (field) => ({ field, kind: 'boolean' }),
};

const columnsOf = <Name extends LineName>(names: readonly Name[]): Readonly<Record<Name, RowColumn>> =>
  Object.fromEntries(
    names.map((name) => {
      const { field, type, isNullable } = lineFields[name];
      return [name, isNullable && type !== 'boolean' ? nullable(field) : COLUMNS[type](field)];
    }),
  ) as Record<Name, RowColumn>;

export const v2Columns = columnsOf(v2Names);
export const extraColumns = columnsOf(extraNames);
export const allLineColumns = columnsOf(lineNames);
export const moneyColumns = columnsOf(moneyNames);

/** The columns that files of one kind can have. */
export interface ColumnChoice {
  readonly all: FileColumns;
  /** The columns of a file when the caller chooses none. */
  readonly usual: FileColumns;
  /** Words that stand for several columns. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

/** The columns of a file of lines. With pending lines the status is usual: without it, an import would take pending money for posted. */
export const lineColumns = (hasPending: boolean): ColumnChoice => ({
  all: { ...allLineColumns, [LATE]: COLUMNS.boolean(LATE) },
  usual: hasPending ? { ...v2Columns, deposit_status: extraColumns.deposit_status } : v2Columns,
  groups: { all: lineNames, v2: v2Names, money: moneyNames },
});

/** The columns of a group's key. */
const keyColumns = (by: GroupBy): FileColumns =>
  Object.fromEntries(groupColumns(by).map(([name, { field, type }]) => [name, COLUMNS[type](`key.${field}`)]));

const partColumns = (of: Readonly<Record<string, string>>, column: (field: string) => RowColumn, part: SummaryPart): FileColumns =>
  Object.fromEntries(Object.entries(of).map(([name, field]) => [summaryParts[part] + name, column(`${part}.${field}`)]));

const figures = (part: SummaryPart): FileColumns => ({
  ...partColumns(summaryCounts, number, part),
  ...partColumns(summaryAmounts, text, part),
  ...partColumns(summaryShares, nullable, part),
});
const giftDates = (part: SummaryPart): FileColumns => partColumns(summaryGiftDates, nullable, part);

const FIGURES = figures('all');
const COMPARED = figures('compared.all');
const COMPARED_DATES = giftDates('compared.all');
const MORE = {
  ...giftDates('all'),
  ...{ ...figures('posted'), ...giftDates('posted') },
  ...{ ...figures('pending'), ...giftDates('pending') },
};

/**
 * The columns of a summary's file. The usual ones count posted and pending deposits together, also in the period that is compared. They stay
 * as they are: a file of the usual columns is made again from an address that names none.
 */
export function summaryColumns(groupBy: readonly GroupBy[], isCompared: boolean): ColumnChoice {
  const keys = groupBy.map(keyColumns);
  const usual = Object.assign({}, ...keys, FIGURES, isCompared ? COMPARED : {}) as FileColumns;
  const contact = Object.fromEntries(
    groupContact(groupBy).map((name) => {
      const { field, type } = lineFields[name];
      return [name, COLUMNS[type](`key.${field}`)];
    }),
  );
  const all = { ...(Object.assign({}, ...keys) as FileColumns), ...contact, ...usual, ...MORE, ...(isCompared && COMPARED_DATES) };
  return { usual, all, groups: { all: Object.keys(all) } };
}

const inside = (object: FileObject, columns: FileColumns): FileColumns =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [`${object.key}_${name}`, { ...column, inside: object }]));

/** The line of one side of a change, or null. */
const lineOf = (key: 'before' | 'after'): FileColumns =>
  inside(
    { key, unless: nullable(`${key}.${lineFields.allocation_id.field}`) },
    Object.fromEntries(lineNames.map((name) => [name, { ...allLineColumns[name], field: `${key}.${lineFields[name].field}` }])),
  );

const EFFECT: FileColumns = inside(
  { key: 'effect' },
  {
    lines: number(`effect.${summaryCounts.lines}`),
    transactions: number(`effect.${summaryCounts.transactions}`),
    deposits: number(`effect.${summaryCounts.deposits}`),
    unknown_allocations: number(`effect.${summaryCounts.unknown_allocations}`),
    ...Object.fromEntries(Object.entries({ ...summaryAmounts, ...summaryShares }).map(([name, field]) => [name, text(`effect.${field}`)])),
  },
);

const CHANGE: FileColumns = {
  class: text('class'),
  changed_columns: text('columns'),
  was_inside: COLUMNS.boolean('wasInside'),
  is_inside: COLUMNS.boolean('isInside'),
  ...lineOf('before'),
  ...lineOf('after'),
  ...EFFECT,
};

/** The columns of a file of changes. */
export const changeColumns: ColumnChoice = { all: CHANGE, usual: CHANGE, groups: { all: Object.keys(CHANGE) } };

const ACCOUNT = freeText('account');
const DESCRIPTION = freeText('description');
const DEBIT = nullable('debit');
const CREDIT = nullable('credit');
/**
 * The columns of each layout of a journal:
 * - QuickBooks Online: Intuit's article "Import journal entries" (quickbooks.intuit.com/learn-support, L4tQBwbs7). Accounts go by their names,
 *   and a number has at most 21 characters.
 * - Xero: "Manual journals: import" (help.xero.com/ManualJournalsImport). Rows of the same narration and date are one journal, accounts go by
 *   their codes, and a debit is positive.
 * - Sage Intacct: "CSV import: General Ledger journal entries" (intacct.com/ia/docs, import-GL-journal-entries). The first row of an entry has
 *   its head, whose description has at most 30 characters.
 */
const JOURNAL_COLUMNS: Readonly<Record<JournalLayout, FileColumns>> = {
  plain: {
    ...{ entry_id: freeText('id'), date: text('date'), account: ACCOUNT, debit: DEBIT, credit: CREDIT, description: DESCRIPTION },
    ...{ deposit_id: freeText('depositId'), currency: text('currency') },
  },
  quickbooks: {
    ...{ 'Journal No.': freeText('quickbooksId'), 'Journal Date': text('dateOfMonth'), 'Account Name': ACCOUNT },
    ...{ Debits: DEBIT, Credits: CREDIT, Description: freeText('narration') },
  },
  xero: {
    ...{ '*Narration': freeText('narration'), '*Date': text('dateInWords'), Description: DESCRIPTION },
    ...{ '*AccountCode': ACCOUNT, '*TaxRate': freeText('taxRate'), '*Amount': text('amount') },
  },
  sage: {
    ...{ JOURNAL: freeText('journalIdInHead'), DATE: text('dateInHead'), DESCRIPTION: freeText('idInHead'), LINE_NO: number('line') },
    ...{ ACCT_NO: ACCOUNT, DEBIT, CREDIT, MEMO: freeText('narration') },
  },
};

/** The entries of a journal's file. */
export interface FileJournal {
  readonly layout: JournalLayout;
  /** The state of the journal that was booked, which entries are differences to; undefined for whole entries. */
  readonly since?: BookedState;
  /** The dates and the accounts of that journal; those of this one when they are missing. */
  readonly booked?: PeriodDates;
  readonly bookedAccounts?: number;
  /** The number of the saving of accounts, and the currency; those in force when they are missing. */
  readonly accounts?: number;
  readonly currency?: string;
  /** Texts that Xero and Sage Intacct want. */
  readonly taxRate: string;
  readonly journalId: string;
}

/** A journal without its parameters. Xero and Sage Intacct know these names in most organizations. */
export const JOURNAL: FileJournal = { layout: 'plain', taxRate: 'Tax Exempt', journalId: 'GJ' };

/** The columns of a journal's file. */
export const journalColumns = (layout: JournalLayout): ColumnChoice => ({
  all: JOURNAL_COLUMNS[layout],
  usual: JOURNAL_COLUMNS[layout],
  groups: { all: Object.keys(JOURNAL_COLUMNS[layout]) },
});

/** Reads names of columns, in order. A word such as `all` or `v2` stands for several columns. Throws INVALID_PARAMETERS. */
export function parseColumns(given: unknown, { all, groups }: ColumnChoice): readonly string[] {
  const words = typeof given === 'string' ? given.split(',') : [];
  const names = words.flatMap((word) => (Object.hasOwn(groups, word) ? groups[word]! : [word]));
  const areKnown = names.every((name) => Object.hasOwn(all, name));
  if (names.length === 0 || !areKnown || new Set(names).size !== names.length) {
    throw new InputError('columns must be names of fields of the report, each once, separated by commas');
  }
  return names;
}
