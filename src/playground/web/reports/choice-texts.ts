import { createCellFormat } from '../tables/cell-format';
import { comparisons, isPreset, presets } from './periods';
import type { ReportChoices } from './report-choices';
import { definitionOf, groupTitles, pendingChoices, type FilterName } from './report-definitions';
import type { Names } from './report-names';
import type { ReportPlan } from './use-report';

/** The conditions that people add, in words. */
export const filterTitles: Readonly<Record<FilterName, string>> = {
  funds: 'Fund',
  donor: 'Donor',
  amount: 'Amount of the whole gift',
  paymentTypes: 'Payment type',
  accountTypes: 'Account type',
  statuses: 'Gift status',
};

/** A condition in words, and the choices without it. */
interface Condition {
  readonly id: string;
  readonly text: string;
  readonly without: ReportChoices;
}

/** The conditions of some choices. `nameOf` gives the name of a fund or a donor. */
export function toConditions(choices: ReportChoices, nameOf: Names['nameOf']): Condition[] {
  const { funds, donor, amountMin, amountMax, deposit } = choices;
  const words = (['paymentTypes', 'accountTypes', 'statuses'] as const).flatMap((name) =>
    choices[name].map((word) => ({
      id: `${name} ${word}`,
      text: `${filterTitles[name]}: ${word}`,
      without: { ...choices, [name]: choices[name].filter((other) => other !== word) },
    })),
  );
  const amount =
    amountMin !== '' && amountMax !== '' ? `${amountMin} to ${amountMax}` : amountMin !== '' ? `from ${amountMin}` : `up to ${amountMax}`;
  return [
    ...(deposit !== '' ? [{ id: 'deposit', text: `Deposit: ${deposit}`, without: { ...choices, deposit: '' } }] : []),
    ...(donor !== undefined ? [{ id: 'donor', text: `Donor: ${nameOf('donor', donor)}`, without: { ...choices, donor: undefined } }] : []),
    ...funds.map((id) => ({
      id: `fund ${String(id)}`,
      text: `Fund: ${nameOf('fund', id)}`,
      without: { ...choices, funds: funds.filter((other) => other !== id) },
    })),
    ...(amountMin !== '' || amountMax !== ''
      ? [{ id: 'amount', text: `Whole gift: ${amount}`, without: { ...choices, amountMin: '', amountMax: '' } }]
      : []),
    ...words,
  ];
}

/** The period of some choices in words, such as “Last month”, or its two dates. */
const toPeriodText = ({ period }: ReportChoices): string => (isPreset(period) ? presets[period].title : period.replace('..', ' to '));

/** Proposes a title for a saved report. The title becomes a part of an address, so it does not name the donor. */
export function proposeTitle(choices: ReportChoices, nameOf: Names['nameOf']): string {
  const { title, rows } = definitionOf(choices.report);
  const conditions = toConditions({ ...choices, donor: undefined }, nameOf).map(({ text }) => text);
  return [title, ...(rows === 'versions' ? [] : [toPeriodText(choices)]), ...conditions].join(', ');
}

/** Everything that the choices of a saved report say, in words. */
export function describeChoices(choices: ReportChoices, nameOf: Names['nameOf']): string[] {
  const { title, hasFixedPending, splitBy } = definitionOf(choices.report);
  return [
    title,
    toPeriodText(choices),
    ...(hasFixedPending ? [] : [`Pending deposits: ${pendingChoices[choices.pending]}`]),
    ...(choices.compare === 'off' ? [] : [`Compared with: ${comparisons[choices.compare]}`]),
    ...(splitBy ? [`Divided by: ${groupTitles[choices.splitBy]}`] : []),
    ...toConditions(choices, nameOf).map(({ text }) => text),
  ];
}

/** The period and the pending deposits of a report as the head of a print says them, and what it is compared with; a line each. */
export function toPrintLines({ choices, period, compared }: ReportPlan): string[] {
  const { format } = createCellFormat(navigator.languages);
  const { startDate, endDate } = period;
  const span = (from: string, to: string): string => `${format(from, 'date')} – ${format(to, 'date')}`;
  return [
    startDate && endDate ? `Deposits of ${span(startDate, endDate)}` : 'Deposits of all time',
    `Pending deposits: ${pendingChoices[choices.pending]}`,
    ...(compared ? [`${comparisons[choices.compare]}: ${span(compared.startDate, compared.endDate)}`] : []),
  ];
}
