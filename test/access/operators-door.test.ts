import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { graphql, login, openSession, PASSWORD } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const TOKEN = 'an-operators-token-of-enough-length';
const gateway = openGateway({ settings: { ADMIN_PORT: '0', ADMIN_TOKEN: TOKEN } });
const { organization } = gateway;

interface Answer {
  readonly status: number;
  readonly body: { data?: Record<string, unknown> | null; errors?: { message: string; extensions: { code: string } }[] };
}

async function send(query: string, variables: object = {}, authorization = `Bearer ${TOKEN}`): Promise<Answer> {
  const response = await fetch(`${gateway.adminUrl}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(authorization !== '' && { Authorization: authorization }) },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** The data of an operation that an operator needs to succeed. */
async function operate<Data>(query: string, variables: object = {}): Promise<Data> {
  const { body } = await send(query, variables);
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data as Data;
}

const rightsRows = async () =>
  (
    await gateway.database.client.query<{
      door: string;
      address: string | null;
      operation: string;
      subject: string | null;
      detail: string | null;
    }>(
      `SELECT door, address, operation, subject, detail FROM audit_record WHERE kind = 'rights' AND door = 'operators' ORDER BY organization_id, number`,
    )
  ).rows;

describe("the operators' door", () => {
  test.each([
    ['without a token', ''],
    ['with another token', `Bearer ${TOKEN}x`],
    ['with a part of the token', `Bearer ${TOKEN.slice(0, -1)}`],
    ['with the token in another scheme', `Basic ${TOKEN}`],
    ['with an empty token', 'Bearer '],
  ])('tells a caller %s nothing, not even the schema', async (_case, authorization) => {
    for (const query of ['{ organizations { name } }', '{ __schema { types { name } } }', '{ nothing }']) {
      const answer = await send(query, {}, authorization);
      expect(answer).toEqual({ status: 401, body: { errors: [{ error: 'Unauthorized', status: 401 }] } });
    }
  });

  test('takes no credential of the callers of the gateway', async () => {
    const cookie = await login(gateway.url, organization.webProvision);
    const token = await openSession(gateway.url, organization.webProvision);
    const response = await fetch(`${gateway.adminUrl}/graphql?query=%7Borganizations%7Bname%7D%7D`, {
      headers: { Cookie: cookie, Provision: organization.apiProvision, Authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(401);
  });

  test('is not on the port of the gateway, and a request of another site reaches nothing', async () => {
    const { body } = await graphql(gateway.url, '{ organizations { name } }', { provision: organization.apiProvision, bearer: TOKEN });
    expect(JSON.stringify(body)).not.toContain(organization.name);
    const simple = await fetch(`${gateway.adminUrl}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain', Origin: 'https://evil.example' },
      body: JSON.stringify({ query: 'mutation { deleteOrganization(organization: "x", confirm: "x") { lastAnchor } }' }),
    });
    expect([simple.status, simple.headers.get('access-control-allow-origin')]).toEqual([401, null]);
  });
});

interface Described {
  readonly name: string;
  readonly description: string | null;
}

interface DescribedType extends Described {
  readonly fields: readonly (Described & { readonly args: readonly Described[] })[] | null;
  readonly enumValues: readonly Described[] | null;
}

describe('an operator', () => {
  test('learns from the schema what each type, field, argument and value is', async () => {
    const { __schema: schema } = await operate<{ __schema: { types: DescribedType[] } }>(
      '{ __schema { types { name description enumValues { name description } fields { name description args { name description } } } } }',
    );
    const types = schema.types.filter(({ name }) => !name.startsWith('__'));
    const named = types.filter(({ name }) => name !== 'Query' && name !== 'Mutation');
    const fields = types.flatMap((type) => type.fields ?? []);
    const all = [...named, ...fields, ...fields.flatMap(({ args }) => args), ...types.flatMap(({ enumValues }) => enumValues ?? [])];
    expect(all.filter(({ description }) => !description).map(({ name }) => name)).toEqual([]);
  });

  test('brings up an organization with a provision and a user, who then read its report', async () => {
    const name = 'Hope Foundation';
    await operate('mutation ($name: String!) { createOrganization(organization: $name, hosts: ["127.0.0.1"]) { name hosts } }', { name });
    const { createProvision } = await operate<{ createProvision: { uuid: string; provision: object } }>(
      `mutation ($name: String!) { createProvision(organization: $name, kind: WEB, label: "page") {
        uuid provision { firstCharacters organization kind label privileges expiresAt } } }`,
      { name },
    );
    expect(createProvision.provision).toEqual({
      ...{ firstCharacters: createProvision.uuid.slice(0, 8), organization: name, kind: 'WEB', label: 'page' },
      ...{ privileges: ['authenticated_test_system', 'authenticated_test_session'], expiresAt: null },
    });
    const { createUser } = await operate<{ createUser: object }>(
      `mutation ($name: String!, $password: String!, $privileges: [String!]!) {
        createUser(organization: $name, username: "bea", password: $password, privileges: $privileges) { username privileges disabledAt } }`,
      { name, password: PASSWORD, privileges: [REPORT_PRIVILEGE] },
    );
    expect(createUser).toMatchObject({ username: 'bea', disabledAt: null });
    const cookie = await login(gateway.url, createProvision.uuid, 'bea');
    const read = '{ depositDetails(startDate: "2024-01-01", endDate: "2024-01-31") { amount } }';
    const { body } = await graphql(gateway.url, read, { provision: createProvision.uuid, cookie });
    expect(body).toEqual({ data: { depositDetails: [] } });

    const seen = await operate(
      `query ($name: String!) { organization(organization: $name) { name hosts underMaintenance fiscalYearStart timeZone currency }
        users(organization: $name) { username } provisions(organization: $name) { label } sessions(organization: $name) { username provision } }`,
      { name },
    );
    expect(seen).toEqual({
      organization: { name, hosts: ['127.0.0.1'], underMaintenance: false, fiscalYearStart: 1, timeZone: 'UTC', currency: null },
      ...{ users: [{ username: 'bea' }], provisions: [{ label: 'page' }] },
      sessions: [{ username: 'bea', provision: createProvision.uuid.slice(0, 8) }],
    });
  });

  test('disables a user, whose session ends, and enables the user again', async () => {
    const { username, name } = organization;
    const cookie = await login(gateway.url, organization.webProvision);
    const ask = async () => (await graphql(gateway.url, '{ viewer { username } }', { provision: organization.webProvision, cookie })).body;
    expect(await ask()).toEqual({ data: { viewer: { username } } });
    const change = (field: string) =>
      operate(`mutation ($name: String!, $username: String!) { ${field}(organization: $name, username: $username) { disabledAt } }`, {
        name,
        username,
      });
    expect(await change('disableUser')).toEqual({ disableUser: { disabledAt: expect.any(String) as string } });
    expect((await ask()).errors).toMatchObject([{ extensions: { code: 'UNAUTHORIZED' } }]);
    expect(await change('enableUser')).toEqual({ enableUser: { disabledAt: null } });
    expect(await login(gateway.url, organization.webProvision)).toMatch(/=/);
  });

  test.each([
    ['mutation ($p: String!) { createUser(organization: "x", username: "x", password: $p) { username } }', { p: ['hunter2'] }],
    ['mutation ($p: String!) { createUser(organization: "x", username: "x", password: $p) { username } }', { p: 7 }],
    ['query ($d: Int!) { usage(days: $d) { path } }', { d: 'many' }],
    ['mutation { disableUser(organization: "x", username: "a\\u0000b") { username } }', {}],
  ])('is told of a wrong value by %s %j, and the log is not', async (query, variables) => {
    const before = gateway.logLines.length;
    const { body } = await send(query.replaceAll('"x"', JSON.stringify(organization.name)), variables);
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual([expect.stringMatching(/^(BAD_USER_INPUT|INVALID_PARAMETERS)$/)]);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(gateway.logLines.slice(before).filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
  });

  test('rotates, binds, expires and revokes a provision', async () => {
    const uuid = await gateway.services.provisions.create({ organization: organization.name, kind: 'API', label: '', grants: [] });
    const provision = uuid.slice(0, 8);
    const isGood = async (each: string) => (await graphql(gateway.url, '{ provision { kind } }', { provision: each })).body.data != null;
    const { rotateProvision } = await operate<{ rotateProvision: { uuid: string } }>(
      'mutation ($provision: String!) { rotateProvision(provision: $provision, overlap: "0") { uuid earlierExpiresAt } }',
      { provision },
    );
    expect([await isGood(uuid), await isGood(rotateProvision.uuid)]).toEqual([false, true]);
    const mutate = (field: string, rest: string) =>
      operate<Record<string, object>>(
        `mutation ($provision: String!) { ${field}(provision: $provision${rest}) { expiresAt addresses label revokedAt privileges } }`,
        {
          provision: rotateProvision.uuid,
        },
      );
    expect(await mutate('labelProvision', ', label: "excel"')).toMatchObject({ labelProvision: { label: 'excel' } });
    expect(await mutate('expireProvision', ', expires: "2999-01-01"')).toMatchObject({
      expireProvision: { expiresAt: '2999-01-01T00:00:00.000Z' },
    });
    expect(await mutate('grantProvision', `, privileges: ["${REPORT_PRIVILEGE}"]`)).toMatchObject({
      grantProvision: { privileges: expect.arrayContaining([REPORT_PRIVILEGE]) as string[] },
    });
    expect(await mutate('bindProvisionToAddresses', ', addresses: ["192.0.2.0/24"]')).toMatchObject({
      bindProvisionToAddresses: { addresses: ['192.0.2.0/24'] },
    });
    expect(await isGood(rotateProvision.uuid)).toBe(false);
    await mutate('bindProvisionToAddresses', ', addresses: []');
    expect(await isGood(rotateProvision.uuid)).toBe(true);
    expect(await mutate('revokeProvision', '')).toMatchObject({ revokeProvision: { revokedAt: expect.any(String) as string } });
    expect(await isGood(rotateProvision.uuid)).toBe(false);
  });

  test('takes a privilege away while another is granted at the same moment', async () => {
    const { name } = organization;
    await gateway.services.users.create({ organization: name, username: 'cleo', password: PASSWORD, grants: [] });
    const change = (field: string, privilege: string) =>
      operate(`mutation { ${field}(organization: "${name}", username: "cleo", privileges: ["${privilege}"]) { username } }`);
    for (let round = 0; round < 10; round++) {
      await change('grantUser', REPORT_PRIVILEGE);
      await change('revokeUserGrant', 'audit_records');
      await Promise.all([change('revokeUserGrant', REPORT_PRIVILEGE), change('grantUser', 'audit_records')]);
      const { privileges } = await gateway.services.users.get(name, 'cleo');
      expect([privileges.includes(REPORT_PRIVILEGE), privileges.includes('audit_records')]).toEqual([false, true]);
    }
  });

  test('is told what is wrong in the words of the commands, and nothing has changed then', async () => {
    const before = await rightsRows();
    const { name } = organization;
    for (const [query, message] of [
      ['mutation { setHosts(organization: "Nobody", hosts: []) { name } }', 'There is no organization "Nobody"'],
      [`mutation { setFiscalYear(organization: "${name}", month: 13) { name } }`, '13 is not a month: give a number from 1 to 12'],
      [
        `mutation { setTimeZone(organization: "${name}", timeZone: "+02:00") { name } }`,
        '"+02:00" is not a time zone: give its IANA name, such as "America/New_York" or "UTC"',
      ],
      [
        `mutation { setCurrency(organization: "${name}", currency: "euro") { name } }`,
        '"euro" is not the code of a currency: give its three letters of ISO 4217, such as "EUR" or "USD"',
      ],
      [`mutation { setFiscalYear(organization: "${name}", month: 0) { name } }`, '0 is not a month: give a number from 1 to 12'],
      ['mutation { setFiscalYear(organization: "Nobody", month: 7) { name } }', 'There is no organization "Nobody"'],
      [
        `mutation { unlockLogin(organization: "${name}", username: "ada", address: "office") { username } }`,
        '"office" is not an IP address',
      ],
      ['{ provisions(organization: "Nobody") { label } }', 'There is no organization "Nobody"'],
      [
        `mutation { deleteOrganization(organization: "${name}", confirm: "other") { lastAnchor } }`,
        `"other" does not confirm the name "${name}": nothing was deleted`,
      ],
      [
        `mutation { createUser(organization: "${name}", username: "eve", password: "short") { username } }`,
        'The password needs at least 12 characters',
      ],
      [
        `mutation { createProvision(organization: "${name}", kind: WEB, privileges: ["${REPORT_PRIVILEGE}"]) { uuid } }`,
        `A WEB provision is public: only an API provision can be granted ${REPORT_PRIVILEGE}`,
      ],
    ] as const) {
      expect((await send(query)).body.errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    for (const [query, code] of [
      ['{ organisations { name } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{', 'GRAPHQL_PARSE_FAILED'],
    ] as const) {
      expect((await send(query)).body.errors).toMatchObject([{ extensions: { code } }]);
    }
    expect(await rightsRows()).toEqual(before);
  });

  test('leaves a row in the audit for each change, with the door and the address, and without a secret', async () => {
    const { name } = organization;
    await operate(`mutation { setMaintenance(organization: "${name}", underMaintenance: true) { name } }`);
    await operate(`mutation { setMaintenance(organization: "${name}", underMaintenance: false) { name } }`);
    expect(await operate(`mutation { setFiscalYear(organization: "${name}", month: 7) { fiscalYearStart } }`)).toEqual({
      setFiscalYear: { fiscalYearStart: 7 },
    });
    expect(await operate(`mutation { setTimeZone(organization: "${name}", timeZone: "Asia/Manila") { timeZone } }`)).toEqual({
      setTimeZone: { timeZone: 'Asia/Manila' },
    });
    expect(await operate(`mutation { setCurrency(organization: "${name}", currency: "PHP") { currency } }`)).toEqual({
      setCurrency: { currency: 'PHP' },
    });
    await operate(`mutation { setPassword(organization: "${name}", username: "ada", password: "${PASSWORD}") }`);
    const rows = await rightsRows();
    expect(rows.filter(({ operation }) => operation === 'organization maintenance').map(({ detail }) => detail)).toEqual(['on', 'off']);
    expect(rows.find(({ operation }) => operation === 'organization fiscal-year')).toMatchObject({ subject: null, detail: 'month 7' });
    expect(rows.find(({ operation }) => operation === 'organization time-zone')).toMatchObject({ subject: null, detail: 'Asia/Manila' });
    expect(rows.find(({ operation }) => operation === 'organization currency')).toMatchObject({ subject: null, detail: 'PHP' });
    expect(rows.find(({ operation }) => operation === 'user password')).toMatchObject({
      subject: 'user ada',
      detail: null,
      address: '127.0.0.1',
    });
    expect(JSON.stringify(rows) + gateway.logLines.join('')).not.toContain(PASSWORD);
    expect(gateway.logLines.join('')).not.toContain(TOKEN);
  });

  test('deletes an organization for good, and keeps the last anchor of its audit', async () => {
    await gateway.services.organizations.create('Gone', []);
    const { deleteOrganization } = await operate<{ deleteOrganization: { lastAnchor: string } }>(
      'mutation { deleteOrganization(organization: "Gone", confirm: "Gone") { lastAnchor } }',
    );
    expect(deleteOrganization.lastAnchor).toMatch(/^2:[0-9a-f]{64}$/);
    const { organizations } = await operate<{ organizations: { name: string }[] }>('{ organizations { name } }');
    expect(organizations.map(({ name }) => name)).not.toContain('Gone');
  });
});
