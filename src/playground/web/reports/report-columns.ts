import type { GroupBy } from '../../../generated/operations/graphql';
import { lineFields, lineNames, type FieldType, type LineName } from '../../../line/line-fields';
import { summaryAmounts, summaryCounts, summaryGiftDates, summaryParts, summaryShares } from '../../../values/figure-names';
import type { ColumnKind, TableColumn } from '../values/table-types';
import type { ReportChoices } from '../choices/report-choices';
import { definitionOf } from '../choices/report-definitions';
import { titleOfCompared, toMidSentence } from '../values/periods';

/** A column of a report. Its id is the path of the value in a row of the answer. */
export type ReportColumn = TableColumn;

const column = (id: string, title: string, kind: ColumnKind, more: Partial<ReportColumn> = {}): ReportColumn => ({
  adds: false,
  id,
  title,
  kind,
  ...more,
});

const KINDS: Readonly<Record<FieldType, ColumnKind>> = {
  ...({ id: 'text', number: 'text', text: 'text', name: 'text', code: 'text' } as const),
  ...({ date: 'date', money: 'money', status: 'word', boolean: 'word' } as const),
};
/** The types of text of which a part would pass for another one. */
const CODES: readonly FieldType[] = ['id', 'number', 'code'];

/** The column of a field of the lines, whose values are at `prefix` in a row. */
function fieldColumn(name: LineName, { prefix = '', ...more }: Partial<ReportColumn> & { readonly prefix?: string } = {}): ReportColumn {
  const { field, title = field, type } = lineFields[name];
  return column(prefix + field, title, KINDS[type], { isCode: CODES.includes(type), ...more });
}

const keyColumn = (name: LineName, more: Partial<ReportColumn> = {}): ReportColumn => fieldColumn(name, { prefix: 'key.', ...more });
const timeColumn = (id: string, title: string, more: Partial<ReportColumn> = {}): ReportColumn => column(`key.${id}`, title, 'month', more);

const keyColumns: Readonly<Record<GroupBy, readonly ReportColumn[]>> = {
  DAY: [timeColumn('day', 'Day', { kind: 'date' })],
  WEEK: [timeColumn('week', 'Week of', { kind: 'date', about: 'The Monday of the week.' })],
  MONTH: [timeColumn('month', 'Month')],
  QUARTER: [timeColumn('quarter', 'Quarter from', { about: 'The first month of the quarter.' })],
  YEAR: [timeColumn('year', 'Year from', { about: 'The first month of the year.' })],
  DEPOSIT: [keyColumn('deposit_date'), keyColumn('deposit_id')],
  TRANSACTION: [keyColumn('transaction_date'), keyColumn('transaction_id')],
  DEPOSIT_STATUS: [keyColumn('deposit_status')],
  DESIGNATION: [keyColumn('designation'), keyColumn('designation_id', { about: 'Tells two funds of one name apart.' })],
  STATUS: [keyColumn('status')],
  ACCOUNT_TYPE: [keyColumn('account_type')],
  PAYMENT_TYPE: [keyColumn('payment_type')],
  DONOR: [
    ...[keyColumn('donor_first_name', { isName: true }), keyColumn('donor_last_name', { isName: true })],
    keyColumn('donor_id', { about: 'Tells two donors of one name apart. 0 stands for gifts of nobody known.' }),
  ],
  CITY: [keyColumn('city')],
  STATE: [keyColumn('state')],
};

/** The columns that name the donor of a row. The gifts of nobody known are the last of such rows, whatever their sum. */
const donorRowColumns = keyColumns.DONOR.map((each) => (each.id === 'key.donorId' ? { ...each, restValue: '0' } : each));

/** The contact of a donor, which a letter needs. */
const contactColumns = (['address1', 'address2', 'address3', 'city', 'state', 'zip', 'phone', 'email_address'] as const).map((name) =>
  keyColumn(name),
);

/** True for the id of a column that tells a donor's contact. The city tells namesakes apart, and stands in every report of donors. */
export const isContact = (id: string): boolean => id !== 'key.city' && contactColumns.some((each) => each.id === id);

/** The columns of lines that are in sight. The amounts are so at a width of 1280, with their totals. */
const inSight = [
  ...(['deposit_date', 'transaction_date', 'allocation_amount', 'amount', 'designation', 'donor_first_name', 'donor_last_name'] as const),
  ...(['donor_id', 'city', 'designation_id', 'deposit_id', 'deposit_status', 'transaction_id'] as const),
] satisfies readonly LineName[];
/** The first of the hidden ones. The others follow in the order of files. */
const hiddenFirst = [
  ...(['fee_amount', 'net_amount', 'payment_type', 'account_type', 'status', 'main_memo', 'designation_memo'] as const),
] satisfies readonly LineName[];

const MORE: { readonly [Name in LineName]?: Partial<ReportColumn> } = {
  allocation_amount: { adds: true, about: 'The share of the gift that goes to this fund.' },
  amount: { about: 'All lines of a split gift repeat it, so it is not added up.' },
};
const lineColumns: readonly ReportColumn[] = [
  ...inSight.map((name) => fieldColumn(name, MORE[name])),
  ...[...new Set([...hiddenFirst, ...lineNames.filter((name) => lineFields[name].title !== undefined)])]
    .filter((name) => !inSight.some((shown) => shown === name))
    .map((name) => fieldColumn(name, { isHidden: true })),
];
const namingFields = (['donor_first_name', 'donor_last_name', 'donor_id', 'city'] as const).map((name) => lineFields[name].field);
/** Leaves to files a column that names the donor of all rows, who stands over the report of one donor. */
const hideDonor = (each: ReportColumn): ReportColumn =>
  namingFields.some((field) => each.id === field || each.id === `key.${field}`) ? { ...each, isHidden: true, isInFiles: true } : each;
const isGiftDate = ({ id }: ReportColumn): boolean => id === 'transactionDate';

const versionColumns: readonly ReportColumn[] = [
  column('number', 'Version', 'count'),
  column('recordedAt', 'When', 'instant'),
  column('cause', 'By', 'word'),
  // A column with a value before it is written as yes or no.
  column('isKept', 'Still kept', 'word', {
    before: 'isKept',
    about: 'Whether the books at this version can be shown. An operator prunes old ones.',
  }),
  column('fileName', 'File', 'text'),
  column('linesAdded', 'Lines added', 'count', { adds: true }),
  column('linesChanged', 'Lines changed', 'count', { adds: true }),
  column('linesRemoved', 'Lines removed', 'count', { adds: true }),
  column('lines', 'Lines after it', 'count'),
  column('transactions', 'Gifts after it', 'count'),
  column('amount', 'Received after it', 'money', { about: 'All gifts in the books at this version, each once.' }),
];

/** A field of the lines of a change, before and after it in one cell. */
const pairColumn = (name: LineName, more: Partial<ReportColumn> = {}): ReportColumn =>
  fieldColumn(name, { prefix: 'after.', before: `before.${lineFields[name].field}`, ...more });

const changedInSight = [
  ...(['deposit_date', 'donor_first_name', 'donor_last_name', 'designation', 'allocation_amount', 'amount'] as const),
] satisfies readonly LineName[];
const changeColumns: readonly ReportColumn[] = [
  column('class', 'Change', 'word'),
  column('columns', 'What differs', 'text', { isDifference: true }),
  ...changedInSight.map((name) => pairColumn(name)),
  column('effect.byTransaction.amount', 'Adds to received', 'money', {
    ...{ adds: true, isSigned: true },
    about: 'A gift of several changed lines counts at the first of them.',
  }),
  column('effect.byAllocation.amount', 'Adds to funds', 'money', {
    ...{ adds: true, isSigned: true },
    about: 'What the change adds to the known shares.',
  }),
  column('isInside', 'In this report', 'word', {
    before: 'wasInside',
    about: 'Whether the line fits the period and the filters: before the change, and after it where that is another answer.',
  }),
  ...(['transaction_date', 'deposit_id', 'deposit_status', 'transaction_id'] as const).map((name) => pairColumn(name)),
  ...[...new Set([...hiddenFirst, ...lineNames.filter((name) => lineFields[name].title !== undefined)])]
    .filter((name) => ![...changedInSight, 'transaction_date', 'deposit_id', 'deposit_status', 'transaction_id'].includes(name))
    .map((name) => pairColumn(name, { isHidden: true })),
  pairColumn('allocation_id', { title: 'Number of the share', isHidden: true }),
  pairColumn('allocation_amount_inferred', { title: 'Share was inferred', isHidden: true }),
];

/** The groupings of a report's rows. Donors come with their cities, which tell namesakes apart at a glance. */
export function groupingsOf({ report, splitBy }: ReportChoices, mayReadDonors: boolean): readonly GroupBy[] {
  const { groupBy, namesDonors } = definitionOf(report);
  const groups: GroupBy[] = [
    ...(splitBy === 'NONE' ? [] : [splitBy]),
    ...groupBy,
    ...(namesDonors && mayReadDonors ? ['DONOR' as const] : []),
  ];
  // A donor has one city, so that the groups stay the same.
  return groups.flatMap((by) => (by === 'DONOR' ? [by, 'CITY'] : by));
}

/** The columns of a report in the order of the screen. Ids are the paths of the values in a row of the answer. */
export function columnsOf(choices: ReportChoices, mayReadDonors: boolean): readonly ReportColumn[] {
  const { rows } = definitionOf(choices.report);
  if (rows === 'versions') return mayReadDonors ? versionColumns : versionColumns.filter(({ id }) => id !== 'fileName');
  if (rows === 'changes') return changeColumns;
  if (rows === 'lines') {
    const columns = choices.donor === undefined ? lineColumns : lineColumns.map(hideDonor);
    if (choices.dateBasis === 'DEPOSIT_DATE') return columns;
    // The date that the period goes by comes first.
    return [...columns.filter(isGiftDate), ...columns.filter((each) => !isGiftDate(each))];
  }
  const groupings = groupingsOf(choices, mayReadDonors);
  const { report, who, addresses } = choices;
  // A city stands in its address where there is one.
  const isByDonor = groupings[0] === 'DONOR';
  const keys = groupings
    .filter((by) => by !== 'CITY' || addresses === 'WITHOUT')
    .flatMap((by) => (by === 'DONOR' && isByDonor ? donorRowColumns : keyColumns[by]))
    .map((key) => (choices.donor === undefined || isByDonor ? key : hideDonor(key)));
  const figures = who === 'lapsed' ? lapsedColumns(choices) : figureColumns(choices, groupings);
  const dates = definitionOf(report).choosesDonors ? giftDateColumns(choices) : [];
  // The dates and the id of a gift leave room for its amounts, and for the names of its fund and its donor, at a width of 1280.
  if (groupings.includes('TRANSACTION')) {
    const isFirst = (column: ReportColumn): boolean => column === keys[0] || keyColumns.TRANSACTION.includes(column);
    const others = keys.filter((key) => !isFirst(key));
    return [...keys.filter(isFirst), ...figures, ...others.filter(({ isCode }) => !isCode), ...others.filter(({ isCode }) => isCode)];
  }
  return [...keys, ...figures, ...dates, ...(addresses === 'WITH' ? contactColumns : [])];
}

/**
 * The column that goes across in a pivot of a report, and the figures that may stand in its cells: those that add up, along a row and down a
 * column. Undefined for a report whose rows have one key, or none that is a part of time.
 */
export function pivotOf(
  { report, splitBy }: ReportChoices,
  columns: readonly ReportColumn[],
): { readonly across: string; readonly figures: readonly ReportColumn[] } | undefined {
  if (definitionOf(report).groupBy.length === 0 || splitBy === 'NONE' || !timeGroups.includes(splitBy)) return undefined;
  const figures = columns.filter(({ adds, kind, isHidden }) => adds && !isHidden && (kind === 'money' || kind === 'count'));
  return { across: keyColumns[splitBy][0]!.id, figures };
}

/** The names that the columns of lines or groups have in the gateway's files. */
export const toFileNames = (columns: readonly ReportColumn[]): readonly string[] =>
  columns.map(({ id }) => figureNames.get(id) ?? id.replace(/^key\./, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

const figureNames: ReadonlyMap<string, string> = new Map(
  Object.entries(summaryParts).flatMap(([part, prefix]) =>
    Object.entries({ ...summaryCounts, ...summaryAmounts, ...summaryShares, ...summaryGiftDates }).map(([name, path]) => [
      `${part}.${path}`,
      prefix + name,
    ]),
  ),
);

/** The figures of a group. A figure adds up over the rows only where no gift, or no deposit, is in two of them. */
function figureColumns(choices: ReportChoices, groupings: readonly GroupBy[]): readonly ReportColumn[] {
  const isByFund = groupings.includes('DESIGNATION');
  const isShare = isByFund || choices.funds.length > 0;
  const isByGift = groupings.includes('TRANSACTION');
  const isByDeposit = groupings.includes('DEPOSIT');
  const wholeGroups = choices.dateBasis === 'DEPOSIT_DATE' ? [...wholeDepositGroups, ...timeGroups] : wholeDepositGroups;
  const wholeDeposits = groupings.every((by) => wholeGroups.includes(by));
  const received = isByGift ? 'Whole gift' : isShare ? 'Whole gifts' : choices.pending === 'ONLY' ? 'Pending' : 'Received';
  const twice = 'A gift of two funds is in two rows, so the rows are not added up.';
  const about = isByFund ? { about: `The whole gifts of which a share goes to the fund. ${twice}` } : {};
  const share = column('all.byAllocation.amount', isByFund || choices.funds.length === 1 ? 'To this fund' : 'To these funds', 'money', {
    adds: true,
    about: 'The shares of the gifts that go there. Unknown shares are not in it.',
  });
  const money = { adds: !isByFund, ...about };
  const ofGifts = isShare ? ' of the whole gifts' : '';
  const isByNet = definitionOf(choices.report).leads === 'net';
  const compared = comparedColumns(choices, isShare, money);
  const net = column('all.byTransaction.netAmount', `Net${ofGifts}`, 'money', { ...money, isHidden: isShare });
  return [
    ...(isByNet ? [net] : []),
    ...(isByGift
      ? []
      : [column('all.transactions', 'Gifts', 'count', { adds: !isByFund, ...(isByFund && { about: once('gift', 'funds') }) })]),
    ...(isByDeposit
      ? []
      : [
          column('all.deposits', 'Deposits', 'count', {
            ...{ adds: wholeDeposits, isHidden: !wholeDeposits },
            ...(!wholeDeposits && { about: once('deposit', 'rows') }),
          }),
        ]),
    ...(isShare ? [share] : []),
    ...(isShare ? [column('all.byAllocation.unknown', 'Unknown shares', 'count', { adds: true })] : []),
    ...(isShare ? compared : []),
    column('all.byTransaction.amount', received, 'money', { ...money, isHidden: isByFund && !isByGift }),
    ...(isShare ? [] : compared),
    column('all.byTransaction.feeAmount', `Fees${ofGifts}`, 'money', { ...money, isHidden: isShare }),
    ...(isByNet ? [] : [net]),
    ...pendingColumns(choices, groupings, isShare, money),
  ];
}

/** The total of a count whose rows have some things twice. */
const once = (thing: string, places: string): string => `A ${thing} of two ${places} is in two rows, and once in the total.`;

/** The groupings that leave every deposit in one group. */
const wholeDepositGroups: readonly GroupBy[] = ['DEPOSIT', 'DEPOSIT_STATUS'];
/** Parts of time leave a deposit in one group too where they are of deposits: its gifts may be of several days. */
const timeGroups: readonly GroupBy[] = ['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'];

function pendingColumns(
  { pending }: ReportChoices,
  groupings: readonly GroupBy[],
  isShare: boolean,
  money: Partial<ReportColumn>,
): readonly ReportColumn[] {
  if (pending !== 'WITH' || groupings.includes('DEPOSIT_STATUS') || groupings.includes('TRANSACTION')) return [];
  return isShare
    ? [column('pending.byAllocation.amount', 'Of which pending', 'money', { adds: true })]
    : [column('pending.byTransaction.amount', 'Of which pending', 'money', money)];
}

/** The period that a report is compared with, as a part of a title. */
const ofCompared = ({ compare }: ReportChoices): string => toMidSentence(titleOfCompared(compare));

/** The figures of donors who gave in the other period alone. Those of the period itself are all zero. */
function lapsedColumns(choices: ReportChoices): readonly ReportColumn[] {
  const { funds } = choices;
  const figure = (path: string, title: string, kind: ColumnKind): ReportColumn =>
    column(`compared.all.${path}`, `${title} (${ofCompared(choices)})`, kind, { adds: true });
  return [
    figure('transactions', 'Gifts', 'count'),
    ...(funds.length > 0
      ? [
          figure('byAllocation.amount', funds.length === 1 ? 'To this fund' : 'To these funds', 'money'),
          figure('byAllocation.unknown', 'Unknown shares', 'count'),
        ]
      : []),
    figure('byTransaction.amount', funds.length > 0 ? 'Whole gifts' : 'Received', 'money'),
  ];
}

/** The dates of a donor's first and last gift. */
function giftDateColumns(choices: ReportChoices): readonly ReportColumn[] {
  const { who } = choices;
  const isThen = who === 'lapsed';
  const [part, of] = isThen ? ['compared.all', ` (${ofCompared(choices)})`] : ['all', ''];
  const about = `Of the gifts in the ${isThen ? 'other ' : ''}period that fit the conditions.`;
  return [
    column(`${part}.firstGift`, `First gift${of}`, 'date', {
      about: who === 'first-time' ? 'The first gift of all time that fits the conditions.' : about,
    }),
    column(`${part}.lastGift`, `Last gift${of}`, 'date', { about }),
  ];
}

function comparedColumns({ compare }: ReportChoices, isShare: boolean, money: Partial<ReportColumn>): readonly ReportColumn[] {
  if (compare === 'off') return [];
  const [figure, change] = isShare ? ['byAllocation', 'amountByAllocation'] : ['byTransaction', 'amountByTransaction'];
  const adds = isShare ? { adds: true } : money;
  return [
    column(`compared.all.${figure}.amount`, titleOfCompared(compare), 'money', adds),
    column(`change.${change}.difference`, 'Difference', 'money', { ...adds, isSigned: true }),
    column(`change.${change}.percentage`, 'Difference in %', 'percent', { isSigned: true }),
  ];
}
