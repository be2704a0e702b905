import { depositBook, type BookLine } from '../support/deposit-book';
import { openWatchedGateway } from '../support/watched-gateway';

const LINES = depositBook(60);
const gateway = openWatchedGateway({ lines: LINES });

const idOf = (type: string, id: string | number): string => Buffer.from(`${type}:${id}`).toString('base64url');
const RECORDS = `allocationId deposit { id depositId status } transaction { id transactionId amount } allocation { id allocationId amount }
  donor { id donorId lastName } fund { id designationId name }`;
/** The records of a line as the line itself tells them. */
const recordsOf = (line: BookLine): object => {
  const { deposit_id, transaction_id, allocation_id, designation_id, donor_id } = line;
  const isAlone = LINES.filter((each) => each.transaction_id === transaction_id).length === 1;
  return {
    allocationId: allocation_id,
    deposit: { id: idOf('Deposit', deposit_id), depositId: deposit_id, status: line.deposit_status.toUpperCase() },
    transaction: { id: idOf('Transaction', transaction_id), transactionId: transaction_id, amount: line.amount },
    allocation: {
      ...{ id: idOf('Allocation', allocation_id), allocationId: allocation_id },
      amount: line.allocation_amount ?? (isAlone ? line.amount : null),
    },
    donor: donor_id === 0 ? null : { id: idOf('Donor', donor_id), donorId: donor_id, lastName: line.donor_last_name },
    fund: { id: idOf('Designation', designation_id), designationId: designation_id, name: line.designation },
  };
};
type Nodes = { lines: { nodes: object[] } };

describe('lines that lead to their records', () => {
  test.each(['nodes', 'edges'])('do so in a page, by %s', async (shape) => {
    const item = shape === 'nodes' ? `nodes { ${RECORDS} }` : `edges { node { ${RECORDS} } }`;
    const { lines } = await gateway.ask<{ lines: { nodes?: object[]; edges?: { node: object }[] } }>(
      `{ lines: depositDetailsConnection(pending: WITH, first: 1000) { ${item} } }`,
    );
    expect(lines.nodes ?? lines.edges!.map(({ node }) => node)).toEqual(LINES.map(recordsOf));
  });

  test('do so in the streamed list, with the same values', async () => {
    const { lines } = await gateway.ask<{ lines: object[] }>(
      `{ lines: depositDetails(startDate: "2024-01-01", endDate: "2024-12-31", includePending: true) { ${RECORDS} } }`,
    );
    expect(lines).toEqual(LINES.map(recordsOf));
  });

  test('take one statement for each kind, however long the page is', async () => {
    const statements = async (first: number): Promise<number> => {
      const before = gateway.proxy.statements();
      const { lines } = await gateway.ask<Nodes>(
        `{ lines: depositDetailsConnection(pending: WITH, first: ${first}) { nodes {
          ${RECORDS} deposit { transactions(first: 2) { totalCount nodes { amount } } } donor { transactions(pending: WITH, first: 1) { nodes { amount } } } } } }`,
      );
      expect(lines.nodes).toHaveLength(Math.min(first, LINES.length));
      return gateway.proxy.statements() - before;
    };
    const [few, many] = [await statements(5), await statements(1000)];
    expect(many).toBe(few);
    // Access, lines, five kinds of records, two lists of transactions and the length of one.
    expect(few).toBe(10);
  });

  test('take nothing for records that are not asked for', async () => {
    const before = gateway.proxy.statements();
    await gateway.ask('{ depositDetailsConnection(pending: WITH) { nodes { allocationId amount } } }');
    expect(gateway.proxy.statements() - before).toBe(2);
  });

  test('may be asked for the type of a record alone', async () => {
    const { lines } = await gateway.ask<Nodes>(
      '{ lines: depositDetailsConnection(pending: WITH, first: 1000) { nodes { donor { __typename } fund { __typename } } } }',
    );
    expect(lines.nodes).toEqual(
      LINES.map(({ donor_id }) => ({ donor: donor_id === 0 ? null : { __typename: 'Donor' }, fund: { __typename: 'Designation' } })),
    );
  });

  test('become a file with the columns of the records that a query names', async () => {
    const query =
      '{ depositDetails(startDate: \\"2024-01-01\\", endDate: \\"2024-12-31\\") { amount deposit { depositDate } donor { lastName } fund { id name } transaction { donor { email } } } }';
    const { reportFile } = await gateway.ask<{ reportFile: { columns: string[] } }>(`{ reportFile(query: "${query}") { columns } }`);
    expect(reportFile.columns).toEqual(['amount', 'deposit_date', 'donor_last_name', 'designation', 'email_address']);
  });
});
