import {
  donorTexts,
  fieldGroups,
  lineFields,
  namesOf,
  type FieldOf,
  type LineField,
  type LineName,
  type LineValues,
  type NamesOf,
} from '../line/line-fields';
import { daysBetween, monthsBetween, type LocalDate } from '../values/dates';
import { personalParameters } from './group-conditions';
import { conditionNames, isPersonal, lineConditions } from './line-conditions';

/** The parts of time that group lines by a date. A week is named by its Monday; a month, a quarter and a year by their first day. */
const timeGroups = ['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'] as const;
export type TimeGroup = (typeof timeGroups)[number];

export type FieldGroup = keyof typeof fieldGroups;

export type GroupBy = TimeGroup | FieldGroup;
export const groupBys: readonly GroupBy[] = [...timeGroups, ...(Object.keys(fieldGroups) as FieldGroup[])];

/** The fields of a donor that a group by donor may tell beside its names: the address, the phone number and the email address. */
export type ContactName = Exclude<NamesOf<'donor'>, (typeof fieldGroups)['DONOR'][number]>;
const contactNames = namesOf('donor').filter((name): name is ContactName => !fieldGroups.DONOR.some((each) => each === name));

type GroupField = FieldOf<(typeof fieldGroups)[FieldGroup][number] | ContactName>;
/** The values that all lines of a group share. It has only the fields of the groupings that were asked for. */
export type GroupKey = { readonly [By in TimeGroup as Lowercase<By>]?: LocalDate } & { readonly [Field in GroupField]?: LineValues[Field] };

const isFieldGroup = (by: GroupBy): by is FieldGroup => Object.hasOwn(fieldGroups, by);

/** The columns that a grouping adds to a group's key, in order: the name of each in files, its field in GraphQL and its type. */
export function groupColumns(by: GroupBy): readonly (readonly [name: string, column: Pick<LineField, 'field' | 'type'>])[] {
  if (isFieldGroup(by)) return fieldGroups[by].map((name) => [name, lineFields[name]]);
  const part = by.toLowerCase();
  return [[part, { field: part, type: 'date' }]];
}

/**
 * The contact that groups may tell, by its fields. It is that of the donor in the state that is asked for, and none of the columns of groups.
 * A grouping by city or state tells that field itself.
 */
export function groupContact(groupBy: readonly GroupBy[]): readonly ContactName[] {
  if (!groupBy.includes('DONOR')) return [];
  const told = groupBy.flatMap((by) => groupColumns(by).map(([name]) => name));
  return contactNames.filter((name) => !told.includes(name));
}

/** True for groupings that tell donors apart, which need the privilege to read donors. */
export const groupsTellDonors = (groupBy: readonly GroupBy[]): boolean =>
  groupBy.some((by) => isFieldGroup(by) && fieldGroups[by].some((name) => lineFields[name].isPersonal));

/** True for groupings by a donor's text, such as a city: a donor who is erased leaves the group. */
export const groupsFollowTexts = (groupBy: readonly GroupBy[]): boolean =>
  groupBy.some((by) => isFieldGroup(by) && (donorTexts as readonly LineName[]).includes(fieldGroups[by][0]));

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

/** The beginning of a grouping, as the address of a file writes it. */
export const GROUPED_BY = 'group_by=';

/** True when one of the conditions or groupings of a file, by their names in its address, tells donors apart. */
export const tellsDonorsByName = (names: readonly string[]): boolean =>
  conditionNames.some((name) => isPersonal(name) && names.includes(lineConditions[name].parameter)) ||
  personalParameters.some((name) => names.includes(name)) ||
  groupBys.some((by) => groupsTellDonors([by]) && names.includes(GROUPED_BY + by));
