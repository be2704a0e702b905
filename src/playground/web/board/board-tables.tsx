import type { ReactNode } from 'react';
import { createCellFormat } from '../values/cell-format';
import { subtract } from '../values/exact-decimal';
import type { BoardFigures, FundRow } from './board-figures';

/** The most months whose amounts stand under the chart. */
const MAX_TABLE_MONTHS = 24;

interface TableProps {
  readonly currency: string | null;
  /** True on the page, where a narrow table scrolls, by the keyboard too. */
  readonly isLinked: boolean;
}

const inCurrency = (caption: string, currency: string | null): string => (currency === null ? caption : `${caption}, in ${currency}`);

interface FrameProps {
  readonly label: string;
  readonly isLinked: boolean;
  readonly children: ReactNode;
}

const Frame = ({ label, isLinked, children }: FrameProps) => (
  <div className="board-frame" {...(isLinked && { tabIndex: 0, role: 'region', 'aria-label': label })}>
    {children}
  </div>
);

interface MoneyTableProps {
  readonly label: string;
  readonly className: string;
  readonly caption: string;
  /** The title of the names, and those of the amounts after it. */
  readonly titles: readonly [string, ...string[]];
  readonly rows: readonly MoneyRow[];
  readonly totals: readonly string[];
  readonly isLinked: boolean;
}

interface MoneyRow {
  readonly name: string;
  readonly cells: readonly string[];
}

/** A row of amounts for each name, and their totals as the last row. */
function MoneyTable({ label, className, caption, titles: [first, ...titles], rows, totals, isLinked }: MoneyTableProps) {
  const toRow = ({ name, cells }: MoneyRow, key?: number) => (
    <tr key={key}>
      <th scope="row">
        <span className="board-name">{name}</span>
      </th>
      {cells.map((text, at) => (
        <td key={at} className="money">
          {text}
        </td>
      ))}
    </tr>
  );
  return (
    <Frame {...{ label, isLinked }}>
      <table className={className}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {titles.map((title) => (
              <th key={title} scope="col" className="money">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.map(toRow)}</tbody>
        <tfoot>{toRow({ name: 'Total', cells: totals })}</tfoot>
      </table>
    </Frame>
  );
}

/** The values of the chart. More months would take the room of the funds, and a report has them. */
export function MonthTable({ figures, currency, isLinked }: TableProps & { readonly figures: BoardFigures }) {
  const { format, sign } = createCellFormat(navigator.languages);
  const { months, received, before } = figures;
  if (months.length > MAX_TABLE_MONTHS)
    return (
      <p className="board-notes">
        The sheet writes the amounts of at most {format(MAX_TABLE_MONTHS, 'count')} months. Money received, divided by month, without
        pending and compared with a year before, has all of them.
      </p>
    );
  const toCells = (now: string, earlier: string): string[] => [
    format(now, 'money'),
    format(earlier, 'money'),
    sign(subtract(now, earlier), 'money'),
  ];
  return (
    <MoneyTable
      label="Amounts by month"
      className="board-months"
      caption={inCurrency('By month', currency)}
      titles={['Month', 'Received', 'Year before', 'Change']}
      rows={months.map(({ month, received: now, before: earlier }) => ({ name: format(month, 'month'), cells: toCells(now, earlier) }))}
      totals={toCells(received, before)}
      isLinked={isLinked}
    />
  );
}

interface FundTableProps extends TableProps {
  readonly figures: BoardFigures;
  /** True where the period is the fiscal year to date, so that one column has both. */
  readonly isWholeYear: boolean;
}

export function FundTable({ figures, isWholeYear, currency, isLinked }: FundTableProps) {
  const { format, sign } = createCellFormat(navigator.languages);
  const { funds, received, before, toDate, budget } = figures;
  const toCells = (fund: Omit<FundRow, 'name'>): string[] => [
    format(fund.received, 'money'),
    format(fund.before, 'money'),
    sign(subtract(fund.received, fund.before), 'money'),
    ...(isWholeYear ? [] : [format(fund.toDate, 'money')]),
    ...(budget === undefined
      ? []
      : [fund.budget === undefined ? 'none' : format(fund.budget, 'money'), sign(subtract(fund.toDate, fund.budget ?? '0.00'), 'money')]),
  ];
  return (
    <MoneyTable
      label="By fund"
      className="board-funds"
      caption={inCurrency('By fund, without pending', currency)}
      titles={[
        ...(['Fund', 'Received', 'Year before', 'Change'] as const),
        ...(isWholeYear ? [] : ['Fiscal year to date']),
        ...(budget === undefined ? [] : ['Budget to date', 'Difference']),
      ]}
      rows={funds.map((fund) => ({ name: fund.name, cells: toCells(fund) }))}
      totals={toCells({ received, before, toDate, budget: budget?.toDate })}
      isLinked={isLinked}
    />
  );
}

interface LargestProps extends TableProps {
  readonly largest: BoardFigures['largest'];
  readonly hasNames: boolean;
}

export function LargestGifts({ largest, currency, hasNames, isLinked }: LargestProps) {
  const { format } = createCellFormat(navigator.languages, currency);
  return (
    <Frame label="Largest gifts" isLinked={isLinked}>
      <table>
        <caption>Largest gifts</caption>
        <thead>
          <tr>
            <th scope="col">Date</th>
            {hasNames && <th scope="col">Donor</th>}
            <th scope="col">Fund</th>
            <th scope="col" className="money">
              Amount
            </th>
          </tr>
        </thead>
        <tbody>
          {largest.map(({ id, date, donor, funds, amount }) => (
            <tr key={id}>
              <td className="board-date">{format(date, 'date')}</td>
              {hasNames && (
                <td>
                  <span className="board-name">{donor || '(no donor)'}</span>
                </td>
              )}
              <td>
                <span className="board-name">{funds}</span>
              </td>
              <td className="money">{format(amount, 'money')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}
