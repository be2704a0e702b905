import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import { valueAt } from '../values/paths';

/** The types of figures, each with the range that a condition asks for. Both ends are included; one that is missing does not bound it. */
interface Ranges {
  readonly count: { readonly min?: number | null; readonly max?: number | null };
  readonly amount: { readonly min?: Money | null; readonly max?: Money | null };
  readonly date: { readonly from?: LocalDate | null; readonly to?: LocalDate | null };
}
export type FigureType = keyof Ranges;

/** The figures by which groups are chosen, by their names in a row of a summary. Dates and the sum of the shares may be unknown. */
export const groupFigures = {
  lines: 'count',
  transactions: 'count',
  splitTransactions: 'count',
  deposits: 'count',
  donors: 'count',
  lineAmount: 'amount',
  lineFeeAmount: 'amount',
  lineNetAmount: 'amount',
  transactionAmount: 'amount',
  transactionFeeAmount: 'amount',
  transactionNetAmount: 'amount',
  allocationAmount: 'amount',
  firstGift: 'date',
  lastGift: 'date',
} as const satisfies Readonly<Record<string, FigureType>>;
export type GroupFigure = keyof typeof groupFigures;
const figureNames = Object.keys(groupFigures) as readonly GroupFigure[];

/** The ends of the ranges of a type, from the least value to the greatest. */
export const RANGE_ENDS = { count: ['min', 'max'], amount: ['min', 'max'], date: ['from', 'to'] } as const satisfies {
  readonly [Type in FigureType]: readonly [keyof Ranges[Type], keyof Ranges[Type]];
};

/** The ranges of figures as a caller sends them. */
export type FigureRangesInput = { readonly [Figure in GroupFigure]?: Ranges[(typeof groupFigures)[Figure]] | null };
/** The conditions on groups as a caller sends them, in the shape of GraphQL's `having`. `compared` are figures of the period that is compared. */
export interface GroupConditionsInput extends FigureRangesInput {
  readonly compared?: FigureRangesInput | null;
}

/** A range that a condition can have: of a figure of the period, or of the one that is compared. */
export interface FigureRange {
  readonly figure: GroupFigure;
  readonly type: FigureType;
  readonly isCompared: boolean;
  /** The steps to the range in GraphQL's `having`. */
  readonly path: readonly string[];
  /** The beginning of the parameters' names in the address of a file; the end of the range follows it. */
  readonly parameter: string;
}
const toRange = (figure: GroupFigure, isCompared: boolean): FigureRange => ({
  ...{ figure, type: groupFigures[figure], isCompared },
  path: [...(isCompared ? ['compared'] : []), figure],
  parameter: `${isCompared ? 'compared_' : ''}${figure.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
});
export const figureRanges: readonly FigureRange[] = [false, true].flatMap((side) => figureNames.map((figure) => toRange(figure, side)));

/** One end of a range that a group's figure must lie in. A figure that is not known lies in none. */
export interface GroupCondition extends Pick<FigureRange, 'figure' | 'isCompared'> {
  readonly compares: '>=' | '<=';
  readonly value: number | string;
}

/** The conditions that a caller sent, unchecked. Equal ones have equal JSON, whatever order they were sent in. */
export const readGroupConditions = (input: GroupConditionsInput | null | undefined): GroupCondition[] =>
  figureRanges.flatMap(({ figure, isCompared, type, path }) =>
    RANGE_ENDS[type].flatMap((end, index) => {
      const value = valueAt(input, [...path, end]) as GroupCondition['value'] | null | undefined;
      return value === undefined || value === null ? [] : { figure, isCompared, compares: index === 0 ? '>=' : '<=', value };
    }),
  );

/** The figure that tells donors apart: counted over few gifts, donors show which gifts have the same giver. */
const PERSONAL: GroupFigure = 'donors';
export const conditionsTellDonors = (conditions: readonly GroupCondition[]): boolean =>
  conditions.some(({ figure }) => figure === PERSONAL);
/** The parameters of a file's address with such conditions. */
export const personalParameters: readonly string[] = figureRanges
  .filter(({ figure }) => figure === PERSONAL)
  .flatMap(({ parameter, type }) => RANGE_ENDS[type].map((end) => `${parameter}_${end}`));
