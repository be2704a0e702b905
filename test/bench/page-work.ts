import { postgraphile, toPost, type Contender } from './contenders';
import type { BenchDatabase } from './database';
import { HttpClient, type HttpRequest } from './http-client';
import { startServer, type ServerProcess } from './processes';
import { measureRequests, type Answerer } from './request-work';
import type { Result } from './results';

interface PageWork {
  readonly name: string;
  /** The first day of the page's deposits. */
  readonly startDate: string;
  readonly clients: number;
}

interface PageBench {
  readonly database: BenchDatabase;
  readonly gateway: ServerProcess;
  /** Those of the reports; PostGraphile is measured where it is one of them. */
  readonly contenders: readonly Contender[];
  readonly rounds: number;
}

/** Answers in one round, one after the other, of each client. */
const REPEATS = 30;

/** The fields of the page as a server names them, each with its arguments and with the gateway's name as its alias. */
interface Names {
  readonly parameters: string;
  /** The books' own id of a kind of record, by the name `id`. */
  readonly id: (kind: string) => string;
  readonly deposits: string;
  readonly transactions: string;
  readonly allocations: string;
  readonly designation: string;
  readonly donor: string;
}

const OURS: Names = {
  parameters: '$startDate: LocalDate!',
  id: (kind) => `id: ${kind}Id`,
  deposits: 'deposits(first: 50, startDate: $startDate, pending: WITH)',
  transactions: 'transactions(first: 20)',
  allocations: 'allocations(first: 10)',
  designation: 'designation',
  donor: 'donor',
};

const DEPOSITS = 'allDeposits(condition: { organizationId: $organizationId }, orderBy: [DEPOSIT_DATE_ASC, ROW_ID_ASC]';
const POSTGRAPHILE: Names = {
  parameters: '$organizationId: Int!, $after: Cursor',
  id: () => 'id: rowId',
  deposits: `deposits: ${DEPOSITS}, first: 50, after: $after)`,
  transactions: 'transactions: transactionsByOrganizationIdAndDepositId(first: 20, orderBy: ROW_ID_ASC)',
  allocations: 'allocations: allocationsByOrganizationIdAndTransactionId(first: 10, orderBy: ROW_ID_ASC)',
  designation: 'designation: designationByOrganizationIdAndDesignationId',
  donor: 'donor: donorByOrganizationIdAndDonorId',
};

/** Deposits, their transactions with the donors, the allocations of those with the designations. */
const toQuery = ({ parameters, id, deposits, transactions, allocations, designation, donor }: Names): string =>
  `query (${parameters}) { ${deposits} { nodes { ${id('deposit')} depositDate status
    ${transactions} { nodes { ${id('transaction')} transactionDate amount feeAmount status accountType paymentType mainMemo
      ${donor} { ${id('donor')} firstName lastName }
      ${allocations} { nodes { ${id('allocation')} amount memo ${designation} { ${id('designation')} name } } } } } } } }`;

/** Measures a page of records four lists deep, ours and PostGraphile's in turn, after both have given the same one. */
export async function measurePages(work: PageWork, { database, gateway, contenders, rounds }: PageBench): Promise<Result[]> {
  const { startDate } = work;
  const { id: organizationId, apiProvision } = database.organization;
  const clients = Array.from({ length: work.clients }, () => new HttpClient());
  const mine = toPost(`${gateway.url}/graphql`, toQuery(OURS), { startDate }, { Provision: apiProvision });
  const answerers: Answerer[] = [{ name: 'ours, GraphQL', request: mine }];
  const isWanted = contenders.some(({ name }) => name === postgraphile.name);
  const server = isWanted
    ? await startServer(postgraphile.command, [...postgraphile.words, 'tables'], { DATABASE_URL: database.url })
    : undefined;
  try {
    const page = await readPage(mine);
    if (server) {
      const url = server.url + postgraphile.path;
      const after = await findPlace(url, organizationId, startDate);
      const request = toPost(url, toQuery(POSTGRAPHILE), { organizationId, after });
      if ((await readPage(request)) === page) answerers.push({ name: postgraphile.name, request });
      else console.log(`${work.name}: ${postgraphile.name} is left out: its page is not that of ours`);
    }
    return await measureRequests({ name: work.name, rounds, repeats: REPEATS }, answerers, clients);
  } finally {
    for (const client of clients) client.close();
    await server?.stop();
  }
}

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
}

async function read(request: HttpRequest): Promise<unknown> {
  const client = new HttpClient();
  const { data, errors } = (await client.readJson(request)) as Answer;
  client.close();
  if (!data || errors) throw new Error(errors?.[0]?.message ?? 'no data');
  return data;
}

/** The page as text; numbers as theirs, since one server's numbers are another's strings. */
const readPage = async (request: HttpRequest): Promise<string> =>
  JSON.stringify(await read(request), (_, value: unknown) => (typeof value === 'number' ? String(value) : value));

/** PostGraphile's cursor of the last deposit before a day; its conditions know no ranges. */
async function findPlace(url: string, organizationId: number, startDate: string): Promise<string | undefined> {
  const query = `query ($organizationId: Int!) { deposits: ${DEPOSITS}) { edges { cursor node { depositDate } } } }`;
  const { deposits } = (await read(toPost(url, query, { organizationId }))) as {
    readonly deposits: { readonly edges: readonly { readonly cursor: string; readonly node: { readonly depositDate: string } }[] };
  };
  return deposits.edges.findLast(({ node }) => node.depositDate < startDate)?.cursor;
}
