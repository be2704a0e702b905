import type { GroupBy } from '../../../generated/operations/graphql';
import type { ColumnKind, TableColumn } from '../tables/table-types';
import type { ReportChoices } from './report-choices';
import { definitionOf } from './report-definitions';

/** A column of a report, and the selection that asks for it. */
export interface ReportColumn extends TableColumn {
  /** The column's name in a file of the gateway. Missing where the files have no such column. */
  readonly fileName?: string;
}

type Column = Omit<ReportColumn, 'id' | 'adds'> & { readonly adds?: boolean };

const column = (id: string, title: string, kind: ColumnKind, more: Partial<ReportColumn> = {}): ReportColumn => ({
  adds: false,
  id,
  title,
  kind,
  ...more,
});

const keyColumns: Readonly<Record<GroupBy, Readonly<Record<string, Column>>>> = {
  DAY: { day: { title: 'Day', kind: 'date' } },
  WEEK: { week: { title: 'Week of', kind: 'date', about: 'The Monday of the week.' } },
  MONTH: { month: { title: 'Month', kind: 'month' } },
  QUARTER: { quarter: { title: 'Quarter from', kind: 'month', about: 'The first month of the quarter.' } },
  YEAR: { year: { title: 'Year from', kind: 'month', about: 'The first month of the year.' } },
  DEPOSIT: { depositDate: { title: 'Deposit date', kind: 'date' }, depositId: { title: 'Deposit', kind: 'text', isCode: true } },
  TRANSACTION: { transactionDate: { title: 'Gift date', kind: 'date' }, transactionId: { title: 'Gift', kind: 'text', isCode: true } },
  DEPOSIT_STATUS: { depositStatus: { title: 'Status', kind: 'word' } },
  DESIGNATION: {
    designation: { title: 'Designation', kind: 'text' },
    designationId: { title: 'Fund number', kind: 'text', isCode: true, about: 'Tells two funds of one name apart.' },
  },
  STATUS: { status: { title: 'Gift status', kind: 'text' } },
  ACCOUNT_TYPE: { accountType: { title: 'Account type', kind: 'text' } },
  PAYMENT_TYPE: { paymentType: { title: 'Payment type', kind: 'text' } },
  DONOR: {
    donorFirstName: { title: 'First name', kind: 'text' },
    donorLastName: { title: 'Last name', kind: 'text' },
    donorId: {
      title: 'Donor number',
      kind: 'text',
      isCode: true,
      about: 'Tells two donors of one name apart. 0 stands for gifts of nobody known.',
    },
  },
  CITY: { city: { title: 'City', kind: 'text' } },
  STATE: { state: { title: 'State', kind: 'text' } },
};

const giftDate = column('transactionDate', 'Gift date', 'date');

/** The columns of a line: the field of GraphQL, the name for people, the kind. The amounts are in sight at a width of 1280. */
const lineColumns: readonly ReportColumn[] = [
  column('depositDate', 'Deposit date', 'date'),
  giftDate,
  column('donorFirstName', 'First name', 'text'),
  column('donorLastName', 'Last name', 'text'),
  column('donorId', 'Donor number', 'text', { isCode: true }),
  column('designation', 'Designation', 'text'),
  column('allocationAmount', 'To this fund', 'money', { adds: true, about: 'The share of the gift that goes to this fund.' }),
  column('amount', 'Whole gift', 'money', { about: 'All lines of a split gift repeat it, so it is not added up.' }),
  column('city', 'City', 'text'),
  column('designationId', 'Fund number', 'text', { isCode: true }),
  column('depositId', 'Deposit', 'text', { isCode: true }),
  column('depositStatus', 'Status', 'word'),
  column('transactionId', 'Gift', 'text', { isCode: true }),
  column('feeAmount', 'Fee of the whole gift', 'money', { isHidden: true }),
  column('netAmount', 'Net of the whole gift', 'money', { isHidden: true }),
  column('paymentType', 'Payment type', 'text', { isHidden: true }),
  column('accountType', 'Account type', 'text', { isHidden: true }),
  column('status', 'Gift status', 'text', { isHidden: true }),
  column('mainMemo', 'Memo', 'text', { isHidden: true }),
  column('designationMemo', 'Memo of the fund', 'text', { isHidden: true }),
  column('address1', 'Address', 'text', { isHidden: true }),
  column('address2', 'Address, line 2', 'text', { isHidden: true }),
  column('address3', 'Address, line 3', 'text', { isHidden: true }),
  column('state', 'State', 'text', { isHidden: true }),
  column('zip', 'ZIP', 'text', { isHidden: true, isCode: true }),
  column('phone', 'Phone', 'text', { isHidden: true, isCode: true }),
  column('emailAddress', 'Email', 'text', { isHidden: true }),
];

const versionColumns: readonly ReportColumn[] = [
  column('number', 'Version', 'count'),
  column('recordedAt', 'When', 'instant'),
  column('cause', 'By', 'word'),
  column('fileName', 'File', 'text'),
  column('linesAdded', 'Lines added', 'count', { adds: true }),
  column('linesChanged', 'Lines changed', 'count', { adds: true }),
  column('linesRemoved', 'Lines removed', 'count', { adds: true }),
  column('lines', 'Lines after it', 'count'),
  column('transactions', 'Gifts after it', 'count'),
  column('amount', 'Received after it', 'money', { about: 'All gifts in the books after the change, each once.' }),
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
  // The date that the period goes by comes first.
  if (rows === 'lines')
    return choices.dateBasis === 'TRANSACTION_DATE' ? [giftDate, ...lineColumns.filter((each) => each !== giftDate)] : lineColumns;
  const groupings = groupingsOf(choices, mayReadDonors);
  const keys = groupings.flatMap((by) =>
    Object.entries(keyColumns[by]).map(([field, { title, kind, ...more }]) => column(`key.${field}`, title, kind, more)),
  );
  return [...keys, ...figureColumns(choices, groupings)];
}

/** The figures of a group. A figure adds up over the rows only where no gift, or no deposit, is in two of them. */
function figureColumns(choices: ReportChoices, groupings: readonly GroupBy[]): readonly ReportColumn[] {
  const isByFund = groupings.includes('DESIGNATION');
  const isShare = isByFund || choices.funds.length > 0;
  const isByGift = groupings.includes('TRANSACTION');
  const isByDeposit = groupings.includes('DEPOSIT');
  const wholeGroups = choices.dateBasis === 'DEPOSIT_DATE' ? [...wholeDepositGroups, ...timeGroups] : wholeDepositGroups;
  const wholeDeposits = groupings.every((by) => wholeGroups.includes(by));
  const received = isByGift ? 'Whole gift' : isShare ? 'Whole gifts' : 'Received';
  const twice = 'A gift of two funds is in two rows, so the rows are not added up.';
  const about = isByFund ? { about: `The whole gifts of which a share goes to the fund. ${twice}` } : {};
  const share = column('all.byAllocation.amount', isByFund || choices.funds.length === 1 ? 'To this fund' : 'To these funds', 'money', {
    adds: true,
    about: 'The shares of the gifts that go there. Unknown shares are not in it.',
  });
  const money = { adds: !isByFund, ...about };
  const ofGifts = isShare ? ' of the whole gifts' : '';
  const isByNet = definitionOf(choices.report).leads === 'net';
  const net = column('all.byTransaction.netAmount', `Net${ofGifts}`, 'money', { ...money, isHidden: isShare });
  return [
    ...(isByNet ? [net] : []),
    ...(isByGift ? [] : [column('all.transactions', 'Gifts', 'count', { adds: !isByFund, ...(isByFund && { about: twice }) })]),
    ...(isByDeposit ? [] : [column('all.deposits', 'Deposits', 'count', { adds: wholeDeposits, isHidden: !wholeDeposits })]),
    ...(isShare ? [share] : []),
    ...(isShare ? [column('all.byAllocation.unknown', 'Unknown shares', 'count', { adds: true })] : []),
    ...(isShare ? comparedColumns(choices, isShare, money) : []),
    column('all.byTransaction.amount', received, 'money', { ...money, isHidden: isByFund && !isByGift }),
    ...(isShare ? [] : comparedColumns(choices, isShare, money)),
    column('all.byTransaction.feeAmount', `Fees${ofGifts}`, 'money', { ...money, isHidden: isShare }),
    ...(isByNet ? [] : [net]),
    ...pendingColumns(choices, groupings, isShare, money),
  ];
}

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

function comparedColumns({ compare }: ReportChoices, isShare: boolean, money: Partial<ReportColumn>): readonly ReportColumn[] {
  if (compare === 'off') return [];
  const [figure, change] = isShare ? ['byAllocation', 'amountByAllocation'] : ['byTransaction', 'amountByTransaction'];
  const adds = isShare ? { adds: true } : money;
  return [
    column(`compared.all.${figure}.amount`, compare === 'before' ? 'The period before' : 'Last year', 'money', adds),
    column(`change.${change}.difference`, 'Difference', 'money', adds),
    column(`change.${change}.percentage`, 'Difference in %', 'percent'),
  ];
}
