import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { CredentialsTestDocument, DepositDetailsDocument, PendingMoneyDocument } from '../src/generated/operations/graphql';
import {
  createOrganization,
  graphql,
  importLines,
  login,
  startGateway,
  v2Line,
  type TestGateway,
  type TestOrganization,
} from './support/gateway';

let gateway: TestGateway;
let organization: TestOrganization;
let cookie: string;

beforeAll(async () => {
  gateway = await startGateway();
  organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [v2Line({ deposit_status: 'pending', allocation_amount: '10.50' })]);
  cookie = await login(gateway.url, organization.webProvision);
});
afterAll(() => gateway.stop());

/** What a typed client does: the document decides the types of variables and data. */
async function run<Data, Variables extends object>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Data> {
  const { body } = await graphql(gateway.url, print(document), { provision: organization.webProvision, cookie, variables });
  expect(body.errors).toBeUndefined();
  return body.data as Data;
}

describe("the Playground's example queries, as typed documents", () => {
  const month = { startDate: '2024-01-01', endDate: '2024-01-31' };

  test('list the deposits of a range', async () => {
    const { depositDetails } = await run(DepositDetailsDocument, month);
    expect(depositDetails).toEqual([]);
  });

  test('show pending money exactly', async () => {
    const { depositDetails } = await run(PendingMoneyDocument, month);
    const [line] = depositDetails;
    const { amount, feeAmount, netAmount, allocationAmount } = line!;
    expect({ amount, feeAmount, netAmount, allocationAmount }).toEqual({
      amount: '10.50',
      feeAmount: '0.50',
      netAmount: '10.00',
      allocationAmount: '10.50',
    });
  });

  test('check the credentials', async () => {
    const { authenticatedTestSession, viewer } = await run(CredentialsTestDocument, {});
    expect([authenticatedTestSession.message, viewer.username]).toEqual(['Session request authenticated', 'ada']);
  });
});
