import { randomUUID } from 'node:crypto';
import { graphql } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const ATTEMPTS = 20;
const SYSTEM = '/api/v2/authenticated_test_system';
const INVALID = [422, '{"errors":[{"error":"Invalid provision","status":422}]}'];

const gateway = openGateway({ settings: { TRUST_PROXY: '127.0.0.1', PROVISION_ATTEMPTS: String(ATTEMPTS) }, forEachTest: true });
const { organization } = gateway;

async function tryAt(address: string, provision: string): Promise<[number, string]> {
  const response = await fetch(gateway.url + SYSTEM, { headers: { Provision: provision, 'X-Forwarded-For': address } });
  return [response.status, await response.text()];
}
const isGood = async (address: string, provision: string): Promise<boolean> => (await tryAt(address, provision))[0] === 200;
const ask = (address: string, provision: string, path = '/graphql') =>
  fetch(gateway.url + path, {
    ...(path === '/graphql' && { method: 'POST', body: '{"query":"{ __typename }"}' }),
    headers: { Provision: provision, 'X-Forwarded-For': address, 'Content-Type': 'application/json' },
  });
async function guess(address: string, count = ATTEMPTS): Promise<void> {
  for (let n = 0; n < count; n++) expect(await tryAt(address, randomUUID())).toEqual(INVALID);
}

describe('a caller who guesses provisions', () => {
  test('finds none any more after so many unknown ones in a minute, and v2 answers the same all the time', async () => {
    await guess('198.51.100.1', ATTEMPTS - 1);
    expect(await isGood('198.51.100.1', organization.webProvision)).toBe(true);
    await guess('198.51.100.1', 1);
    expect(await tryAt('198.51.100.1', organization.apiProvision)).toEqual(INVALID);
  });

  test('is told so by GraphQL and by files', async () => {
    await guess('198.51.100.1');
    const graphqlAnswer = await ask('198.51.100.1', organization.apiProvision);
    expect([graphqlAnswer.status, Number(graphqlAnswer.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await graphqlAnswer.json()).toMatchObject({ errors: [{ extensions: { code: 'TOO_MANY_PROVISIONS' } }] });
    const file = await ask('198.51.100.1', organization.apiProvision, '/export/deposit-details.csv');
    expect([file.status, await file.json()]).toEqual([
      429,
      { errors: [{ error: 'Too many unknown provisions from this address', status: 429 }] },
    ]);
  });

  test('gains nothing by guesses at once, nor by another address of the same IPv6 network', async () => {
    const guesses = Array.from({ length: ATTEMPTS * 5 }, (_, n) => ask(`2001:db8:0:1::${n.toString(16)}`, randomUUID()));
    const answers = await Promise.all(guesses.map(async (answer) => (await answer).status));
    expect(answers.filter((status) => status !== 429)).toHaveLength(ATTEMPTS);
    expect(await isGood('2001:db8:0:1::ffff', organization.apiProvision)).toBe(false);
    expect(await isGood('2001:db8:0:2::1', organization.apiProvision)).toBe(true);
  });

  test('stops nobody at other addresses, and no application that works at the same one', async () => {
    expect(await isGood('198.51.100.1', organization.apiProvision)).toBe(true);
    await guess('198.51.100.1');
    expect(await isGood('198.51.100.1', organization.apiProvision)).toBe(true);
    expect(await isGood('198.51.100.2', organization.webProvision)).toBe(true);
  });
});

test('many applications that start at once at one address are all let in', async () => {
  const { provisions } = gateway.services;
  const created = await Promise.all(
    Array.from({ length: ATTEMPTS * 3 }, () => provisions.create({ organization: organization.name, kind: 'WEB', label: '', grants: [] })),
  );
  const answers = await Promise.all(created.map((provision) => isGood('198.51.100.1', provision)));
  expect(answers.filter((good) => !good)).toEqual([]);
});

test('a finder of a provision that is bound to other addresses learns no more of it than of one that does not exist', async () => {
  const { provisions } = gateway.services;
  const bound = await provisions.create({
    ...{ organization: organization.name, kind: 'API' as const, label: '', grants: [] },
    bounds: { addresses: ['192.0.2.0/24'] },
  });
  const codesOf = async (address: string, first: string): Promise<unknown[]> => {
    const sent = [first, ...Array.from({ length: ATTEMPTS }, () => randomUUID()), first, randomUUID()];
    const codes: unknown[] = [];
    for (const provision of sent) {
      const { errors } = (await (await ask(address, provision)).json()) as { errors: { extensions: { code: string } }[] };
      codes.push(errors[0]!.extensions.code);
    }
    return codes;
  };
  expect(await codesOf('198.51.100.1', bound)).toEqual(await codesOf('198.51.100.2', randomUUID()));
  expect(await isGood('192.0.2.1', bound)).toBe(true);
});

test('a revoked or expired provision is no guess: an application that still sends it stops no other', async () => {
  const { provisions } = gateway.services;
  const [revoked, rotated] = await Promise.all(
    [1, 2].map(() => provisions.create({ organization: organization.name, kind: 'WEB', label: '', grants: [] })),
  );
  await provisions.revoke(revoked!);
  await provisions.rotate(rotated!, 0);
  for (let n = 0; n < ATTEMPTS; n++) for (const each of [revoked!, rotated!]) expect(await tryAt('198.51.100.1', each)).toEqual(INVALID);
  expect(await isGood('198.51.100.1', organization.apiProvision)).toBe(true);
  const { body } = await graphql(gateway.url, '{ __typename }', { provision: organization.webProvision });
  expect(body).toEqual({ data: { __typename: 'Query' } });
});
