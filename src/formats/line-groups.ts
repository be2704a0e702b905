import { daysBetween, monthsBetween, type LocalDate } from '../values/dates';

interface GroupValues {
  readonly date: LocalDate;
  readonly number: number;
  readonly text: string;
  readonly status: 'POSTED' | 'PENDING';
}

interface GroupColumn {
  /** The field of a group's key, here and in GraphQL. */
  readonly field: string;
  readonly type: keyof GroupValues;
}

/** The ways to group lines, each with the columns that name a group in a file. */
const lineGroups = {
  DAY: { day: { field: 'day', type: 'date' } },
  /** A week is named by its Monday; a month, a quarter and a year by their first day. */
  WEEK: { week: { field: 'week', type: 'date' } },
  MONTH: { month: { field: 'month', type: 'date' } },
  QUARTER: { quarter: { field: 'quarter', type: 'date' } },
  YEAR: { year: { field: 'year', type: 'date' } },
  DEPOSIT: { deposit_id: { field: 'depositId', type: 'text' }, deposit_date: { field: 'depositDate', type: 'date' } },
  TRANSACTION: { transaction_id: { field: 'transactionId', type: 'text' }, transaction_date: { field: 'transactionDate', type: 'date' } },
  DEPOSIT_STATUS: { deposit_status: { field: 'depositStatus', type: 'status' } },
  DESIGNATION: { designation_id: { field: 'designationId', type: 'number' }, designation: { field: 'designation', type: 'text' } },
  STATUS: { status: { field: 'status', type: 'text' } },
  ACCOUNT_TYPE: { account_type: { field: 'accountType', type: 'text' } },
  PAYMENT_TYPE: { payment_type: { field: 'paymentType', type: 'text' } },
  DONOR: {
    donor_id: { field: 'donorId', type: 'number' },
    donor_first_name: { field: 'donorFirstName', type: 'text' },
    donor_last_name: { field: 'donorLastName', type: 'text' },
  },
  CITY: { city: { field: 'city', type: 'text' } },
  STATE: { state: { field: 'state', type: 'text' } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, GroupColumn>>>>;

export type GroupBy = keyof typeof lineGroups;
export const groupBys = Object.keys(lineGroups) as readonly GroupBy[];

type Columns = { [By in GroupBy]: (typeof lineGroups)[By][keyof (typeof lineGroups)[By]] }[GroupBy];
/** The values that all lines of a group share. It has only the fields of the groupings that were asked for. */
export type GroupKey = { readonly [Column in Columns as Column['field']]?: GroupValues[Column['type']] };

/** The columns that a grouping adds to a group's key, in order. */
export const groupColumns = (by: GroupBy): readonly (readonly [name: string, column: GroupColumn])[] => Object.entries(lineGroups[by]);

const personalGroups: readonly GroupBy[] = ['DONOR', 'CITY', 'STATE'];

/** True for groupings that tell donors apart, which need the privilege to read donors. */
export const groupsTellDonors = (groupBy: readonly GroupBy[]): boolean => groupBy.some((by) => personalGroups.includes(by));

interface GroupedPeriod {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
}

/** The greatest number of values that a grouping can have in a period. Missing where the books decide. */
const MOST: { readonly [By in GroupBy]?: (period: GroupedPeriod) => number } = {
  DAY: ({ startDate, endDate }) => daysBetween(startDate, endDate) + 1,
  WEEK: ({ startDate, endDate }) => Math.ceil(daysBetween(startDate, endDate) / 7) + 1,
  MONTH: ({ startDate, endDate }) => monthsBetween(startDate, endDate) + 1,
  QUARTER: ({ startDate, endDate }) => Math.ceil(monthsBetween(startDate, endDate) / 3) + 1,
  YEAR: ({ startDate, endDate }) => Math.ceil(monthsBetween(startDate, endDate) / 12) + 1,
  DEPOSIT_STATUS: () => 2,
};

/** The greatest number of groups that a period can have; infinite where the books decide. */
export const countPossibleGroups = (groupBy: readonly GroupBy[], period: GroupedPeriod): number =>
  [...new Set(groupBy)].reduce((count, by) => count * Math.max(MOST[by]?.(period) ?? Infinity, 0), 1);
