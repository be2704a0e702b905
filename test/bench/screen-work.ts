import { login } from '../support/gateway';
import { fields, postgraphile, toCamelCase, toPost, type Contender, type Period } from './contenders';
import type { BenchDatabase } from './database';
import { HttpClient, type HttpRequest } from './http-client';
import { startServer, type ServerProcess } from './processes';
import { measureRequests } from './request-work';
import type { Result } from './results';

/** A screen of an app: one operation of the gateway, and PostGraphile's for the same values in the same order. */
export interface Screen {
  readonly ours: string;
  readonly theirs: string;
  /** The values of variables that both operations share. */
  readonly variables: object;
}

interface ScreenWork {
  readonly name: string;
  readonly screen: Screen;
  /** Each has a connection of its own. */
  readonly users: number;
}

interface ScreenBench {
  readonly database: BenchDatabase;
  readonly gateway: ServerProcess;
  /** It keeps no totals. */
  readonly cold: ServerProcess;
  /** Those of the reports; PostGraphile is measured where it is one of them. */
  readonly contenders: readonly Contender[];
  readonly rounds: number;
}

/** Answers in one round: of a single user, and of each of several. */
const REPEATS = { alone: 40, together: 10 } as const;

const PERIOD = '$startDate: LocalDate!, $endDate: LocalDate!';
const RANGE = 'startDate: $startDate, endDate: $endDate';
const THEIR_PERIOD = '$organizationId: Int!, $startDate: Date!, $endDate: Date!';
const THEIR_RANGE = 'organizationId: $organizationId, startDate: $startDate, endDate: $endDate';
const LINE = `nodes { ${fields.map(toCamelCase).join(' ')} } pageInfo { hasNextPage }`;

const linesOf = (ours: string, theirs: string, theirsBeside: string, period: Period): Screen => ({
  ours: `query (${PERIOD}) { depositDetailsConnection(${RANGE}, first: 50) { ${LINE} ${ours} } }`,
  theirs: `query (${THEIR_PERIOD}) {
    benchApiDepositDetails(${THEIR_RANGE}, includePending: false, first: 50) { ${LINE} ${theirs} } ${theirsBeside} }`,
  variables: period,
});

/** 50 lines of a period. */
export const pageOfLines = (period: Period): Screen => linesOf('', '', '', period);

/** The same with the number of all lines. */
export const pageWithCount = (period: Period): Screen => linesOf('totalCount', 'totalCount', '', period);

/** The same with the totals of each fund. */
export const pageWithSummary = (period: Period): Screen =>
  linesOf(
    `totalCount summary(groupBy: [DESIGNATION]) { groups(first: 1000) { nodes {
      key { designationId designation } all { lines transactions byAllocation { amount } } } } }`,
    'totalCount',
    `benchApiDesignationTotals(${THEIR_RANGE}) { nodes { designationId designation lines transactions amount } }`,
    period,
  );

const DONOR = 'firstName lastName address1 address2 address3 city state zip phone email';
const GIFT = 'transactionDate amount feeAmount status accountType paymentType mainMemo';

/** A donor with the newest gifts, their deposits, and the totals of a period. */
export const donorPage = (donorId: number, period: Period): Screen => ({
  ours: `query ($donorId: SafeInt!, ${PERIOD}) { donor(donorId: $donorId) { donorId ${DONOR}
    transactions(first: 20, pending: WITH, orderBy: { field: DATE, direction: DESC }) {
      nodes { transactionId ${GIFT} deposit { depositId depositDate status } } pageInfo { hasNextPage } }
    totals(${RANGE}) { lines transactions byAllocation { amount } } } }`,
  theirs: `query ($donorId: BigInt!, ${THEIR_PERIOD}) { donorByOrganizationIdAndRowId(organizationId: $organizationId, rowId: $donorId) {
      rowId ${DONOR}
      transactionsByOrganizationIdAndDonorId(first: 20, orderBy: [TRANSACTION_DATE_DESC, ROW_ID_DESC]) {
        nodes { rowId ${GIFT} depositByOrganizationIdAndDepositId { rowId depositDate status } } pageInfo { hasNextPage } } }
    benchApiDonorTotals(${THEIR_RANGE}, donorId: $donorId) { nodes { lines transactions amount } } }`,
  variables: { donorId, ...period },
});

/** 50 deposits with the first of their gifts. */
export const depositsWithGifts: Screen = {
  ours: `{ deposits(first: 50, pending: WITH) { nodes { depositId depositDate status
    transactions(first: 5) { nodes { transactionId ${GIFT} } } } pageInfo { hasNextPage } } }`,
  theirs: `query ($organizationId: Int!) {
    allDeposits(condition: { organizationId: $organizationId }, orderBy: [DEPOSIT_DATE_ASC, ROW_ID_ASC], first: 50) {
      nodes { rowId depositDate status
        transactionsByOrganizationIdAndDepositId(first: 5, orderBy: ROW_ID_ASC) { nodes { rowId ${GIFT} } } } pageInfo { hasNextPage } } }`,
  variables: {},
};

/**
 * Measures a screen of logged-in users against PostGraphile, which checks nobody, after all have answered the same values. `ours, cold`
 * is a gateway that keeps no totals.
 */
export async function measureScreen(work: ScreenWork, { database, gateway, cold, contenders, rounds }: ScreenBench): Promise<Result[]> {
  const { name, screen, users } = work;
  const { id: organizationId, webProvision } = database.organization;
  const ask = async (server: ServerProcess): Promise<HttpRequest> => {
    const headers = { Provision: webProvision, Cookie: await login(server.url, webProvision) };
    return toPost(`${server.url}/graphql`, screen.ours, screen.variables, headers);
  };
  const isWanted = contenders.some((contender) => contender.name === postgraphile.name);
  const peer = isWanted
    ? await startServer(postgraphile.command, [...postgraphile.words, 'tables'], { DATABASE_URL: database.url })
    : undefined;
  const clients = Array.from({ length: users }, () => new HttpClient());
  try {
    const answerers: readonly { readonly name: string; readonly request: HttpRequest }[] = [
      { name: 'ours', request: await ask(gateway) },
      { name: 'ours, cold', request: await ask(cold) },
      ...(peer
        ? [
            {
              name: postgraphile.name,
              request: toPost(peer.url + postgraphile.path, screen.theirs, { ...screen.variables, organizationId }),
            },
          ]
        : []),
    ];
    const [expected, ...others] = await Promise.all(answerers.map(({ request }) => readValues(clients[0]!, request)));
    const wrong = answerers.slice(1).find((_answerer, index) => others[index] !== expected);
    if (wrong) throw new Error(`${name}: the values of ${wrong.name} are not ours`);
    return await measureRequests({ name, rounds, repeats: users === 1 ? REPEATS.alone : REPEATS.together }, answerers, clients);
  } finally {
    for (const client of clients) client.close();
    await peer?.stop();
  }
}

/** The values of an answer in their order, without the names of the fields. Numbers are text, since one server's numbers are another's text. */
async function readValues(client: HttpClient, request: HttpRequest): Promise<string> {
  const { data, errors } = (await client.readJson(request)) as {
    readonly data?: unknown;
    readonly errors?: readonly { message: string }[];
  };
  if (!data || errors) throw new Error(errors?.[0]?.message ?? 'no data');
  return JSON.stringify(valuesOf(data));
}

const valuesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesOf) : [String(value)];
