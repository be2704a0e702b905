import { useMemo, useState } from 'react';
import type { PrintHead } from '../tables/print-sheet';
import { ChartFrame } from './chart-frame';
import { defaultColumn, toGroupChart, valueColumns } from './group-chart';
import type { ResultTable } from '../rows/result-tables';

interface ResultChartProps {
  readonly table: ResultTable;
  /** The name of the picture's file, without what it ends in. */
  readonly fileName: string;
  /** The head of the print sheet and of the picture. */
  readonly print: PrintHead;
}

/** Draws one total of a summary's groups as bars. The table view holds the same values as text. */
export function ResultChart({ table, fileName, print }: ResultChartProps) {
  const [chosen, setChosen] = useState<string>();
  const columns = valueColumns(table);
  const column = columns.find(({ name }) => name === chosen) ?? columns.find(({ name }) => name === table.main) ?? defaultColumn(table);
  const chart = useMemo(() => column && toGroupChart(table, column, navigator.languages), [table, column]);
  return (
    <ChartFrame {...{ chart, print }} fileName={`${fileName}.png`} nothing={SAME_KEYS}>
      <label htmlFor="chart-column">Draw</label>
      <select id="chart-column" value={column?.name} onChange={(event) => setChosen(event.target.value)}>
        {columns.map(({ name, title }) => (
          <option key={name} value={name}>
            {title ?? name}
          </option>
        ))}
      </select>
    </ChartFrame>
  );
}

const SAME_KEYS = 'Several groups have the same key here. To draw them, ask for every field of the key, designationId included.';
