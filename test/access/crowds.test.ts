import { randomUUID } from 'node:crypto';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { createOrganization, login, startGateway, type TestGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const store = openGateway({ countsStatements: true, loggedIn: true });
const { organization } = store;
let other: TestOrganization;
let proxy: DatabaseProxy;
let gateway: TestGateway;

beforeAll(async () => {
  other = await createOrganization(store.services);
  proxy = await startDatabaseProxy(store.database.url);
  gateway = await startGateway({ DATABASE_URL: proxy.url });
});
afterAll(async () => {
  await gateway.stop();
  await proxy.close();
});

interface Credentials {
  readonly provision: string;
  readonly cookie?: string;
}

async function ask(kind: 'system' | 'session', { provision, cookie }: Credentials): Promise<string> {
  const headers = { Provision: provision, ...(cookie !== undefined && { Cookie: cookie }) };
  const response = await fetch(`${gateway.url}/api/v2/authenticated_test_${kind}`, { headers });
  return `${response.status} ${await response.text()}`;
}

/** A part of the statement that reads credentials, which has no name behind a pooler. */
const FINDING = 's.provision_id AS session_provision_id';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

test('callers who come at the same time share statements, and each gets the answer of its own credentials', async () => {
  const callers = [
    ['system', { provision: organization.apiProvision }],
    ['system', { provision: other.apiProvision.toUpperCase() }],
    ['system', { provision: organization.webProvision }],
    ['system', { provision: UNKNOWN }],
    ['session', { provision: organization.webProvision, cookie: store.cookie }],
    ['session', { provision: other.webProvision, cookie: store.cookie }],
    ['session', { provision: organization.webProvision, cookie: store.cookie.replace(/=..../, '=AAAA') }],
    ['session', { provision: other.webProvision, cookie: await login(store.url, other.webProvision) }],
    ['session', { provision: organization.webProvision }],
  ] as const;
  const alone: string[] = [];
  for (const [kind, credentials] of callers) alone.push(await ask(kind, credentials));
  expect(alone.filter((answer) => answer.startsWith('200'))).toHaveLength(5);

  const crowd = Array.from({ length: 20 }, () => callers).flat();
  const before = proxy.statements();
  // The first statement is held up until later requests have been answered, so that all of the crowd has arrived.
  let asking: Promise<string[]> | undefined;
  proxy.before(FINDING, async () => {
    asking = Promise.all(crowd.map(([kind, credentials]) => ask(kind, credentials)));
    proxy.before(FINDING, async () => {
      for (let round = 0; round < 3; round++) await Promise.all(crowd.map(() => fetch(`${gateway.url}/live`)));
    });
    await fetch(`${gateway.url}/live`);
  });
  await ask(...callers[0]);
  expect(await asking).toEqual(crowd.map((_caller, index) => alone[index % callers.length]));
  // The first caller's statement, two at most that began while the crowd arrived, and one or two for all others.
  expect(proxy.statements() - before).toBeLessThan(10);
});

test('more different callers than one statement reads each get their own answer', async () => {
  const length = 250;
  const uuids = Array.from({ length }, () => randomUUID());
  const isGranted = (index: number): boolean => index % 3 !== 0;
  await store.database.client.query(
    `WITH crowd AS (
       INSERT INTO provision (organization_id, kind, label, privileges)
       SELECT $1, 'API', uuid, CASE WHEN granted THEN '{authenticated_test_system}' ELSE '{}' END::text[]
       FROM unnest($2::text[], $3::boolean[]) AS crowd (uuid, granted) RETURNING id, label
     )
     INSERT INTO provision_key (uuid_hash, link_hash, provision_id, first_characters)
     SELECT sha256(convert_to(label, 'UTF8')), sha256(convert_to('link' || label, 'UTF8')), id, left(label, 8) FROM crowd`,
    [organization.id, uuids, uuids.map((_uuid, index) => isGranted(index))],
  );
  // Every fifth caller has a provision that there is not.
  const provisions = uuids.map((uuid, index) => (index % 5 === 0 ? uuid.replace(/^.{8}/, '00000000') : uuid));
  let asking: Promise<string[]> | undefined;
  proxy.before(FINDING, async () => {
    asking = Promise.all(provisions.map((provision) => ask('system', { provision })));
    proxy.before(FINDING, async () => {
      for (let round = 0; round < 3; round++) await Promise.all(provisions.map(() => fetch(`${gateway.url}/live`)));
    });
    await fetch(`${gateway.url}/live`);
  });
  const before = proxy.statements();
  await ask('system', { provision: organization.apiProvision });
  const answers = await asking!;
  expect(answers.map((answer) => answer.replace(/^.*("error":"[^"]*"|"provision":"[^"]*").*$/, '$1'))).toEqual(
    provisions.map((provision, index) => {
      if (index % 5 === 0) return '"error":"Invalid provision"';
      return isGranted(index) ? `"provision":"${provision}"` : '"error":"Privilege to perform the action was not found"';
    }),
  );
  expect(proxy.statements() - before).toBeLessThan(20);
});

test('a broken session store refuses those who bring a session, and nobody beside them', async () => {
  await store.database.client.query('ALTER TABLE session RENAME TO session_away');
  try {
    const [system, session] = await Promise.all([
      ask('system', { provision: organization.apiProvision }),
      ask('session', { provision: organization.webProvision, cookie: store.cookie }),
    ]);
    expect(system).toMatch(/^200/);
    expect(session).toMatch(/^422.*Establishing session failed/);
  } finally {
    await store.database.client.query('ALTER TABLE session_away RENAME TO session');
  }
});
