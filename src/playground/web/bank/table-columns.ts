/** The head of a table, by which somebody chooses its columns. */
export interface TableHead {
  /** The names of the columns. A name that is missing is that of its place. */
  readonly names: readonly string[];
  /** The first rows. */
  readonly samples: readonly (readonly string[])[];
}

/** The orders of day and month, in words. */
export const dateOrders = { 'day-first': 'Day before month', 'month-first': 'Month before day' } as const;
export type DateOrder = keyof typeof dateOrders;
/** The decimal signs, in words. */
export const decimalSigns = { point: 'Point (1,234.50)', comma: 'Comma (1.234,50)' } as const;
export type DecimalSign = keyof typeof decimalSigns;

/** The columns of a table, each by its place, and how its values are written; undefined where the values say so themselves. */
export interface TableColumns {
  readonly date: number;
  /** One column of signed amounts, or two of which each row has one. */
  readonly amount: number | undefined;
  readonly credit: number | undefined;
  readonly debit: number | undefined;
  readonly text: number | undefined;
  readonly dateOrder: DateOrder | undefined;
  readonly decimalSign: DecimalSign | undefined;
}
