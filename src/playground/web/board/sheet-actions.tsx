import { toPeriodDates } from '../../../values/periods';
import { BudgetDialog } from './budget-dialog';

interface SheetActionsProps {
  readonly provision: string;
  readonly fiscalYearStart: number;
  /** The last day of the sheet, which is in the fiscal year of its budget. */
  readonly endDate: string;
  /** True for those who may change the budget. */
  readonly mayChange: boolean;
  /** False while there is nothing to print. */
  readonly isReady: boolean;
  readonly onSaved: () => void;
}

/** The buttons of a sheet. */
export function SheetActions({ provision, fiscalYearStart, endDate, mayChange, isReady, onSaved }: SheetActionsProps) {
  const { startDate: yearStart, endDate: yearEnd } = toPeriodDates('this-fiscal-year', { today: endDate, fiscalYearStart });
  return (
    <>
      <button type="button" className="main-button" disabled={!isReady} onClick={() => window.print()}>
        Print
      </button>
      {mayChange && <BudgetDialog {...{ provision, yearStart, yearEnd, onSaved }} />}
    </>
  );
}
