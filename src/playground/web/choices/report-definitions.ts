import type { GroupBy } from '../../../generated/operations/graphql';
import type { PeriodName } from '../../../values/periods';

/** The ways to choose pending deposits, as the gateway knows them, in words. */
export const pendingChoices = { WITH: 'included', WITHOUT: 'left out', ONLY: 'only these' } as const;
export type PendingChoice = keyof typeof pendingChoices;
export const isPendingChoice = (value: unknown): value is PendingChoice =>
  typeof value === 'string' && Object.hasOwn(pendingChoices, value);

/** The date that a period goes by, as the gateway knows it, in words. */
export const dateBases = { DEPOSIT_DATE: 'date of the deposit', TRANSACTION_DATE: 'date of the gift' } as const;
export type DateBasis = keyof typeof dateBases;
export const isDateBasis = (value: unknown): value is DateBasis => typeof value === 'string' && Object.hasOwn(dateBases, value);

interface DonorChoice {
  readonly title: string;
  /** True for donors who are found by what they gave in two periods: that of the report, and the one that it is compared with. */
  readonly isCompared: boolean;
  /** What the choice needs beside its name: the least sum of a donor's gifts, or a period that begins and ends. */
  readonly needs?: 'givenMin' | 'period';
}

/** The donors that a report may be of, by their names in addresses. */
export const donorChoices = {
  everybody: { title: 'everybody', isCompared: false },
  'at-least': { title: 'gave at least …', isCompared: false, needs: 'givenMin' },
  'first-time': { title: 'gave for the first time', isCompared: false, needs: 'period' },
  lapsed: { title: 'gave before and not now', isCompared: true, needs: 'period' },
  both: { title: 'gave before and now', isCompared: true, needs: 'period' },
} as const satisfies Readonly<Record<string, DonorChoice>>;
export type DonorChoiceName = keyof typeof donorChoices;
export const donorChoiceOf = (name: DonorChoiceName): DonorChoice => donorChoices[name];
export const isDonorChoice = (value: string): value is DonorChoiceName => Object.hasOwn(donorChoices, value);

/** The ways to have the addresses of donors in a report, in words. */
export const addressChoices = { WITHOUT: 'left out', WITH: 'for letters' } as const;
export type AddressChoice = keyof typeof addressChoices;
export const isAddressChoice = (value: string): value is AddressChoice => Object.hasOwn(addressChoices, value);

/** The ways to have the names of donors on a sheet for others, in words. */
export const nameChoices = { WITHOUT: 'left out', WITH: 'shown' } as const;
export type NameChoice = keyof typeof nameChoices;
export const isNameChoice = (value: string): value is NameChoice => Object.hasOwn(nameChoices, value);

/** The ways to divide a report, in words. */
export const groupTitles: Readonly<Record<GroupBy | 'NONE', string>> = {
  NONE: 'Not divided',
  DAY: 'Day',
  WEEK: 'Week',
  MONTH: 'Month',
  QUARTER: 'Quarter',
  YEAR: 'Year',
  DEPOSIT: 'Deposit',
  TRANSACTION: 'Gift',
  DEPOSIT_STATUS: 'Status of the deposit',
  DESIGNATION: 'Fund',
  STATUS: 'Gift status',
  ACCOUNT_TYPE: 'Account type',
  PAYMENT_TYPE: 'Payment type',
  DONOR: 'Donor',
  CITY: 'City',
  STATE: 'State',
};

/** The conditions that the form offers. Those on donors need the privilege of the report. */
export type FilterName = 'funds' | 'donor' | 'giftDate' | 'amount' | 'paymentTypes' | 'accountTypes' | 'statuses' | 'state' | 'since';

/** A report of the form. A new report is a new row of the table below. */
export interface ReportDefinition {
  readonly title: string;
  /** The question that the report answers. */
  readonly answers: string;
  /** One row of the report, in words. */
  readonly grain: string;
  /**
   * `groups`: totals by what its lines have in common. `lines`: the lines themselves. `changes`: what is different between two states of the
   * books. `versions`: the changes of the books.
   */
  readonly rows: 'groups' | 'lines' | 'changes' | 'versions';
  /** True for figures of several kinds on one sheet of paper, whose groups programs get as rows. */
  readonly isSheet?: boolean;
  /** The groupings that the report always has. */
  readonly groupBy: readonly GroupBy[];
  /** The groupings of which the person may add one; the first is the default. `NONE` adds none. */
  readonly splitBy?: readonly (GroupBy | 'NONE')[];
  /** True when donors' names are added for those who may read them. */
  readonly namesDonors?: boolean;
  /** True for a sheet that names donors only where somebody asks for it. */
  readonly offersNames?: boolean;
  /** True for a report of donors, which is offered only to those who may read them. */
  readonly isPersonal?: boolean;
  /** True for a report whose donors are chosen by what they gave, and may have their addresses. */
  readonly choosesDonors?: boolean;
  readonly filters: readonly FilterName[];
  /** A condition that must be given before the report runs. */
  readonly needs?: FilterName | 'period';
  readonly period: PeriodName;
  /** The comparison that the report always has. */
  readonly compare?: 'last-year';
  /** The date that the period goes by when the form begins; that of the deposit when it is missing. */
  readonly dateBasis?: DateBasis;
  /** True for a report that goes by the date of the deposit alone. */
  readonly hasFixedDates?: boolean;
  /** The choice of pending deposits with which the form begins. */
  readonly pending: PendingChoice;
  readonly hasFixedPending?: boolean;
  /** The figure that comes first, where it is not what was received. */
  readonly leads?: 'net';
  /** The order of the rows, and how many there are at most; that of the groups' values, and all of them, when it is missing. */
  readonly top?: { readonly field: 'TRANSACTION_AMOUNT'; readonly limits: readonly number[] };
  /** True for rows that begin with the largest amount while nobody has sorted them. */
  readonly isLargestFirst?: boolean;
  /** True for the report whose deposits are tied to a statement of the bank. */
  readonly tiesToBank?: boolean;
  /** The report that a row opens into, with the row as its filter. */
  readonly opens?: 'deposit' | 'donor' | 'version';
}

const lineFilters = ['funds', 'donor', 'giftDate', 'amount', 'paymentTypes', 'accountTypes', 'statuses', 'state'] as const;

export const reportDefinitions = {
  deposits: {
    title: 'Money received',
    answers: 'How much came in, day by day or month by month?',
    grain: 'a part of the period, each gift once',
    rows: 'groups',
    groupBy: [],
    splitBy: ['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR', 'PAYMENT_TYPE', 'ACCOUNT_TYPE', 'STATUS'],
    filters: lineFilters,
    period: 'last-month',
    pending: 'WITH',
  },
  'bank-tie-out': {
    title: 'Bank tie-out',
    answers: 'Which deposits are on the bank statement, net of fees?',
    grain: 'a deposit, each gift once',
    rows: 'groups',
    groupBy: ['DEPOSIT', 'DEPOSIT_STATUS'],
    // A condition would leave parts of deposits, which no bank statement has.
    filters: ['state'],
    period: 'last-month',
    // A bank statement knows the date of the deposit alone.
    hasFixedDates: true,
    // Pending money is not at the bank, and the bank's line is what is left after the fees.
    pending: 'WITHOUT',
    leads: 'net',
    tiesToBank: true,
    opens: 'deposit',
  },
  designations: {
    title: 'Funds',
    answers: 'How much did each fund receive?',
    grain: 'a fund with its own shares of the gifts',
    rows: 'groups',
    groupBy: ['DESIGNATION'],
    splitBy: ['NONE', 'DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'],
    filters: lineFilters,
    period: 'last-month',
    pending: 'WITH',
  },
  donors: {
    title: 'Donors',
    answers: 'Who gave how much?',
    grain: 'a donor, each gift once',
    rows: 'groups',
    groupBy: ['DONOR'],
    isPersonal: true,
    choosesDonors: true,
    filters: lineFilters,
    period: 'this-year',
    pending: 'WITH',
    isLargestFirst: true,
    opens: 'donor',
  },
  donor: {
    title: 'A donor’s gifts',
    answers: 'What did one person give, and to which funds?',
    grain: 'a share of a gift',
    rows: 'lines',
    groupBy: [],
    isPersonal: true,
    filters: ['donor', 'funds', 'giftDate', 'state'],
    needs: 'donor',
    period: 'this-year',
    pending: 'WITH',
  },
  'year-end': {
    title: 'Year-end of a donor',
    answers: 'What did one person give last year, for a letter?',
    grain: 'a share of a gift',
    rows: 'lines',
    groupBy: [],
    isPersonal: true,
    filters: ['donor', 'giftDate', 'state'],
    needs: 'donor',
    period: 'last-year',
    // Receipts and letters go by the date of the gift.
    dateBasis: 'TRANSACTION_DATE',
    pending: 'WITHOUT',
  },
  pending: {
    title: 'Pending',
    answers: 'Which money is still on its way to the bank?',
    grain: 'a pending deposit, each gift once',
    rows: 'groups',
    groupBy: ['DEPOSIT'],
    filters: ['funds', 'giftDate', 'amount', 'paymentTypes', 'accountTypes', 'state'],
    period: 'all-time',
    pending: 'ONLY',
    hasFixedPending: true,
    opens: 'deposit',
  },
  largest: {
    title: 'Largest gifts',
    answers: 'Which gifts were the largest?',
    grain: 'a gift, whole',
    rows: 'groups',
    groupBy: ['TRANSACTION', 'DEPOSIT'],
    namesDonors: true,
    filters: lineFilters,
    period: 'last-month',
    pending: 'WITH',
    top: { field: 'TRANSACTION_AMOUNT', limits: [50, 100, 500, 1000] },
    opens: 'deposit',
  },
  board: {
    title: 'Summary for the board',
    answers: 'How does the year go, on a sheet to hand over?',
    grain: 'a fund with its own shares of the gifts',
    rows: 'groups',
    isSheet: true,
    groupBy: ['DESIGNATION'],
    // It counts new and lapsed donors.
    isPersonal: true,
    offersNames: true,
    filters: ['state'],
    needs: 'period',
    period: 'fiscal-year-to-date',
    compare: 'last-year',
    // Pending gifts stand beside the sums.
    pending: 'WITHOUT',
    hasFixedPending: true,
  },
  gifts: {
    title: 'Gifts, line by line',
    answers: 'What are all the lines, with donors and memos?',
    grain: 'a share of a gift',
    rows: 'lines',
    groupBy: [],
    isPersonal: true,
    filters: lineFilters,
    period: 'last-month',
    pending: 'WITH',
  },
  changes: {
    title: 'What changed',
    answers: 'What is different from the report that was booked, and does it add up?',
    grain: 'a line that is new, gone or different',
    rows: 'changes',
    groupBy: [],
    isPersonal: true,
    filters: ['since', ...lineFilters],
    needs: 'since',
    period: 'last-month',
    pending: 'WITH',
  },
  history: {
    title: 'History of the books',
    answers: 'When did the books change, and by what?',
    grain: 'a version of the books',
    rows: 'versions',
    groupBy: [],
    filters: [],
    period: 'all-time',
    hasFixedDates: true,
    pending: 'WITH',
    hasFixedPending: true,
    opens: 'version',
  },
} as const satisfies Readonly<Record<string, ReportDefinition>>;

export type ReportId = keyof typeof reportDefinitions;

export const definitionOf = (id: ReportId): ReportDefinition => reportDefinitions[id];

export const isReport = (text: string): text is ReportId => Object.hasOwn(reportDefinitions, text);

/**
 * True when the rows of a report can be compared with those of another period, and not its totals alone. Two periods seldom have the same
 * days or weeks, and their months are the same only when one lies whole months before the other.
 */
export const hasComparedRows = (splitBy: GroupBy | 'NONE', isByMonths: boolean): boolean =>
  splitBy !== 'DAY' && splitBy !== 'WEEK' && (isByMonths || !['MONTH', 'QUARTER', 'YEAR'].includes(splitBy));

/** True for a report whose rows can be compared with those of another period. A deposit and a gift are in one period alone. */
export const isComparable = ({ rows, groupBy, hasFixedPending }: ReportDefinition): boolean =>
  (rows === 'groups' || rows === 'lines') && !hasFixedPending && !groupBy.includes('DEPOSIT');

/** True for a report whose rows make a chart. Single gifts are too many, and none of them tells anything beside the others. */
export const hasChart = (report: ReportId): boolean => {
  const { rows, groupBy, isSheet } = definitionOf(report);
  return rows === 'changes' || (rows === 'groups' && !isSheet && !groupBy.includes('TRANSACTION'));
};
