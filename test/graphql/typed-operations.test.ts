import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import {
  CredentialsTestDocument,
  DepositDetailsDocument,
  DesignationTotalsDocument,
  DonorYearDocument,
  PendingMoneyDocument,
  TieOutTotalsDocument,
} from '../../src/generated/operations/graphql';
import { graphql, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway({ lines: [v2Line({ deposit_status: 'pending', allocation_amount: '10.50' })], loggedIn: true });
const { organization } = gateway;

/** Sends a document as a typed client does: the document decides the types of variables and data. */
async function run<Data, Variables extends object>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Data> {
  const { body } = await graphql(gateway.url, print(document), { provision: organization.webProvision, cookie: gateway.cookie, variables });
  expect(body.errors).toBeUndefined();
  return body.data as Data;
}

describe("a typed client that sends the Playground's example queries", () => {
  const month = { startDate: '2024-01-01', endDate: '2024-01-31' };

  test('finds pending deposits in the list of a range too', async () => {
    const { depositDetails } = await run(DepositDetailsDocument, month);
    expect(depositDetails).toEqual([expect.objectContaining({ transactionId: 'P10', amount: '10.50' })]);
  });

  test('gets pending money exactly', async () => {
    const { depositDetailsConnection } = await run(PendingMoneyDocument, month);
    const [line] = depositDetailsConnection!.nodes;
    const { amount, feeAmount, netAmount, allocationAmount } = line!;
    expect({ amount, feeAmount, netAmount, allocationAmount }).toEqual({
      amount: '10.50',
      feeAmount: '0.50',
      netAmount: '10.00',
      allocationAmount: '10.50',
    });
  });

  test('gets the shares of each designation', async () => {
    const { depositSummary } = await run(DesignationTotalsDocument, { ...month, groupBy: ['DESIGNATION'] });
    expect(depositSummary!.groups!.nodes.map(({ key, all }) => [key, all.byAllocation])).toEqual([
      [
        { month: null, designationId: 3, designation: 'General Fund' },
        { amount: '10.50', unknown: 0 },
      ],
    ]);
  });

  test('gets the sum of the gifts of a donor', async () => {
    const filter = { donorName: 'Lovelace' };
    const { depositDetailsConnection } = await run(DonorYearDocument, { ...month, filter });
    const { totalCount, summary } = depositDetailsConnection!;
    expect([totalCount, summary!.all.byTransaction.amount]).toEqual([1, '10.50']);
  });

  test('gets totals that tie out pending and posted money', async () => {
    const { depositSummary } = await run(TieOutTotalsDocument, month);
    const { all, posted, pending, digest } = depositSummary!;
    expect([all, posted, pending].map(({ byLine }) => byLine.netAmount)).toEqual(['10.00', '0.00', '10.00']);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('checks its credentials', async () => {
    const { authenticatedTestSession, viewer } = await run(CredentialsTestDocument, {});
    expect([authenticatedTestSession!.message, viewer!.username]).toEqual(['Session request authenticated', 'ada']);
  });
});
