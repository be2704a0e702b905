import { readFileSync } from 'node:fs';
import { buildSchema, Kind, parse, print, validate } from 'graphql';
import { findCompared, findPeriod } from '../../src/playground/web/values/periods';
import { toAsOf } from '../../src/playground/web/values/states';
import { defaultChoices, type ReportChoices } from '../../src/playground/web/choices/report-choices';
import { columnsOf, groupingsOf, toFileNames } from '../../src/playground/web/reports/report-columns';
import { definitionOf, reportDefinitions, type ReportId } from '../../src/playground/web/choices/report-definitions';
import { summaryColumns } from '../../src/formats/file-columns';
import { toDocument } from '../../src/playground/web/reports/report-document';

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
const now = { today: '2026-11-22', fiscalYearStart: 7 };
const ids = Object.keys(reportDefinitions) as ReportId[];

/** Every way to fill a report's form that changes its document. */
const formsOf = (report: ReportId): ReportChoices[] => {
  const { splitBy = ['NONE'] } = definitionOf(report);
  const before = defaultChoices(report);
  return splitBy.flatMap((split) =>
    (['off', 'before', 'last-year'] as const).flatMap((compare) => [
      { ...before, splitBy: split, compare },
      {
        ...before,
        splitBy: split,
        compare,
        funds: [3],
        donor: 7,
        giftDateFrom: '2024-01-01',
        amountMin: '1.00',
        paymentTypes: ['ACH'],
        pending: 'WITHOUT',
        period: 'year-to-date',
        state: '2024-01-31',
      },
    ]),
  );
};

test.each(ids)('every form of the report %s is a document that the gateway knows', (report) => {
  for (const choices of formsOf(report)) {
    for (const mayReadDonors of [true, false]) {
      const period = findPeriod(choices.period, now)!;
      const columns = columnsOf(choices, mayReadDonors);
      const compareWith = findCompared(period, choices.compare);
      const asOf = toAsOf(choices.state, 'America/New_York');
      const since = definitionOf(report).needs === 'since' ? toAsOf('2023-12-31', 'America/New_York') : undefined;
      const { query, variables } = toDocument(choices, { period, compareWith, asOf, since, fiscalYearStart: 7, columns, mayReadDonors });
      const document = parse(query);
      expect(validate(schema, document)).toEqual([]);
      expect(query).toBe(print(document));
      const declared = document.definitions.flatMap((each) =>
        each.kind === Kind.OPERATION_DEFINITION ? (each.variableDefinitions ?? []).map(({ variable }) => variable.name.value) : [],
      );
      expect(declared).toEqual(expect.arrayContaining(Object.keys(variables)));
    }
  }
});

test.each(ids.filter((id) => definitionOf(id).rows === 'groups'))(
  'each column of the report %s has its value in a file of the same groups',
  (report) => {
    for (const choices of formsOf(report).filter(({ compare }) => compare === 'off')) {
      for (const mayReadDonors of [true, false]) {
        const columns = columnsOf(choices, mayReadDonors);
        const { all } = summaryColumns(groupingsOf(choices, mayReadDonors), false);
        expect(toFileNames(columns).map((name) => all[name]?.field)).toEqual(columns.map(({ id }) => id));
      }
    }
  },
);
