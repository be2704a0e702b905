import { CLOSE_PRIVILEGE, REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createOrganization, graphql, importLines, login, PASSWORD, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();

const SAVE = 'mutation ($input: SaveFundBudgetInput!) { saveFundBudget(input: $input) { budget { number savedBy toDate } } }';
const READ = `query ($startDate: LocalDate!, $through: LocalDate!) {
  fundBudget(startDate: $startDate, through: $through) { startDate number savedBy amount toDate funds { designationId designation amount toDate } }
}`;
const FUNDS = [
  { designationId: 3, amount: '1000.00' },
  { designationId: 4, amount: '0.00' },
];
const YEAR = { startDate: '2023-07-01', funds: FUNDS };

type Fields = Readonly<Record<string, unknown>>;
interface Person {
  readonly provision: string;
  readonly cookie: string;
}

async function logInAs(organization: TestOrganization, username: string, grants: string[]): Promise<Person> {
  await gateway.services.users.create({ organization: organization.name, username, password: PASSWORD, grants });
  return { provision: organization.webProvision, cookie: await login(gateway.url, organization.webProvision, username) };
}
async function openBooks() {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [v2Line({ designation_id: 3, designation: 'Food' })]);
  const closer = await logInAs(organization, 'cora', [CLOSE_PRIVILEGE]);
  const analyst = await logInAs(organization, 'alan', [REPORT_PRIVILEGE]);
  const save = async (fields: Fields = {}, as = closer) =>
    (await graphql(gateway.url, SAVE, { ...as, variables: { input: { ...YEAR, ...fields } } })).body;
  const read = async (through: string, startDate = YEAR.startDate, as = analyst) =>
    (await graphql(gateway.url, READ, { ...as, variables: { startDate, through } })).body;
  return { organization, closer, analyst, save, read };
}
const saved = (number: number) => ({ data: { saveFundBudget: { budget: { number, savedBy: 'cora', toDate: '1000.00' } } } });

test('a budget is saved by those who close months, read by those who read the report, and noted in the audit', async () => {
  const { organization, closer, analyst, save, read } = await openBooks();
  expect(await read('2023-12-31')).toEqual({ data: { fundBudget: null } });
  const refused = { errors: [{ extensions: { code: 'PRIVILEGE_NOT_FOUND' } }] };
  expect(await save({}, analyst)).toMatchObject(refused);
  expect(await read('2023-12-31', YEAR.startDate, closer)).toMatchObject(refused);
  expect(await save()).toEqual(saved(1));
  expect(await read('2023-12-31')).toEqual({
    data: {
      fundBudget: {
        ...{ startDate: '2023-07-01', number: 1, savedBy: 'cora', amount: '1000.00', toDate: '500.00' },
        funds: [
          { designationId: 3, designation: 'Food', amount: '1000.00', toDate: '500.00' },
          // The books have no such fund yet.
          { designationId: 4, designation: null, amount: '0.00', toDate: '0.00' },
        ],
      },
    },
  });
  const { rows } = await gateway.database.client.query(
    `SELECT operation, subject, detail, username FROM audit_record WHERE organization_id = $1 AND kind = 'rights' AND username = 'cora'`,
    [organization.id],
  );
  expect(rows).toEqual([{ operation: 'fund budget', subject: 'budget of the funds', detail: '2 funds from 2023-07-01', username: 'cora' }]);
});

test.each([
  ['a month', '2023-07-31', '83.33'],
  ['half a month', '2023-09-15', '208.33'],
  ['the first day', '2023-07-01', '2.69'],
  ['eight months with a February of 29 days', '2024-02-29', '666.67'],
  ['a day before the end of that February', '2024-02-28', '663.79'],
  ['the whole year', '2024-06-30', '1000.00'],
])('a part of a budget is that of its months and days: %s', async (_name, through, toDate) => {
  const { save, read } = await openBooks();
  await save();
  expect(await read(through)).toMatchObject({ data: { fundBudget: { toDate, funds: [{ toDate }, { toDate: '0.00' }] } } });
});

test('the sum of a part is that of the parts of the funds, to the cent', async () => {
  const { save, read } = await openBooks();
  // A twelfth of each is 0.00833…, which is a cent in writing. A twelfth of 0.05 is none.
  await save({ funds: [3, 4, 5].map((designationId) => ({ designationId, amount: '0.10' })) });
  expect(await read('2023-07-31')).toMatchObject({ data: { fundBudget: { amount: '0.30', toDate: '0.03' } } });
  await save({ funds: [3, 4, 5].map((designationId) => ({ designationId, amount: '0.05' })), replaces: 1 });
  expect(await read('2023-07-31')).toMatchObject({ data: { fundBudget: { amount: '0.15', toDate: '0.00' } } });
});

test('the largest amounts stay exact', async () => {
  const { save, read } = await openBooks();
  await save({ funds: [3, 4].map((designationId) => ({ designationId, amount: '999999999999.99' })) });
  expect(await read('2024-06-30')).toMatchObject({ data: { fundBudget: { amount: '1999999999999.98', toDate: '1999999999999.98' } } });
});

test('a budget replaces the one that was seen in its year, and no other', async () => {
  const { save, read } = await openBooks();
  const conflict = (fault: string) => ({
    errors: [
      {
        message: expect.stringContaining(`The budget is another than expected: ${fault}`) as unknown,
        extensions: { code: 'BUDGET_CONFLICT', argument: 'input.replaces' },
      },
    ],
  });
  expect(await save({ replaces: 1 })).toMatchObject(conflict('none is saved'));
  expect(await save({ replaces: null })).toEqual(saved(1));
  expect(await save({})).toMatchObject(conflict('number 1 was saved by cora at '));
  const both = await Promise.all([save({ replaces: 1 }), save({ replaces: 1 })]);
  expect(both.map(({ errors }) => errors?.length ?? 0).sort()).toEqual([0, 1]);
  // Another year has numbers of its own.
  expect(await save({ startDate: '2024-07-01' })).toEqual(saved(1));
  expect(await read('2024-01-31')).toMatchObject({ data: { fundBudget: { number: 2 } } });
});

test.each([
  [{ startDate: '2023-07-02' }, 'startDate: 2023-07-02 is not the first day of a month'],
  [{ startDate: '0023-07-01' }, 'startDate: 0023-07-01 is not in the years 1900 to 9998'],
  [{ funds: [...FUNDS, FUNDS[0]] }, 'funds: fund 3 has two amounts'],
  [{ funds: [{ designationId: 3, amount: '-0.01' }] }, 'funds: the amount of fund 3 is less than zero'],
  [{ funds: [{ designationId: 3, amount: '1000000000000.00' }] }, 'funds: the amount of fund 3 has more than 12 digits before the point'],
  [
    { funds: Array.from({ length: 1001 }, (_none, at) => ({ designationId: at, amount: '1.00' })) },
    'funds has 1001 funds; the limit is 1000',
  ],
])('a budget is refused with the reason', async (fields, fault) => {
  const { save } = await openBooks();
  expect((await save(fields)).errors).toMatchObject([{ message: fault, extensions: { code: 'BAD_USER_INPUT' } }]);
});

test('a budget of as many funds as there may be fits into a request', async () => {
  const { save } = await openBooks();
  const funds = Array.from({ length: 1000 }, (_none, at) => ({ designationId: 2 ** 53 - 1 - at, amount: '999999999999.99' }));
  expect((await save({ funds })).errors).toBeUndefined();
});

test.each([
  ['2023-06-30', 'through: 2023-06-30 is not in the twelve months from 2023-07-01'],
  ['2024-07-01', 'through: 2024-07-01 is not in the twelve months from 2023-07-01'],
])('a part up to %s is refused, because it is in another year', async (through, fault) => {
  const { read } = await openBooks();
  expect((await read(through)).errors).toMatchObject([{ message: fault, extensions: { code: 'BAD_USER_INPUT' } }]);
});

test('an organization reads and replaces its own budgets alone', async () => {
  const [ours, theirs] = [await openBooks(), await openBooks()];
  await ours.save();
  expect(await theirs.read('2023-12-31')).toEqual({ data: { fundBudget: null } });
  expect(await theirs.save()).toEqual(saved(1));
});
