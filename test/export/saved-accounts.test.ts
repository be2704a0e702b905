import { CLOSE_PRIVILEGE, REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createExportReader } from '../support/export-reader';
import { createOrganization, graphql, login, PASSWORD, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
const reader = createExportReader(gateway);

const FUNDS = [
  { designationId: 3, account: '4010' },
  { designationId: 4, account: '4020' },
  { designationId: 5, account: '4010' },
];
const ACCOUNTS = { bank: '1000', fees: '6000', funds: FUNDS };
const SAVE = 'mutation ($input: SaveJournalAccountsInput!) { saveJournalAccounts(input: $input) { accounts { number savedBy } } }';
const READ = '{ journalAccounts { number bank fees funds { designationId account } savedBy } }';

async function logInAs(organization: TestOrganization, username: string, grants: string[]) {
  await gateway.services.users.create({ organization: organization.name, username, password: PASSWORD, grants });
  const cookie = await login(gateway.url, organization.webProvision, username);
  return { provision: organization.webProvision, cookie };
}

test('accounts are saved by those who close months, read by those who read the report, and noted in the audit', async () => {
  const organization = await createOrganization(gateway.services);
  const closer = await logInAs(organization, 'cora', [CLOSE_PRIVILEGE]);
  const analyst = await logInAs(organization, 'alan', [REPORT_PRIVILEGE]);
  expect((await graphql(gateway.url, READ, analyst)).body).toEqual({ data: { journalAccounts: null } });
  const refused = { errors: [{ extensions: { code: 'PRIVILEGE_NOT_FOUND' } }] };
  expect((await graphql(gateway.url, SAVE, { ...analyst, variables: { input: ACCOUNTS } })).body).toMatchObject(refused);
  expect((await graphql(gateway.url, READ, closer)).body).toMatchObject(refused);
  for (const number of [1, 2]) {
    const { body } = await graphql(gateway.url, SAVE, {
      ...closer,
      variables: { input: { ...ACCOUNTS, bank: ` 100${number} `, replaces: number - 1 || null } },
    });
    expect(body).toEqual({ data: { saveJournalAccounts: { accounts: { number, savedBy: 'cora' } } } });
  }
  expect((await graphql(gateway.url, READ, analyst)).body).toEqual({
    data: { journalAccounts: { ...ACCOUNTS, bank: '1002', number: 2, savedBy: 'cora' } },
  });
  const { rows } = await gateway.database.client.query(
    `SELECT operation, subject, detail, username FROM audit_record WHERE organization_id = $1 AND kind = 'rights' AND username = 'cora'`,
    [organization.id],
  );
  const row = { operation: 'journal accounts', subject: 'accounts of the journal', detail: 'bank, fees and 3 funds', username: 'cora' };
  expect(rows).toEqual([row, row]);
  const own = { Provision: closer.provision, Cookie: closer.cookie };
  expect(await reader.get(`/export/journal.csv?start_date=2024-01-01&end_date=2024-12-31`, own)).toMatchObject({ status: 422 });
});

test('accounts replace those that were seen, and no others', async () => {
  const organization = await createOrganization(gateway.services);
  const closer = await logInAs(organization, 'cora', [CLOSE_PRIVILEGE]);
  const save = async (fields: Readonly<Record<string, unknown>>) =>
    (await graphql(gateway.url, SAVE, { ...closer, variables: { input: { ...ACCOUNTS, ...fields } } })).body;
  const conflict = (fault: string) => ({
    errors: [
      {
        message: expect.stringContaining(`The accounts are others than expected: ${fault}`) as unknown,
        extensions: { code: 'ACCOUNTS_CONFLICT', argument: 'input.replaces' },
      },
    ],
  });
  expect(await save({ replaces: 1 })).toMatchObject(conflict('none are saved'));
  expect(await save({ replaces: null })).toEqual({ data: { saveJournalAccounts: { accounts: { number: 1, savedBy: 'cora' } } } });
  expect(await save({})).toMatchObject(conflict('number 1 was saved by cora at '));
  const both = await Promise.all([save({ replaces: 1 }), save({ replaces: 1 })]);
  expect(both.map(({ errors }) => errors?.length ?? 0).sort()).toEqual([0, 1]);
  expect(await save({ replaces: 1 })).toMatchObject(conflict('number 2 was saved by cora at '));
});

test('accounts must be whole characters, whichever door they come by', async () => {
  const saving = gateway.services.journalAccounts.save(gateway.organization.id, { ...ACCOUNTS, bank: 'a\ud800' }, { name: null });
  await expect(saving).rejects.toMatchObject({ code: 'INVALID_PARAMETERS', fault: 'bank has half a character' });
});

test('accounts of more funds than a request holds go by the command', async () => {
  const organization = await createOrganization(gateway.services);
  const closer = await logInAs(organization, 'cora', [CLOSE_PRIVILEGE]);
  const save = async (count: number) => {
    const funds = Array.from({ length: count }, (_none, at) => ({ designationId: 2 ** 53 - 1 - at, account: 'x'.repeat(100) }));
    return (await graphql(gateway.url, SAVE, { ...closer, variables: { input: { ...ACCOUNTS, funds } } })).body;
  };
  const fault = 'funds has 601 funds; the limit is 600: the command `journal accounts` takes larger sets from a file';
  expect((await save(601)).errors).toMatchObject([{ message: fault }]);
  expect((await save(600)).errors).toBeUndefined();
});

test.each([
  [{ bank: ' ' }, 'bank is empty'],
  [{ fees: 'x'.repeat(101) }, 'fees is longer than 100 characters'],
  [{ bank: 'a\nb' }, 'bank has control characters'],
  [{ funds: [...FUNDS, FUNDS[0]] }, 'funds: fund 3 has two accounts'],
  [{ funds: [{ designationId: 3, account: '' }] }, 'funds: the account of fund 3 is empty'],
])('accounts must be texts for each fund once: %j', async (fields, fault) => {
  const organization = await createOrganization(gateway.services);
  const closer = await logInAs(organization, 'cora', [CLOSE_PRIVILEGE]);
  const { body } = await graphql(gateway.url, SAVE, { ...closer, variables: { input: { ...ACCOUNTS, ...fields } } });
  expect(body.errors).toMatchObject([{ message: fault, extensions: { code: 'BAD_USER_INPUT' } }]);
});
