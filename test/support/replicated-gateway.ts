import { asServing } from './database';
import { createOrganization, importLines, startGateway, v2Line, type TestGateway, type TestOrganization } from './gateway';
import { createReplicatedDatabase, REPLICATED, type ReplicatedDatabase, type TestReplica } from './replicated-database';
import { readScrape, valueOf } from './scrape-reader';
import { until } from './until';

/** The readings of a replica by their outcomes. */
export interface Readings {
  readonly read: number;
  readonly late: number;
  readonly left: number;
}

/** A gateway over a primary and a replica, with an organization whose books have two states. */
export interface ReplicatedGateway {
  readonly gateway: TestGateway;
  readonly database: ReplicatedDatabase;
  readonly replica: TestReplica;
  readonly organization: TestOrganization;
  /** Makes the other state of the books the current one. Resolves to the number of its data version. */
  turn(): Promise<number>;
  stop(): Promise<void>;
}

/** The first name of the donor of every line in a data version. */
export const donorAt = (version: number): string => ['Grace', 'Ada'][version % 2]!;

const linesOf = (version: number): object[] =>
  [1, 2, 3].map((n) =>
    v2Line({ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, donor_id: n, donor_first_name: donorAt(version) }),
  );

/** Starts a primary, a replica and a gateway over both. `front` returns the address by which the gateway reaches the replica. */
export async function startReplicatedGateway(
  settings: Readonly<Record<string, string>> = {},
  {
    front = (url) => Promise.resolve(url),
    replicaSettings = {},
  }: { readonly front?: (url: string) => Promise<string>; readonly replicaSettings?: Readonly<Record<string, string>> } = {},
): Promise<ReplicatedGateway> {
  const database = await createReplicatedDatabase();
  const replica = await database.follow(replicaSettings);
  const replicaUrl = await front(asServing(replica.url));
  // A busy machine answers slowly.
  const patient = { ...REPLICATED, ADMIN_PORT: '0', REPLICA_WAIT_MILLISECONDS: '5000' };
  const gateway = await startGateway({ ...patient, DATABASE_REPLICA_URLS: replicaUrl, ...settings }, database);
  const organization = await createOrganization(gateway.services);
  let version = 0;
  const turn = async (): Promise<number> => {
    await importLines(gateway.services, organization, linesOf(version + 1));
    return ++version;
  };
  await turn();
  await replica.catchUp();
  await until(() => isRead(gateway));
  return { gateway, database, replica, organization, turn, stop: () => gateway.stop() };
}

/** True while the gateway reads its replica. */
export const isRead = async ({ adminUrl }: TestGateway): Promise<boolean> =>
  valueOf(await readScrape(adminUrl), 'gateway_replica_used', { replica: '1' }) === 1;

export async function readingsOf({ adminUrl }: TestGateway): Promise<Readings> {
  const samples = await readScrape(adminUrl);
  const count = (outcome: string): number => valueOf(samples, 'gateway_replica_readings_total', { replica: '1', outcome }) ?? NaN;
  return { read: count('read'), late: count('late'), left: count('left') };
}

/** What operators are told of a replica, in the order of the log. */
export const replicaMessages = ({ logLines }: TestGateway): { readonly msg: string; readonly reason?: string }[] =>
  logLines
    .map((line) => JSON.parse(line) as { msg: string; replica?: number; reason?: string })
    .filter(({ replica }) => replica !== undefined)
    .map(({ msg, replica, reason }) => ({ msg, replica, ...(reason !== undefined && { reason }) }));
export const READ = { msg: 'replica is read', replica: 1 };
/** A function, because trials without Jest load this file too. */
export const away = () => ({ msg: 'replica is set aside', replica: 1, reason: expect.stringContaining('cannot be reached') as string });

const PERIOD = 'start_date=2024-01-01&end_date=2024-12-31';
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const ALL = `depositSummary(${RANGE}) { all { lines byLine { amount } } digest }`;
const GRAPH = 'deposits(first: 5) { totalCount nodes { depositDate transactions(first: 5) { nodes { amount donor { firstName } } } } }';

/** Requests that read the books, by what they ask for. */
export const READINGS = {
  'a v2 report': `/api/v2/deposit_detail_designation_detail_with_contact_info?${PERIOD}`,
  'a file with its totals before it': `/export/deposit-details.csv?${PERIOD}&totals=headers`,
  'a file with its totals after it': `/export/deposit-details.ndjson?${PERIOD}`,
  'a file of a summary': `/export/deposit-summary.json?${PERIOD}&group_by=DESIGNATION`,
  'streamed lines': `{ depositDetails(${RANGE}) { amount donorFirstName } }`,
  'a page of lines': `{ depositDetailsConnection(${RANGE}, first: 2) { nodes { amount donorFirstName } totalCount } }`,
  'records of records': `{ ${GRAPH} }`,
  'totals and a digest': `{ ${ALL} }`,
  'all of them at once': `{ depositDetails(${RANGE}) { donorFirstName } ${GRAPH} ${ALL} dataVersion { number } }`,
} as const satisfies Readonly<Record<string, string>>;

export interface ReadAnswer {
  readonly status: number;
  /** The data version that the answer names. */
  readonly version: number;
  readonly body: string;
}

/** Sends one of the readings, or a GraphQL query. */
export async function read(
  url: string,
  provision: string,
  reading: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReadAnswer> {
  const sent = { Provision: provision, ...headers };
  const answer = reading.startsWith('/')
    ? await fetch(url + reading, { headers: sent })
    : await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...sent },
        body: JSON.stringify({ query: reading }),
      });
  return { status: answer.status, version: Number(answer.headers.get('x-data-version') ?? NaN), body: await answer.text() };
}
