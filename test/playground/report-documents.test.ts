import { readFileSync } from 'node:fs';
import { buildSchema, Kind, parse, print, validate } from 'graphql';
import { findCompared, findPeriod } from '../../src/playground/web/values/periods';
import { toAsOf } from '../../src/playground/web/values/states';
import { chooseDonors, defaultChoices, type ReportChoices } from '../../src/playground/web/choices/report-choices';
import { columnsOf, groupingsOf, toFileNames } from '../../src/playground/web/reports/report-columns';
import {
  definitionOf,
  donorChoices,
  reportDefinitions,
  type DonorChoiceName,
  type ReportId,
} from '../../src/playground/web/choices/report-definitions';
import { summaryColumns } from '../../src/formats/file-columns';
import { toDocument } from '../../src/playground/web/reports/report-document';

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
const now = { today: '2026-11-22', fiscalYearStart: 7 };
const ids = Object.keys(reportDefinitions) as ReportId[];

/** Every way to fill a report's form that changes its document. */
const formsOf = (report: ReportId): ReportChoices[] => {
  const { splitBy = ['NONE'], choosesDonors } = definitionOf(report);
  const before = defaultChoices(report);
  const whos = choosesDonors ? (Object.keys(donorChoices) as DonorChoiceName[]) : [];
  const ofDonors = whos
    .flatMap((who) => [chooseDonors(before, who), chooseDonors({ ...before, funds: [3], addresses: 'WITH' }, who)])
    .map((choices): ReportChoices => ({ ...choices, givenMin: choices.who === 'at-least' ? '250.00' : '' }));
  const others: ReportChoices[] = splitBy.flatMap((split) =>
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
  return [...ofDonors, ...others];
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
    for (const choices of formsOf(report)) {
      for (const mayReadDonors of [true, false]) {
        // A file of two periods has no differences.
        const columns = columnsOf(choices, mayReadDonors).filter(({ id }) => !id.startsWith('change.'));
        const { all } = summaryColumns(groupingsOf(choices, mayReadDonors), choices.compare !== 'off');
        expect(toFileNames(columns).map((name) => all[name]?.field)).toEqual(columns.map(({ id }) => id));
      }
    }
  },
);

test('each choice of donors asks for its groups', () => {
  const period = { startDate: '2026-01-01', endDate: '2026-12-31' };
  const ask = (who: DonorChoiceName, more: Partial<ReportChoices> = {}) => {
    const choices = { ...chooseDonors(defaultChoices('donors'), who), givenMin: '250.00', ...more };
    const compareWith = findCompared(period, choices.compare);
    const options = { period, compareWith, asOf: undefined, since: undefined, fiscalYearStart: 1, mayReadDonors: true };
    const { query, variables } = toDocument(choices, { ...options, columns: columnsOf(choices, true) });
    return {
      having: /having: (.+)/.exec(query)?.[1],
      begins: /^ {4}startDate: \$startDate$/m.test(query),
      compares: variables.compareWith !== undefined,
      least: variables.givenMin,
    };
  };
  expect(ask('everybody')).toEqual({ having: undefined, begins: true, compares: false, least: undefined });
  const least = { begins: true, compares: false, least: '250.00' };
  expect(ask('at-least')).toEqual({ ...least, having: '{donors: {min: 1}, transactionAmount: {min: $givenMin}}' });
  expect(ask('at-least', { funds: [3] })).toEqual({ ...least, having: '{donors: {min: 1}, allocationAmount: {min: $givenMin}}' });
  const first = '{donors: {min: 1}, firstGift: {from: $startDate}}';
  expect(ask('first-time')).toEqual({ having: first, begins: false, compares: false, least: undefined });
  const compared = { begins: true, compares: true, least: undefined };
  expect(ask('lapsed')).toEqual({ ...compared, having: '{transactions: {max: 0}, compared: {donors: {min: 1}}}' });
  expect(ask('both')).toEqual({ ...compared, having: '{donors: {min: 1}, compared: {donors: {min: 1}}}' });
});
