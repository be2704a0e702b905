import { describeArrangement, describeLost } from '../../src/playground/web/rows/filter-text';
import { createCellFormat } from '../../src/playground/web/values/cell-format';
import type { TableColumn } from '../../src/playground/web/values/table-types';

const columns = [
  { id: 'month', title: 'Month', kind: 'month', adds: false },
  { id: 'day', title: 'Date', kind: 'date', adds: false },
  { id: 'at', title: 'Changed', kind: 'instant', adds: false },
  { id: 'amount', title: 'Received', kind: 'money', adds: true },
  { id: 'fund', title: 'Designation', kind: 'text', adds: false },
] as const satisfies readonly TableColumn[];

test('a reader of a condition on months is told the day from which it counts, because October begins before its 15th', () => {
  const filters = [
    { column: 'month', min: '2026-10-15', max: '2026-12-31' },
    { column: 'day', min: '2026-10-15' },
    { column: 'at', max: '2026-10-15' },
    { column: 'amount', min: '1234.50' },
    { column: 'fund', text: 'Water' },
  ];
  const arrangement = { search: 'ada', filters, sort: undefined };
  const conditions = [
    ...['Search: “ada”', 'Month from Oct 15, 2026 up to Dec 31, 2026', 'Date from Oct 15, 2026', 'Changed up to Oct 15, 2026'],
    ...['Received from 1,234.50', 'Designation contains “Water”'],
  ];
  expect(describeArrangement(arrangement, columns, createCellFormat(['en-US']).format)).toEqual(conditions);
  expect(describeLost(arrangement, columns, ['en-US'])).toContain(conditions.join('; '));
});
