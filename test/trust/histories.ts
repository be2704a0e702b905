import { request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { BookModel } from '../support/book-model';
import { Chance, KEEPING } from '../support/book-steps';
import { createOrganization, importLines, type TestOrganization } from '../support/gateway';
import { takeStep } from '../support/step-runner';
import { startTarget, type Finding, type Target } from './attack';

/** Sequences of imports that are tried. `LINE_HISTORIES=1000` tries more. */
const SEQUENCES = Number(process.env.LINE_HISTORIES ?? 50);
const READERS = 20;

const PERIOD = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const RANGE = 'start_date=2024-01-01&end_date=2024-12-31&include_pending=true';
const LINE = 'allocationId depositDate amount donorLastName designation mainMemo';
const COLUMNS = 'allocation_id,deposit_date,amount,donor_last_name,designation,main_memo';

/** A line of the books: what every door tells of it. */
interface LineRow {
  readonly allocation_id: string;
  readonly deposit_date: string;
  readonly amount: string;
  readonly donor_last_name: string;
  readonly designation: string;
  readonly main_memo: string;
}

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: NodeJS.Dict<string>;
  readonly body: string;
}

/** A way to ask for the books, with what an answer says in the words that `expected` has for the lines of a version. */
interface Door {
  readonly path: string;
  readonly query?: string;
  readonly said: (answer: Answer) => unknown;
  readonly expected: (lines: readonly LineRow[]) => unknown;
}

/** What a reader was told: the version that the answer names, and what it says. */
interface Told {
  readonly door: Door;
  readonly organization: TestOrganization;
  readonly version: number;
  readonly said: unknown;
}

/** Amounts have two decimals everywhere, so their cents are exact. */
const toCents = (amount: string): number => Number(amount.replace('.', ''));
const texts = (lines: readonly LineRow[]): string[] =>
  lines.map((line) =>
    [line.allocation_id, line.deposit_date, line.amount, line.donor_last_name, line.designation, line.main_memo].join('|'),
  );
const totals = (lines: readonly LineRow[]) => ({ lines: lines.length, cents: lines.reduce((sum, { amount }) => sum + toCents(amount), 0) });

interface GraphqlLine {
  readonly allocationId: string;
  readonly depositDate: string;
  readonly amount: string;
  readonly donorLastName: string;
  readonly designation: string;
  readonly mainMemo: string;
}
const fromGraphql = (lines: readonly GraphqlLine[]): string[] =>
  lines.map((line) => [line.allocationId, line.depositDate, line.amount, line.donorLastName, line.designation, line.mainMemo].join('|'));
interface SaidTotals {
  readonly lines: number;
  readonly byLine: { readonly amount: string };
}
const fromTotals = ({ lines, byLine }: SaidTotals) => ({ lines, cents: toCents(byLine.amount) });
const dataOf = ({ body }: Answer): unknown => (JSON.parse(body) as { data: unknown }).data;
/** A cell of CSV as the books have it, without the guard against formulas. */
const unquote = (cell: string): string => cell.replaceAll('""', '"').replace(/^'=/, '=');
const linesOfText = (body: string): string[] => body.split(/\r?\n/).filter((line) => line !== '');

interface DepositNode {
  readonly depositDate: string;
  readonly transactions: {
    readonly nodes: readonly {
      readonly amount: string;
      readonly mainMemo: string;
      readonly donor: { readonly lastName: string } | null;
      readonly allocations: {
        readonly nodes: readonly { readonly allocationId: string; readonly designation: { readonly name: string } }[];
      };
    }[];
  };
}

const DOORS: readonly Door[] = [
  {
    path: `/api/v2/deposit_detail_designation_detail_with_contact_info?${RANGE}`,
    said: ({ body }) => texts((JSON.parse(body) as { response: LineRow[] }).response),
    expected: texts,
  },
  {
    path: '/graphql',
    query: `{ depositDetails(${PERIOD}, includePending: true) { ${LINE} } }`,
    said: (answer) => fromGraphql((dataOf(answer) as { depositDetails: GraphqlLine[] }).depositDetails),
    expected: texts,
  },
  {
    path: '/graphql',
    query: `{ depositDetailsConnection(${PERIOD}, pending: WITH, first: 100) { nodes { ${LINE} } totalCount summary { all { lines byLine { amount } } } } }`,
    said: (answer) => {
      const { depositDetailsConnection: page } = dataOf(answer) as {
        depositDetailsConnection: { nodes: GraphqlLine[]; totalCount: number; summary: { all: SaidTotals } };
      };
      return [fromGraphql(page.nodes), page.totalCount, fromTotals(page.summary.all)];
    },
    expected: (lines) => [texts(lines), lines.length, totals(lines)],
  },
  {
    path: '/graphql',
    query: `{ depositSummary(${PERIOD}, pending: WITH) { all { lines byLine { amount } } } depositDetails(${PERIOD}, includePending: true) { ${LINE} } }`,
    said: (answer) => {
      const data = dataOf(answer) as { depositSummary: { all: SaidTotals }; depositDetails: GraphqlLine[] };
      return [fromTotals(data.depositSummary.all), fromGraphql(data.depositDetails)];
    },
    expected: (lines) => [totals(lines), texts(lines)],
  },
  {
    path: '/graphql',
    query: `{ deposits(pending: WITH, first: 10) { nodes { depositDate transactions(first: 20) { nodes { amount mainMemo donor { lastName } allocations(first: 30) { nodes { allocationId designation { name } } } } } } } }`,
    said: (answer) =>
      (dataOf(answer) as { deposits: { nodes: DepositNode[] } }).deposits.nodes
        .flatMap(({ depositDate, transactions }) =>
          transactions.nodes.flatMap(({ amount, mainMemo, donor, allocations }) =>
            allocations.nodes.map(({ allocationId, designation }) =>
              [allocationId, depositDate, amount, donor?.lastName ?? '', designation.name, mainMemo].join('|'),
            ),
          ),
        )
        .sort(),
    expected: (lines) => texts(lines).sort(),
  },
  {
    path: `/export/deposit-details.csv?${RANGE}&columns=${COLUMNS}`,
    said: ({ body, trailers }) => [
      linesOfText(body)
        .slice(1)
        .map((line) => line.slice(1, -1).split('","').map(unquote).join('|')),
      ...[Number(trailers['x-export-lines']), toCents(trailers['x-export-amount-by-line']!)],
    ],
    expected: (lines) => [texts(lines), lines.length, totals(lines).cents],
  },
  {
    path: `/export/deposit-details.ndjson?${RANGE}&totals=headers`,
    said: ({ body, headers }) => [
      texts(linesOfText(body).map((line) => JSON.parse(line) as LineRow)),
      toCents(headers['x-export-amount-by-line'] as string),
    ],
    expected: (lines) => [texts(lines), totals(lines).cents],
  },
  {
    path: '/reports/all.ndjson',
    said: ({ body }) => linesOfText(body).map((line) => (JSON.parse(line) as { allocation_id: string }).allocation_id),
    expected: (lines) => lines.map(({ allocation_id }) => allocation_id),
  },
];

function ask(url: string, { path, query }: Door, provision: string): Promise<Answer> {
  const headers = { Provision: provision, ...(query !== undefined && { 'Content-Type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    request(url + path, { method: query === undefined ? 'GET' : 'POST', headers }, (response) => {
      text(response).then((body) => {
        if (response.statusCode !== 200 || body.includes('"errors"')) reject(new Error(`${response.statusCode}: ${body.slice(0, 300)}`));
        else resolve({ headers: response.headers, trailers: response.trailers, body });
      }, reject);
    })
      .on('error', reject)
      .end(query === undefined ? undefined : JSON.stringify({ query }));
  });
}

/** Writes one sequence of changes while readers ask on all doors. Resolves to what they were told, and to the faults of the end. */
async function writeHistory({ serve, services, database }: Target, chance: Chance) {
  // Both organizations have the same ids.
  const organizations = [await createOrganization(services), await createOrganization(services)] as const;
  const models = [new BookModel(), new BookModel()] as const;
  const query = `query { depositDetails(${PERIOD}, includePending: true) { allocationId } }`;
  for (const { id } of organizations) {
    await database.client.query(
      `INSERT INTO saved_report (organization_id, name, query, variables, updated_at) VALUES ($1, 'all', $2, '{}', now())`,
      [id, query],
    );
  }
  const told: Told[] = [];
  const faults: string[] = [];
  const writing = { on: true };
  const readers = Array.from({ length: READERS }, async (_, reader) => {
    for (let turn = reader; writing.on; turn++) {
      const door = DOORS[turn % DOORS.length]!;
      const organization = organizations[turn % 2]!;
      try {
        const answer = await ask(serve.url, door, organization.apiProvision);
        told.push({ door, organization, version: Number(answer.headers['x-data-version']), said: door.said(answer) });
      } catch (error) {
        faults.push(`${door.path}: ${String(error)}`);
      }
    }
  });
  try {
    for (let steps = 3 + chance.below(6); steps > 0; steps--) {
      const which = chance.pick([0, 1] as const);
      await takeStep({ services, organization: organizations[which], model: models[which] }, chance, KEEPING);
    }
  } finally {
    writing.on = false;
    await Promise.all(readers);
  }
  for (const [which, organization] of organizations.entries()) {
    const { differences, versionsAreWhole, totalsAgree } = await services.books.check(organization.id);
    if (differences !== 0 || !versionsAreWhole || !totalsAgree) faults.push(`the check of ${organization.name} finds a difference`);
    const fresh = await createOrganization(services);
    await importLines(services, fresh, models[which]!.books.lines());
    if (!isDeepStrictEqual(await linesAt(organization), await linesAt(fresh))) faults.push(`${organization.name} has other lines`);
  }
  return { told, faults };

  async function linesAt({ id }: TestOrganization): Promise<unknown[]> {
    const { rows } = await database.client.query<{ line: unknown }>(
      `SELECT to_jsonb(l) - '{organization_id,since,until,money_since,erased_version}'::text[] AS line FROM deposit_line l
       WHERE organization_id = $1 AND until = ${Number.MAX_SAFE_INTEGER} ORDER BY allocation_id`,
      [id],
    );
    return rows.map(({ line }) => line);
  }
}

/** The answers that are not what the books were at the version that they name. */
async function findUntrue({ database }: Target, told: readonly Told[]): Promise<string[]> {
  const states = new Map<string, readonly LineRow[]>();
  const untrue: string[] = [];
  for (const { door, organization, version, said } of told) {
    const key = `${organization.id} ${version}`;
    const known = states.get(key);
    const lines =
      known ??
      (
        await database.client.query<LineRow>(
          `SELECT allocation_id, deposit_date::text, amount::text, donor_last_name, designation, main_memo FROM deposit_line
           WHERE organization_id = $1 AND since <= $2 AND until > $2 ORDER BY deposit_date, deposit_id, transaction_id, allocation_id`,
          [organization.id, version],
        )
      ).rows;
    states.set(key, lines);
    if (!isDeepStrictEqual(said, door.expected(lines)))
      untrue.push(`${door.path} at version ${version}: ${JSON.stringify([said, door.expected(lines)])}`);
  }
  return untrue;
}

/** Random imports, replacements and removals beside readers on all doors: each answer must be of the version that it names. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  const untrue: string[] = [];
  const faults: string[] = [];
  const versions = new Set<string>();
  let answers = 0;
  try {
    const first = Math.floor(Math.random() * 2 ** 31);
    for (let seed = first; seed < first + SEQUENCES; seed++) {
      const history = await writeHistory(target, new Chance(seed));
      answers += history.told.length;
      for (const { organization, version } of history.told) versions.add(`${organization.id} ${version}`);
      faults.push(...history.faults);
      untrue.push(...(await findUntrue(target, history.told)));
    }
  } finally {
    await target.stop();
  }
  const first = (found: readonly string[]): string => (found.length > 0 ? `: ${found[0]!}` : '');
  return [
    {
      name: `${READERS} readers on ${DOORS.length} doors beside ${SEQUENCES} sequences of imports: answers that are not of the version that they name`,
      figure: `${untrue.length} of ${answers}, of ${versions.size} versions (goal 0)${first(untrue)}`,
      holds: untrue.length === 0 && answers > 0,
    },
    {
      name: 'sequences that end with other lines than one import of the final books, and answers that failed',
      figure: `${faults.length} (goal 0)${first(faults)}`,
      holds: faults.length === 0,
    },
  ];
}
