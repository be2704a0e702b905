const amounts = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2 });

/** Shows an amount with its thousands apart. The formatter reads the text itself, so that no digit is lost in a float. */
export const showMoney = (amount: string | null | undefined): string =>
  amount == null ? 'unknown' : amounts.format(amount as `${number}`);

/** The variables of a year's deposits. */
export const periodOf = (year: number) => ({ startDate: `${year}-01-01`, endDate: `${year}-12-31` });
