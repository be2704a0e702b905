import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  getNamedType,
  isInputObjectType,
  isListType,
  getNullableType,
  isNonNullType,
  isScalarType,
  type GraphQLArgument,
  type GraphQLInputType,
} from 'graphql';
import { createOrganization, importLines, openSession, v2Line } from '../support/gateway';
import { REPORT } from '../support/long-report';
import { send, startTarget, type Answer, type Finding } from './attack';

/** A payload that runs leaves this row, takes this long, or answers with this number. */
const MARK = 'injected-1f7a';
const SLEEP_SECONDS = 3;
const PRODUCT = [7919, 7907] as const;
const RESULT = String(PRODUCT[0] * PRODUCT[1]);
const PAYLOADS = [
  ...[
    `'; INSERT INTO injected VALUES ('${MARK}'); --`,
    `"; INSERT INTO injected VALUES ('${MARK}'); --`,
    `1; INSERT INTO injected VALUES ('${MARK}'); --`,
  ],
  ...[
    `') ; INSERT INTO injected VALUES ('${MARK}'); --`,
    `$$; INSERT INTO injected VALUES ('${MARK}'); --`,
    `\\'; INSERT INTO injected VALUES ('${MARK}'); --`,
  ],
  ...[
    `' OR '1'='1`,
    `1 OR 1=1`,
    `') OR ('1'='1' --`,
    `%' OR '%'='`,
    `' || pg_sleep(${SLEEP_SECONDS}) || '`,
    `1; SELECT pg_sleep(${SLEEP_SECONDS})`,
  ],
  ...[
    `' UNION SELECT (${PRODUCT[0]}*${PRODUCT[1]})::text --`,
    `' AND 1=CAST((SELECT ${PRODUCT[0]}*${PRODUCT[1]})::text AS int) --`,
    `{{${PRODUCT[0]}*${PRODUCT[1]}}}`,
  ],
  ...[
    `2024-01-01'; DROP TABLE injected; --`,
    `\u02BC; DROP TABLE injected; --`,
    `\\x27; DROP TABLE injected; --`,
    `'/**/OR/**/1=1--`,
    `\0' OR 1=1 --`,
  ],
];

/** The arguments of the schema that take a text, with the ways to write a value into them. */
function toPlaces(argument: Pick<GraphQLArgument, 'name' | 'type'>, depth = 0): ((value: string) => string)[] {
  const write = (type: GraphQLInputType, below: number): ((value: string) => string)[] => {
    const bare = getNullableType(type);
    if (isListType(bare)) return write(bare.ofType, below).map((inner) => (value: string) => `[${inner(value)}]`);
    const named = getNamedType(bare);
    if (isScalarType(named)) return ['Int', 'SafeInt', 'Boolean', 'Float'].includes(named.name) ? [] : [(value) => JSON.stringify(value)];
    if (!isInputObjectType(named) || below > 3) return [];
    return Object.values(named.getFields()).flatMap((field) =>
      write(field.type, below + 1).map((inner) => (value: string) => `{${field.name}: ${inner(value)}}`),
    );
  };
  return write(argument.type, depth).map((inner) => (value: string) => `${argument.name}: ${inner(value)}`);
}

const schema = buildSchema(readFileSync(join(__dirname, '../../schema.graphql'), 'utf8'));
const REQUIRED: Readonly<Record<string, string>> = { startDate: '"2024-01-01"', endDate: '"2024-12-31"', first: '2' };

/** Operations with the value in one argument, for every argument of every field of the roots. Some lack other arguments and are refused. */
function toOperations(value: string): string[] {
  return [schema.getQueryType()!, schema.getMutationType()!].flatMap((root) =>
    Object.values(root.getFields()).flatMap((field) => {
      const below = isScalarType(getNamedType(field.type)) ? '' : ' { __typename }';
      return field.args.flatMap((argument) =>
        toPlaces(argument).map((place) => {
          const others = field.args.filter(
            ({ name, type }) => name !== argument.name && name in REQUIRED && (isNonNullType(type) || name === 'first'),
          );
          const given = [place(value), ...others.map(({ name }) => `${name}: ${REQUIRED[name]!}`)].join(', ');
          return `${root.name === 'Mutation' ? 'mutation ' : ''}{ ${field.name}(${given})${below} }`;
        }),
      );
    }),
  );
}

const FILE_PARAMETERS = [
  'start_date',
  'end_date',
  'include_pending',
  'columns',
  'totals',
  'pending',
  'donor_name',
  'designation',
  'deposit_id',
  'order',
  'group_by',
  'first',
];

/** SQL in every text that a caller may send: arguments of operations, parameters of addresses, headers, paths, names. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget({ PROVISION_ATTEMPTS: '1000000', LOGIN_ATTEMPTS: '10000' });
  try {
    const organization = await createOrganization(target.services);
    const other = await createOrganization(target.services);
    await importLines(target.services, organization, [v2Line()]);
    await importLines(target.services, other, [v2Line({ donor_last_name: 'CanaryOfOther' })]);
    await target.database.client.query('CREATE TABLE injected (mark text)');
    const { url } = target.serve;
    const { apiProvision, webProvision } = organization;
    const bearer = await openSession(url, webProvision);
    const faults: string[] = [];
    let asked = 0;
    const judge = (place: string, { status, ms, body }: Answer, payload: string): void => {
      asked++;
      const told = body.replaceAll(payload, '');
      if (status >= 500) faults.push(`${place}: ${status}`);
      if (ms > SLEEP_SECONDS * 1000) faults.push(`${place}: ${ms.toFixed(0)} ms`);
      if (
        told.includes(RESULT) ||
        told.includes('CanaryOfOther') ||
        /DATA_SOURCE_QUERY_FAILED|Data source query failed|syntax error at|INTERNAL_SERVER/.test(told)
      )
        faults.push(`${place} with ${payload}: ${told.slice(0, 150)}`);
    };
    const headers = { Provision: apiProvision };
    for (const payload of PAYLOADS) {
      const encoded = encodeURIComponent(payload);
      const plain = /^[\x20-\x7e]*$/.test(payload) ? payload : encoded;
      const sent: (readonly [string, Promise<Answer>])[] = [
        ...['start_date', 'end_date', 'include_pending', encoded].map(
          (name) =>
            [`v2 ${name}`, send(`${url}${REPORT}?start_date=2024-01-01&end_date=2024-12-31&${name}=${encoded}`, { headers })] as const,
        ),
        ...['deposit-details', 'deposit-summary'].flatMap((file) =>
          FILE_PARAMETERS.map(
            (name) =>
              [
                `file ${name}`,
                send(`${url}/export/${file}.csv?start_date=2024-01-01&end_date=2024-12-31&${name}=${encoded}`, { headers }),
              ] as const,
          ),
        ),
        ...[`/reports/${encoded}.csv`, `/export/receipts/${encoded}`, `/api/v2/${encoded}`, `/${encoded}`].map(
          (path) => [path.slice(0, 12), send(url + path, { headers })] as const,
        ),
        ['the header Provision', send(`${url}/api/v2/authenticated_test_system`, { headers: { Provision: plain } })],
        [
          'the header Authorization',
          send(`${url}/api/v2/authenticated_test_session`, { headers: { Provision: webProvision, Authorization: `Bearer ${plain}` } }),
        ],
        [
          'the cookie',
          send(`${url}/api/v2/authenticated_test_session`, {
            headers: { Provision: webProvision, Cookie: `deposit-gateway-session=${encoded}` },
          }),
        ],
        ['the header Host', send(`${url}/api/v2/authenticated_test_system`, { headers: { Provision: apiProvision, Host: plain } })],
        [
          'If-None-Match',
          send(`${url}${REPORT}?start_date=2024-01-01&end_date=2024-12-31`, {
            headers: { Provision: apiProvision, 'If-None-Match': plain },
          }),
        ],
      ];
      for (const [place, answer] of sent) judge(place, await answer, payload);
      const as = { Provision: webProvision, Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' };
      for (const query of toOperations(payload))
        judge(query, await send(`${url}/graphql`, { method: 'POST', headers: as, body: JSON.stringify({ query }) }), payload);
    }
    const { rows } = await target.database.client.query<{ count: number }>('SELECT count(*)::int AS count FROM injected');
    return [
      {
        name: `${PAYLOADS.length} payloads in ${asked / PAYLOADS.length} places: those that ran, or failed in the database`,
        figure: `${faults.length + rows[0]!.count} of ${asked} (goal 0)${faults
          .slice(0, 3)
          .map((fault) => `; ${fault}`)
          .join('')}`,
        holds: faults.length === 0 && rows[0]!.count === 0 && asked > 2000,
      },
    ];
  } finally {
    await target.stop();
  }
}
