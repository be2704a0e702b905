import { useMemo } from 'react';
import { ChartFrame } from '../charts/chart-frame';
import type { DrawnChart } from '../charts/group-chart';
import type { PrintHead } from '../tables/print-sheet';
import { createCellFormat } from '../values/cell-format';
import { atScale, readDecimal, writeDecimal } from '../values/exact-decimal';
import type { ReportChoices } from '../choices/report-choices';
import type { BridgeStep, ChangeBridge, Figures } from './report-figures';

/** The classes of changes in words. Each begins with the word that the rows have. */
const classTitles: Readonly<Record<BridgeStep['class'], string>> = {
  MONEY: 'Money: another amount, fee or share',
  ADDED: 'Added',
  REMOVED: 'Removed',
  MOVED: 'Moved: another date, status, donor or fund',
  REKEYED: 'Rekeyed: the same under new numbers',
  RELABELLED: 'Relabelled: names, addresses or memos',
};

/** A step of the bridge from the figures of one state to those of the other. */
interface Step {
  readonly title: string;
  /** Undefined for the two ends. */
  readonly changes: number | undefined;
  readonly transactions: number;
  readonly received: string;
  readonly shares: string | null;
}

interface BridgeProps {
  readonly choices: ReportChoices;
  readonly bridge: ChangeBridge;
}

const end = (title: string, { transactions, byTransaction, byAllocation }: Figures): Step => ({
  ...{ title, changes: undefined, transactions },
  ...{ received: byTransaction.amount, shares: byAllocation.amount },
});

/** The steps of a bridge: the earlier figures, what each class adds, and the later figures. */
function toSteps({ choices, bridge: { before, after, classes } }: BridgeProps): Step[] {
  const { format } = createCellFormat(navigator.languages);
  const state = (version: number | undefined): string => `after change ${format(version ?? 0, 'count')}`;
  return [
    end(`As it was ${state(before.dataVersion?.number)}`, before.all),
    ...classes.map(({ class: name, changes, effect: { transactions, byTransaction, byAllocation } }) => ({
      ...{ title: classTitles[name], changes, transactions },
      ...{ received: byTransaction.amount, shares: byAllocation.amount },
    })),
    end(`${choices.state === '' ? 'As it is now' : 'As it became'}, ${state(after.dataVersion?.number)}`, after.all),
  ];
}

/** Writes a step's value with its sign. The ends have none. */
function toSigned(value: string | number | null, kind: 'money' | 'count', isEnd: boolean): string {
  const text = createCellFormat(navigator.languages).format(value, kind);
  return !isEnd && Number(value) > 0 ? `+${text}` : text;
}

/** Shows how the figures of the earlier state become those of the later one. */
export function BridgeTable({ choices, bridge }: BridgeProps) {
  const { format } = createCellFormat(navigator.languages);
  const steps = toSteps({ choices, bridge });
  const ofFunds = choices.funds.length > 0;
  return (
    <table className="bridge" aria-label="From the earlier figures to the later ones">
      <thead>
        <tr>
          <th scope="col">Figures</th>
          <th scope="col">Changes</th>
          <th scope="col">Gifts</th>
          <th scope="col">{ofFunds ? 'Whole gifts' : 'Received'}</th>
          <th scope="col">{ofFunds ? 'To these funds' : 'Known shares'}</th>
        </tr>
      </thead>
      <tbody>
        {steps.map(({ title, changes, transactions, received, shares }) => {
          const isEnd = changes === undefined;
          return (
            <tr key={title} className={isEnd ? 'bridge-end' : undefined}>
              <th scope="row">{title}</th>
              <td>{isEnd ? '' : format(changes, 'count')}</td>
              <td>{toSigned(transactions, 'count', isEnd)}</td>
              <td>{toSigned(received, 'money', isEnd)}</td>
              <td>{toSigned(shares, 'money', isEnd)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The bridge in one line, such as “As it was after change 3: 216,867.82; Added: +150.00 (1)”, for a print and for files. */
export const describeBridge = (props: BridgeProps): string =>
  toSteps(props)
    .map(({ title, changes, received, shares }) => {
      const value = props.choices.funds.length > 0 ? shares : received;
      return `${title}: ${toSigned(value, 'money', changes === undefined)}${changes === undefined ? '' : ` (${String(changes)})`}`;
    })
    .join('; ');

/** Draws the bridge: each step begins where the one before it ended. */
export function BridgeChart({ choices, bridge, print, name }: BridgeProps & { readonly print: PrintHead; readonly name: string }) {
  const chart = useMemo(() => toWaterfall({ choices, bridge }), [choices, bridge]);
  return (
    <section className="result" aria-label="Chart">
      <ChartFrame {...{ chart, print }} fileName={`${name}.png`} nothing={UNKNOWN_SUM} />
    </section>
  );
}

const UNKNOWN_SUM = 'The sum is not known in full, so there is nothing to draw.';
const SCALE = 2;

/** The waterfall of a bridge; undefined where a sum is unknown. */
function toWaterfall(props: BridgeProps): DrawnChart | undefined {
  const { format } = createCellFormat(navigator.languages);
  const ofFunds = props.choices.funds.length > 0;
  const steps = toSteps(props).filter(({ changes, received }) => changes === undefined || Number(received) !== 0 || ofFunds);
  const values = steps.map(({ received, shares }) => (ofFunds ? shares : received));
  let level = 0n;
  const spans = steps.map(({ changes }, at): readonly [string, string] | undefined => {
    const decimal = readDecimal(values[at] ?? null);
    if (!decimal) return undefined;
    const start = changes === undefined ? 0n : level;
    level = start + atScale(decimal, SCALE);
    return [writeDecimal({ digits: start, scale: SCALE }), writeDecimal({ digits: level, scale: SCALE })];
  });
  if (spans.includes(undefined)) return undefined;
  const titles = steps.map(({ title }) => title);
  const isOf = (name: keyof typeof seriesNames, at: number): boolean => {
    if (steps[at]?.changes === undefined) return name === 'ends';
    return name === (Number(values[at]) < 0 ? 'less' : 'more');
  };
  const figure = ofFunds ? 'To these funds' : 'Received';
  const [first, last] = [values[0] ?? null, values.at(-1) ?? null];
  return {
    kind: 'bar',
    labels: titles,
    ticks: titles.map((title, at) => [
      ...title.split(/(?<=:|,) |(?= after change)/).map((part) => part.trim()),
      toSigned(values[at] ?? null, 'money', steps[at]?.changes === undefined),
    ]),
    series: (Object.keys(seriesNames) as (keyof typeof seriesNames)[]).map((name) => ({
      name: seriesNames[name],
      shortName: seriesNames[name],
      values: values.map((value, at) => (isOf(name, at) ? (value ?? undefined) : undefined)),
      spans: spans.map((span, at) => (isOf(name, at) ? span : undefined)),
    })),
    valueKind: 'money',
    summary: `Waterfall chart of ${figure}: from ${format(first, 'money')} to ${format(last, 'money')}, by the classes of changes.`,
    omission: 'The axis does not begin at zero, so that small changes can be seen.',
  };
}

const seriesNames = { ends: 'The figures', less: 'Less', more: 'More' } as const;
