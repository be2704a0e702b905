import fc from 'fast-check';
import { buildSchema, parse } from 'graphql';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { operationLimits } from '../../src/resolvers/request/operation-limits';
import { anyOperation } from '../support/any-operation';
import { depositBook } from '../support/deposit-book';
import { graphql, login, PASSWORD } from '../support/gateway';
import { createObjectAnswers, type ObjectAnswers } from '../support/object-answers';
import { openGateway } from '../support/open-gateway';
import { tries } from '../support/tries';

/** More operations find more faults. Ten thousand take two minutes on a quiet machine. */
const OPERATIONS = Number(process.env.GENERATED_QUERIES ?? tries(200));
/** The average time of an operation on a busy machine, at most. */
const MOST_MS = 300;
const NOT_TO_BE_SEEN = ['INTERNAL_SERVER_ERROR', 'DATA_SOURCE_QUERY_FAILED', 'NO_DATA_SOURCE_CONNECTION', 'GRAPHQL_PARSE_FAILED'];

const gateway = openGateway({ lines: depositBook(60), loggedIn: true });
const { organization } = gateway;
let objects: ObjectAnswers;
let cursors: string[];
let othersCookie: string;

beforeAll(async () => {
  await gateway.services.users.create({ organization: organization.name, username: 'bob', password: PASSWORD, grants: [REPORT_PRIVILEGE] });
  othersCookie = await login(gateway.url, organization.webProvision, 'bob');
  objects = createObjectAnswers(gateway.services, as(othersCookie));
  const { body } = await graphql(
    gateway.url,
    '{ designations(first: 3) { edges { cursor } } donors(first: 3) { edges { cursor } } }',
    as(),
  );
  const { designations, donors } = body.data as Record<string, { edges: { cursor: string }[] }>;
  cursors = [...designations!.edges, ...donors!.edges].map(({ cursor }) => cursor);
});
afterAll(() => objects.stop());

/** Throws if the operation is not valid syntax. */
function isWithinLimits(query: string): boolean {
  let tokens = 0;
  for (let token = parse(query).loc?.startToken ?? null; token; token = token.next) tokens++;
  // The start and the end of the file are no tokens of it.
  return tokens - 2 <= operationLimits.maxTokens;
}

const as = (cookie = gateway.cookie) => ({ provision: organization.webProvision, cookie });
const schema = buildSchema(readFileSync(resolve(__dirname, '../../schema.graphql'), 'utf8'));

test(
  'any valid query has a proper answer, the same for users with the same rights, kept or executed, and whether its rows are streamed or objects',
  async () => {
    const operations = anyOperation(schema, {
      texts: ['D1', 'T2', 'A2-0', 'none', '', 'Adl', '%', `'"\\`, 'é😀', '\0'],
      numbers: [0, 1, 2, 3, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
      cursors,
      ids: ['Deposit:D1', 'Transaction:T2', 'Allocation:A2-0', 'Designation:2', 'Donor:12', 'Donor:777'].map((name) =>
        Buffer.from(name).toString('base64url'),
      ),
    });
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(operations, async (query) => {
        // The gateway would refuse an operation with too many tokens unread.
        fc.pre(isWithinLimits(query));
        const { status, body } = await graphql(gateway.url, query, as());
        const codes = body.errors?.map(({ extensions }) => extensions.code) ?? [];
        expect(codes.filter((code) => NOT_TO_BE_SEEN.includes(code))).toEqual([]);
        expect([200, 400]).toContain(status);
        if (status === 400) return;
        answered++;
        // Now it is kept, and sent to the next user with the same rights.
        await graphql(gateway.url, query, as());
        const kept = await graphql(gateway.url, query, as(othersCookie));
        const { data, errors } = JSON.parse(await objects.answer({ query })) as typeof body;
        // The first of several wrong fields ends the answer, so that the two ways may name different ones.
        expect([kept.status, kept.body.data, kept.body.errors === undefined]).toEqual([status, data, errors === undefined]);
      }),
      // Shrinking takes far longer than reading the operation that fails.
      { numRuns: OPERATIONS, endOnFailure: true },
    );
    // Refused operations test little, so that most must be answered.
    expect(answered).toBeGreaterThan(OPERATIONS / 2);
  },
  Math.max(900_000, OPERATIONS * MOST_MS),
);
