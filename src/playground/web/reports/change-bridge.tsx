import { useMemo } from 'react';
import { ChartFrame } from '../charts/chart-frame';
import { toLength, type DrawnChart } from '../charts/drawn-chart';
import type { FileFact } from '../files/file-content';
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
  ERASED: 'Erased: names and memos of a donor who was forgotten',
  RELABELLED: 'Relabelled: names, addresses or memos',
};

/** A step of the bridge from the figures of one state to those of the other. */
interface Step {
  readonly title: string;
  /** Undefined for the two ends. */
  readonly changes: number | undefined;
  readonly transactions: number;
  readonly received: string;
  /** Null where no share is known. */
  readonly shares: string | null;
  /** The unknown shares, or what the step adds to their number. */
  readonly unknown: number;
}

interface BridgeProps {
  readonly choices: ReportChoices;
  readonly bridge: ChangeBridge;
}

type Counted = Pick<Figures, 'transactions'> & {
  readonly byTransaction: { readonly amount: string };
  readonly byAllocation: { readonly amount: string | null; readonly unknown: number };
};
const toStep = (title: string, changes: number | undefined, { transactions, byTransaction, byAllocation }: Counted): Step => ({
  ...{ title, changes, transactions },
  ...{ received: byTransaction.amount, shares: byAllocation.amount, unknown: byAllocation.unknown },
});

/** The steps of a bridge: the earlier figures, what each class adds, and the later figures. */
function toSteps({ choices, bridge: { before, after, classes } }: BridgeProps): Step[] {
  const { format } = createCellFormat(navigator.languages);
  const state = (version: number | undefined): string => `at version ${format(version ?? 0, 'count')}`;
  return [
    toStep(`As it was ${state(before.dataVersion?.number)}`, undefined, before.all),
    ...classes.map(({ class: name, changes, effect }) => toStep(classTitles[name], changes, effect)),
    toStep(`${choices.state === '' ? 'As it is now' : 'As it became'}, ${state(after.dataVersion?.number)}`, undefined, after.all),
  ];
}

const isEnd = ({ changes }: Step): boolean => changes === undefined;
const sharesTitle = ({ funds }: ReportChoices): string =>
  funds.length === 0 ? 'Known shares' : funds.length === 1 ? 'To this fund' : 'To these funds';

/** Writes what a step adds with its sign. The ends have none. */
function write(value: string | number | null, kind: 'money' | 'count', step: Step): string {
  const { format, sign } = createCellFormat(navigator.languages);
  return isEnd(step) ? format(value, kind) : sign(value, kind);
}

/** The shares of a step, and how many of them are unknown. */
const writeShares = (step: Step): string =>
  step.unknown === 0
    ? write(step.shares, 'money', step)
    : `${write(step.shares, 'money', step)} (${write(step.unknown, 'count', step)} unknown)`;

/** The money of a step: its shares where funds are chosen, and else whole gifts. */
const writeValue = (step: Step, { funds }: ReportChoices): string =>
  funds.length > 0 ? writeShares(step) : write(step.received, 'money', step);

/** Shows how the figures of the earlier state become those of the later one. */
export function BridgeTable({ choices, bridge }: BridgeProps) {
  const { format } = createCellFormat(navigator.languages);
  return (
    <div className="bridge-frame">
      <table className="bridge" aria-label="From the earlier figures to the later ones">
        <thead>
          <tr>
            <th scope="col">Figures</th>
            <th scope="col">Changes</th>
            <th scope="col">Gifts</th>
            <th scope="col">{choices.funds.length > 0 ? 'Whole gifts' : 'Received'}</th>
            <th scope="col">{sharesTitle(choices)}</th>
          </tr>
        </thead>
        <tbody>
          {toSteps({ choices, bridge }).map((step) => (
            <tr key={step.title} className={isEnd(step) ? 'bridge-end' : undefined}>
              <th scope="row">{step.title}</th>
              <td>{step.changes === undefined ? '' : format(step.changes, 'count')}</td>
              <td>{write(step.transactions, 'count', step)}</td>
              <td>{write(step.received, 'money', step)}</td>
              <td>{writeShares(step)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The bridge in one line, such as “As it was at version 3: 216,867.82; Added: +150.00”, for a print. */
export const describeBridge = (props: BridgeProps): string =>
  toSteps(props)
    .map((step) => `${step.title}: ${writeValue(step, props.choices)}`)
    .join('; ');

/** The steps of the bridge as facts of a file, with exact amounts. */
export const bridgeFacts = (props: BridgeProps): FileFact[] =>
  toSteps(props).flatMap((step) => [
    { name: `${step.title}, received`, value: step.received, kind: 'money' },
    { name: `${step.title}, known shares`, value: step.shares, kind: 'money' },
    ...(step.unknown === 0 ? [] : [{ name: `${step.title}, unknown shares`, value: step.unknown, kind: 'count' } as const]),
  ]);

/** Draws the bridge: each step begins where the one before it ended. */
export function BridgeChart({ choices, bridge, print, fileName }: BridgeProps & { readonly print: PrintHead; readonly fileName: string }) {
  const chart = useMemo(() => toWaterfall({ choices, bridge }), [choices, bridge]);
  return (
    <section className="result" aria-label="Chart">
      <ChartFrame {...{ chart, print }} fileName={`${fileName}.png`} nothing={UNKNOWN_SUM} />
    </section>
  );
}

const UNKNOWN_SUM = 'No share is known, so there is nothing to draw.';
const SCALE = 2;
const [ENDS, LESS, MORE] = [
  { name: 'The figures', color: 1 },
  { name: 'Less', color: 2 },
  { name: 'More', color: 3 },
];

/** The waterfall of a bridge; undefined where no sum is known. An unknown sum has no known share, and adds nothing. */
function toWaterfall(props: BridgeProps): DrawnChart | undefined {
  const { format } = createCellFormat(navigator.languages);
  const ofFunds = props.choices.funds.length > 0;
  const valueOf = ({ shares, received }: Step): string | null => (ofFunds ? shares : received);
  const steps = toSteps(props).filter((step) => isEnd(step) || Number(valueOf(step)) !== 0);
  let level = 0n;
  if (steps.every((step) => valueOf(step) === null)) return undefined;
  const spans = steps.map((step) => {
    const start = isEnd(step) ? 0n : level;
    level = start + atScale(readDecimal(valueOf(step) ?? '0')!, SCALE);
    return [start, level].map((digits) => toLength(writeDecimal({ digits, scale: SCALE }))) as [from: number, to: number];
  });
  const range = toRange(spans.map(([, to]) => to));
  const unknown = toSteps(props).some((step) => step.unknown !== 0);
  return {
    rows: steps.map((step, at) => {
      const [from, to] = spans[at]!;
      const text = writeValue(step, props.choices);
      const { color } = isEnd(step) ? ENDS : to < from ? LESS : MORE;
      return {
        label: step.title,
        shortLabel: toShort(step.title),
        bars: [{ text, marks: [{ color, reading: `${step.title}: ${text}`, from, to }] }],
      };
    }),
    series: [ENDS, LESS, MORE],
    range,
    valueKind: 'money',
    summary: `Waterfall chart of ${ofFunds ? sharesTitle(props.choices) : 'Received'}: from ${format(valueOf(steps[0]!), 'money')} to ${format(valueOf(steps.at(-1)!), 'money')}, by the classes of changes.`,
    notes: [
      ...(range.min > 0 || range.max < 0 ? ['The axis does not begin at zero, so that small changes can be seen.'] : []),
      ...(ofFunds && unknown ? ['Unknown shares are not drawn.'] : []),
    ],
  };
}

/** The part of the axis that the steps between the first and the last bar need, with room for a part of those two. */
function toRange(levels: readonly number[]): { readonly min: number; readonly max: number } {
  const [low, high] = [Math.min(...levels), Math.max(...levels)];
  const room = (high - low || Math.abs(high) || 1) / 4;
  return { min: low >= 0 ? Math.max(0, low - room) : low - room, max: high <= 0 ? Math.min(0, high + room) : high + room };
}

/** The first words of a title: the class, or when an end was. */
const toShort = (title: string): string => title.split(':')[0]!;
