import fc from 'fast-check';
import { v2Line } from '../support/gateway';
import { createObjectAnswers, type ObjectAnswers } from '../support/object-answers';
import { openGateway } from '../support/open-gateway';
import { tries } from '../support/tries';

/** All characters that JSON or COPY escapes, and some that both must leave alone. */
const SPECIAL = [
  '"',
  '\\',
  '\\N',
  '\\.',
  '\b\f\n\r\t\v',
  '\u0001\u001f\u007f',
  '/',
  'é',
  '李',
  '🌻',
  '\u2028\u2029',
  "'",
  '<&>',
  '  ',
  '\\u0041',
  '\ufeff',
];

function createLines(): object[] {
  const text = fc.oneof(
    fc.constantFrom(...SPECIAL),
    fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', '')),
  );
  return SPECIAL.map((value, n) => {
    const [first, last, memo] = fc.sample(text, { numRuns: 3, seed: n });
    const share = n % 3 === 0 ? {} : { allocation_amount: `-${n}.05` };
    return v2Line({
      ...{
        deposit_id: `${n}`,
        transaction_id: `T${n}`,
        allocation_id: `A${value}${n}`,
        main_memo: value,
        designation_memo: memo,
        status: '',
      },
      ...(n % 4 === 0 ? NOBODY : { donor_id: Number.MAX_SAFE_INTEGER - n, donor_first_name: first, donor_last_name: last }),
      ...share,
    });
  });
}

const NOBODY = {
  donor_id: 0,
  ...Object.fromEntries(
    ['donor_first_name', 'donor_last_name', 'address1', 'city', 'zip', 'phone', 'email_address'].map((key) => [key, '']),
  ),
};

const gateway = openGateway({ lines: createLines(), loggedIn: true });
const { organization } = gateway;
let objects: ObjectAnswers;

beforeAll(() => {
  objects = createObjectAnswers(gateway.services, { provision: organization.webProvision, cookie: gateway.cookie });
});
afterAll(() => objects.stop());

interface Operation {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

/** The answer as the gateway writes it to the socket. */
async function asBytes(operation: Operation): Promise<string> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Provision: organization.webProvision, Cookie: gateway.cookie },
    body: JSON.stringify(operation),
  });
  return response.text();
}

const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const FIELDS = [
  ...[
    'depositId',
    'transactionDate',
    'depositDate',
    'transactionId',
    'allocationId',
    'donorId',
    'donorFirstName',
    'donorLastName',
    'address1',
    'address2',
  ],
  ...[
    'address3',
    'city',
    'state',
    'zip',
    'phone',
    'emailAddress',
    'amount',
    'feeAmount',
    'netAmount',
    'status',
    'accountType',
    'paymentType',
  ],
  ...[
    'designationId',
    'designation',
    'designationMemo',
    'mainMemo',
    'allocationAmount',
    'allocationAmountInferred',
    'depositStatus',
    '__typename',
  ],
];

const directive = fc.constantFrom(
  '',
  '',
  '',
  ' @include(if: $yes)',
  ' @skip(if: $yes)',
  ' @include(if: $no)',
  ' @skip(if: $no)',
  ' @include(if: true)',
  ' @skip(if: true)',
);
const DONOR = 'donor { id donorId name: lastName ... { email } __typename }';
const RECORDS = [
  ...['deposit { id depositId }', 'deposit { depositDate status __typename }', 'fund { id name }', 'fund { number: designationId }'],
  ...[
    'transaction { id amount netAmount mainMemo status }',
    'transaction { transactionId deposit { id status } }',
    `transaction { ${DONOR} }`,
  ],
  ...['allocation { id allocationId amount amountInferred memo designation { name } }', 'allocation { transaction { donor { city } } }'],
  ...[DONOR, 'donor { __typename }', 'giver: donor { firstName @skip(if: $yes) address1 } nobody: donor { kind: __typename }'],
];
const field = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...FIELDS) }, { weight: 1, arbitrary: fc.constantFrom(...RECORDS) });
const leaf = fc.oneof(
  { weight: 3, arbitrary: field },
  { weight: 1, arbitrary: fc.tuple(fc.nat(9), fc.constantFrom(...FIELDS)).map(([n, name]) => `${name}Alias${n}: ${name}`) },
);
/** Selections of a line: fields, aliases, inline fragments with and without a type, named fragments, each with directives. */
const { selections } = fc.letrec<{ selections: string; item: string }>((tie) => ({
  selections: fc.array(tie('item'), { minLength: 1, maxLength: 6 }).map((items) => items.join(' ')),
  item: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    // A directive stands before the selection of a record.
    fc.tuple(leaf, directive).map(([name, condition]) => name.replace(/(?= \{)|$/, condition)),
    fc
      .tuple(fc.constantFrom('...', '... on DepositDetail'), directive, tie('selections'))
      .map(([spread, condition, set]) => `${spread}${condition} { ${set} }`),
    fc.tuple(fc.constantFrom('...One', '...Two'), directive).map(([spread, condition]) => spread + condition),
  ),
}));
const report = (key: string) =>
  fc
    .tuple(fc.boolean(), directive, selections)
    .map(([pending, condition, set]) => `${key}: depositDetails(${RANGE}, includePending: ${pending})${condition} { ${set} ...One }`);
const beside = fc.constantFrom(
  '',
  '__typename',
  'viewer { username }',
  'authenticatedTestSystem { message }',
  'depositDetails(' + RANGE + ') { amount }',
);

const operation: fc.Arbitrary<Operation> = fc
  .record({
    before: beside,
    first: report('first'),
    between: beside,
    second: fc.option(report('second'), { nil: '' }),
    again: fc.option(report('first'), { nil: '' }),
    one: leaf,
    two: leaf,
  })
  .map(({ before, first, between, second, again, one, two }) => ({
    query: `query ($yes: Boolean!, $no: Boolean!) { __typename @include(if: $yes) @skip(if: $no) ${before} ${first} ${between} ${second} ${again} }
      fragment One on DepositDetail { ${one} ...Two }
      fragment Two on DepositDetail { ${two} __typename }`,
    variables: { yes: true, no: false },
  }));

const FAR = 'fragment Far on DepositDetail { fund { allocations { totalCount } } }';

describe('a list whose rows are written as bytes', () => {
  test('is what graphql-js makes of the same rows as objects, for generated selections', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(operation, async (generated) => {
        const [bytes, expected] = [await asBytes(generated), await objects.answer(generated)];
        if (!expected.startsWith('{"errors"')) answered++;
        // Each request has an id of its own.
        expect(bytes.replaceAll(/"requestId":"[^"]*"/g, '"requestId":""')).toBe(expected);
      }),
      { numRuns: tries(60) },
    );
    // The comparison says little unless most generated selections are valid.
    expect(answered).toBeGreaterThan(tries(20));
  });

  test('carries every special character unchanged', async () => {
    const query = `{ depositDetails(${RANGE}) { allocationId mainMemo donorFirstName allocationAmount } }`;
    const { data } = JSON.parse(await asBytes({ query })) as { data: { depositDetails: { allocationId: string; mainMemo: string }[] } };
    expect(data.depositDetails.map(({ mainMemo }) => mainMemo).sort()).toEqual([...SPECIAL].sort());
    expect(data.depositDetails.map(({ allocationId }) => allocationId).sort()).toEqual(SPECIAL.map((value, n) => `A${value}${n}`).sort());
  });

  test('may have all fields at once, or the type name alone', async () => {
    for (const set of [FIELDS.join(' '), '__typename', 'a: __typename b: __typename']) {
      const query = `{ depositDetails(${RANGE}) { ${set} } }`;
      expect(await asBytes({ query })).toBe(await objects.answer({ query }));
    }
  });

  test('leads to the records of each line, and to no donor where there is none', async () => {
    const values = `deposit { id depositId depositDate status } fund { id designationId name } donor {
        id donorId firstName lastName address1 address2 address3 city state zip phone email }
      allocation { id allocationId amount amountInferred memo designation { name } }
      transaction { id transactionId transactionDate amount feeAmount netAmount status accountType paymentType mainMemo donor { id } }`;
    const query = `{ depositDetails(${RANGE}) { ${values} last: donor { __typename } } }`;
    const answer = await asBytes({ query });
    expect(answer).toBe(await objects.answer({ query }));
    const { data } = JSON.parse(answer) as {
      data: { depositDetails: { allocation: { id: string; allocationId: string }; donor: object | null }[] };
    };
    const nobodys = data.depositDetails.filter(({ donor }) => donor === null);
    expect([nobodys.length > 0, nobodys.length < data.depositDetails.length]).toEqual([true, true]);
    for (const { allocation } of data.depositDetails) {
      expect(Buffer.from(allocation.id, 'base64url').toString()).toBe(`Allocation:${allocation.allocationId}`);
    }
  });

  test.each([
    ['deposit { transactions { totalCount } }', 'Deposit.transactions'],
    ['transaction { deposit { transactions(first: 1) { nodes { amount } } } }', 'Deposit.transactions'],
    ['transaction { allocations { nodes { amount } } }', 'Transaction.allocations'],
    ['donor { lastName gifts: transactions { totalCount } }', 'Donor.transactions'],
    ['...Far', 'Designation.allocations'],
  ])('refuses what leads further than its lines, as objects too: %s', async (selection, field) => {
    const query = `{ depositDetails(${RANGE}) { amount ${selection} } } ${selection === '...Far' ? FAR : ''}`;
    for (const answer of [await asBytes({ query }), await objects.answer({ query })]) {
      expect((JSON.parse(answer) as { errors: object[] }).errors).toMatchObject([
        {
          message: `${field} leads further than the streamed list depositDetails: ask depositDetailsConnection for it`,
          path: ['depositDetails'],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
      ]);
    }
  });

  test('keeps its place under a name that JavaScript knows', async () => {
    const query = `{ __proto: depositDetails(${RANGE}) { constructor: amount toString: status hasOwnProperty: donorId } constructor: __typename }`;
    expect(await asBytes({ query })).toBe(await objects.answer({ query }));
  });
});
