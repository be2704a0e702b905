import { createHash } from 'node:crypto';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createOrganization, graphql, importLines, openSession, PASSWORD, v2Line } from '../support/gateway';
import { REPORT } from '../support/long-report';
import { send, startTarget, type Finding, type Target } from './attack';

const LOGINS = 1000;
const TOGETHER = 10;
const RANGE = 'start_date=2024-01-01&end_date=2024-12-31';
/** The tables of the books, in which donors stand. */
const BOOKS = ['donor', 'deposit_line', 'transaction', 'allocation'];
const PERSONAL = [
  'donor_first_name',
  'donor_last_name',
  'address1',
  'address2',
  'address3',
  'city',
  'state',
  'zip',
  'phone',
  'email_address',
  'main_memo',
  'designation_memo',
];
const canaryOf = (field: string): string => `Canary-${createHash('md5').update(field).digest('hex').slice(0, 12)}`;
const LINE = v2Line(Object.fromEntries(PERSONAL.map((field) => [field, canaryOf(field)])));
const CANARIES = PERSONAL.map(canaryOf);

/** The credentials of the day, under names that a finding may tell. */
type Secrets = Map<string, string>;

/** Logins, readings over every door, links, errors with donors in them, and changes of rights. Returns the secrets that were used. */
async function workForADay({ serve, services }: Target): Promise<Secrets> {
  const secrets: Secrets = new Map([['the password', PASSWORD]]);
  const organization = await createOrganization(services);
  await importLines(services, organization, [LINE]);
  secrets.set('the API provision', organization.apiProvision).set('the WEB provision', organization.webProvision);
  for (let count = 0; count < LOGINS; count += TOGETHER) {
    const tokens = await Promise.all(Array.from({ length: TOGETHER }, () => openSession(serve.url, organization.webProvision)));
    for (const [n, token] of tokens.entries()) secrets.set(`token ${count + n}`, token);
  }
  const bearer = secrets.get('token 0')!;
  const callers: Record<string, string>[] = [
    { Provision: organization.apiProvision },
    { Provision: organization.webProvision, Authorization: `Bearer ${bearer}` },
  ];
  const post = (headers: Record<string, string>, body: object) =>
    send(`${serve.url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const lines = '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { donorLastName } }';
  for (const headers of callers) {
    for (const path of [
      `${REPORT}?${RANGE}`,
      `/export/deposit-details.csv?${RANGE}`,
      `/export/deposit-details.csv?${RANGE}&donor_name=${CANARIES[1]!}`,
    ])
      await send(serve.url + path, { headers });
    for (const canary of CANARIES) {
      await send(`${serve.url}${REPORT}?start_date=${canary}`, { headers });
      await send(`${serve.url}/nothing?name=${canary}`, {
        headers: { ...headers, 'X-Donor': canary, Referer: `http://localhost/${canary}` },
      });
      await post(headers, {
        query: `query ${canary.replaceAll('-', '_')} { donors(first: 5, search: "${canary}") { nodes { lastName } } }`,
      });
      await post(headers, { query: `{ ${canary} }` });
      await post(headers, {
        query: 'query ($name: String!) { donors(filter: { name: $name }) { nodes { id } } }',
        variables: { name: canary },
      });
      await post(headers, {
        query: 'mutation ($u: String!) { login(input: { username: $u, password: "x" }) { viewer { username } } }',
        variables: { u: canary },
      });
    }
    await post(headers, { query: lines });
    const { body } = await graphql(serve.url, 'query ($query: String!) { reportFile(query: $query) { downloadUrl } }', {
      ...{ provision: headers.Provision!, variables: { query: lines } },
      ...('Authorization' in headers && { bearer }),
    });
    const link = (body.data?.reportFile as { downloadUrl: string }).downloadUrl;
    secrets.set(`the signature of a link of ${headers.Provision!.slice(0, 4)}`, /signature=([\w-]+)/.exec(link)![1]!);
    await send(serve.url + link);
  }
  await services.users.create({
    organization: organization.name,
    username: 'grace',
    password: `${PASSWORD} of grace`,
    grants: [REPORT_PRIVILEGE],
  });
  secrets.set("grace's password", `${PASSWORD} of grace`);
  return secrets;
}

/** Every way in which a text may stand in a dump: as it is, in hex, in base64, and as the bytes that it stands for. */
function formsOf(secret: string): string[] {
  const bytes = /^[0-9a-f-]{36}$/.test(secret) ? Buffer.from(secret.replaceAll('-', ''), 'hex') : Buffer.from(secret, 'base64url');
  const raw = Buffer.from(secret);
  return [
    secret,
    raw.toString('hex'),
    raw.toString('base64'),
    ...(bytes.length >= 16 ? [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')] : []),
  ];
}

async function dump({ database }: Target): Promise<Map<string, string>> {
  const { rows } = await database.client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition`,
  );
  const tables = new Map<string, string>();
  for (const { name } of rows) {
    const { rows: texts } = await database.client.query<{ text: string | null }>(
      `SELECT string_agg(to_jsonb(t)::text, E'\\n') AS text FROM "${name}" t`,
    );
    tables.set(name, texts[0]!.text ?? '');
  }
  return tables;
}

/** Tries every value of the dump as a provision, as a token and as a caller of a link. Resolves to the number that opened something. */
async function tryValues(
  { serve }: Target,
  tables: ReadonlyMap<string, string>,
  provision: string,
): Promise<{ tried: number; opened: number }> {
  const values = new Set<string>();
  for (const name of ['provision', 'provision_key', 'session', 'user', 'link_key', 'known_address']) {
    for (const [, text] of (tables.get(name) ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
      const hex = /^\\\\x([0-9a-f]+)$/.exec(text!)?.[1];
      if (hex === undefined) continue;
      values.add(Buffer.from(hex, 'hex').toString('base64url')).add(hex.slice(0, 43));
      values.add(hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
    }
  }
  const chosen = [...values].slice(0, 3000);
  let opened = 0;
  for (const value of chosen) {
    const answers = await Promise.all([
      send(`${serve.url}/api/v2/authenticated_test_system`, { headers: { Provision: value } }),
      send(`${serve.url}/api/v2/authenticated_test_session`, {
        headers: { Provision: provision, Cookie: `deposit-gateway-session=${value}` },
      }),
    ]);
    opened += answers.filter(({ status }) => status === 200).length;
  }
  return { tried: chosen.length * 2, opened };
}

/** A day's work of the gateway, then everything that it left: the database and the log. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ LOGIN_ATTEMPTS: '10000', PROVISION_ATTEMPTS: '1000000' });
  try {
    const secrets = await workForADay(target);
    const tables = await dump(target);
    const log = target.serve.output();
    const places = new Map([...tables, ['the log', log]]);
    const hits: string[] = [];
    const donors: string[] = [];
    for (const [place, text] of places) {
      const lower = text.toLowerCase();
      for (const [name, secret] of secrets)
        if (formsOf(secret).some((form) => text.includes(form) || lower.includes(form.toLowerCase()))) hits.push(`${name} in ${place}`);
      if (!BOOKS.includes(place))
        for (const [n, canary] of CANARIES.entries()) if (text.includes(canary)) donors.push(`${PERSONAL[n]!} in ${place}`);
    }
    const { tried, opened } = await tryValues(target, tables, secrets.get('the WEB provision')!);
    const inBooks = CANARIES.filter((canary) => BOOKS.some((name) => tables.get(name)!.includes(canary))).length;
    const lines = log.split('\n').length;
    return [
      {
        name: `${secrets.size} credentials of a day, in any form, in ${tables.size} tables and ${lines} log lines`,
        figure: `${hits.length} hits (goal 0)${hits
          .slice(0, 3)
          .map((hit) => `; ${hit}`)
          .join('')}`,
        holds: hits.length === 0,
      },
      {
        name: 'values of the dump that open something',
        figure: `${opened} of ${tried} tries (goal 0)`,
        holds: opened === 0 && tried > LOGINS,
      },
      {
        name: 'texts of donors outside the books and in the log',
        figure: `${donors.length} of ${CANARIES.length}, in ${lines} log lines (goal 0)${donors
          .slice(0, 5)
          .map((hit) => `; ${hit}`)
          .join('')}`,
        holds: donors.length === 0 && inBooks === CANARIES.length && lines > LOGINS,
      },
    ];
  } finally {
    await target.stop();
  }
}
