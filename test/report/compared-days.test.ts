import { createOrganization, graphql, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
let books: TestOrganization;

/** A gift of a day. Its amount tells the month and the day: 2.29 of 29 February. */
const gift = (date: string) => {
  const [, month, day] = date.split('-');
  const amount = `${Number(month)}.${day}`;
  const ids = { deposit_id: date, transaction_id: date, allocation_id: date };
  return v2Line({ ...ids, deposit_date: date, transaction_date: date, amount, net_amount: amount, fee_amount: '0.00' });
};

beforeAll(async () => {
  books = await createOrganization(gateway.services);
  const days = [
    '2023-02-28',
    '2024-01-28',
    '2024-02-28',
    '2024-02-29',
    '2025-01-28',
    '2025-01-29',
    '2025-01-30',
    '2025-01-31',
    '2025-02-28',
  ];
  const other = { ...gift('2025-03-15'), designation_id: 4, designation: 'Missions' };
  await importLines(gateway.services, books, [...days.map(gift), other]);
});

interface Compared {
  readonly key: { readonly day: string | null; readonly designation: string | null };
  readonly all: { readonly byTransaction: { readonly amount: string } };
  readonly compared: Compared;
}

/** Each group by its name, with its own amount and that of the other period. */
async function groupsOf(own: string, other: string, groupBy: string): Promise<string[]> {
  const period = (text: string): string => `startDate: "${text.slice(0, 10)}", endDate: "${text.slice(12)}"`;
  const { body } = await graphql(
    gateway.url,
    `{ depositSummary(${period(own)}, groupBy: [${groupBy}], compareWith: { ${period(other)} }) {
      groups(first: 100) { nodes { key { day designation } all { byTransaction { amount } } compared { all { byTransaction { amount } } } } } } }`,
    { provision: books.apiProvision },
  );
  const { groups } = body.data!.depositSummary as { groups: { nodes: Compared[] } };
  return groups.nodes.map(({ key, all, compared }) =>
    [key.day ?? key.designation, all.byTransaction.amount, compared.all.byTransaction.amount].join(' '),
  );
}

describe('a day beside that of another period', () => {
  test('has both last days of February beside it, where the other one is of a leap year', async () => {
    expect(await groupsOf('2025-02-01..2025-02-28', '2024-02-01..2024-02-29', 'DAY')).toEqual(['2025-02-28 2.28 4.57']);
  });

  test('has nothing beside it, where it is 29 February', async () => {
    expect(await groupsOf('2024-02-01..2024-02-29', '2023-02-01..2023-02-28', 'DAY')).toEqual([
      '2024-02-28 2.28 2.28',
      '2024-02-29 2.29 0.00',
    ]);
  });

  test('has the days beside it that its month lacks, where it is the last one', async () => {
    // 1.28 + 1.29 + 1.30 + 1.31
    expect(await groupsOf('2025-02-01..2025-02-28', '2025-01-01..2025-01-31', 'DAY')).toEqual(['2025-02-28 2.28 5.18']);
  });

  test('has the one at the same distance beside it, where the periods begin on other days of a month', async () => {
    expect(await groupsOf('2025-02-27..2025-03-02', '2025-01-28..2025-01-31', 'DAY')).toEqual([
      '2025-02-27 0.00 1.28',
      '2025-02-28 2.28 1.29',
      '2025-03-01 0.00 1.30',
      '2025-03-02 0.00 1.31',
    ]);
  });
});

test('a group that only the other period has is there, with figures of nothing', async () => {
  expect(await groupsOf('2025-01-01..2025-01-31', '2025-03-01..2025-03-31', 'DESIGNATION')).toEqual([
    'General Fund 5.18 0.00',
    'Missions 0.00 3.15',
  ]);
});
