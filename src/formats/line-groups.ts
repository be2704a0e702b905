import type { LocalDate } from '../values/dates';

interface GroupValues {
  readonly date: LocalDate;
  readonly number: number;
  readonly text: string;
}

interface GroupColumn {
  /** The field of a group's key, here and in GraphQL. */
  readonly field: string;
  readonly type: keyof GroupValues;
}

/** The ways to group lines, each with the columns that name a group in a file. */
const lineGroups = {
  DAY: { day: { field: 'day', type: 'date' } },
  /** A week is named by its Monday, a month by its first day. */
  WEEK: { week: { field: 'week', type: 'date' } },
  MONTH: { month: { field: 'month', type: 'date' } },
  DESIGNATION: { designation_id: { field: 'designationId', type: 'number' }, designation: { field: 'designation', type: 'text' } },
  STATUS: { status: { field: 'status', type: 'text' } },
  ACCOUNT_TYPE: { account_type: { field: 'accountType', type: 'text' } },
  PAYMENT_TYPE: { payment_type: { field: 'paymentType', type: 'text' } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, GroupColumn>>>>;

export type GroupBy = keyof typeof lineGroups;
export const groupBys = Object.keys(lineGroups) as readonly GroupBy[];

type Columns = { [By in GroupBy]: (typeof lineGroups)[By][keyof (typeof lineGroups)[By]] }[GroupBy];
/** The values that all lines of a group share. It has only the fields of the groupings that were asked for. */
export type GroupKey = { readonly [Column in Columns as Column['field']]?: GroupValues[Column['type']] };

/** The columns that a grouping adds to a group's key, in order. */
export const groupColumns = (by: GroupBy): readonly (readonly [name: string, column: GroupColumn])[] => Object.entries(lineGroups[by]);
