import { createOrganization, graphql, importLines, v2Line } from '../support/gateway';
import { REPORT } from '../support/long-report';
import { succeed } from '../support/command';
import { send, startTarget, type Finding } from './attack';

const ZONES = ['UTC', 'America/Los_Angeles', 'Asia/Tokyo', 'Europe/Berlin', 'Pacific/Apia'];
/** The first and the last, leap days, changes of clocks, and the day that Apia left out. */
const DATES = [
  ...['0001-01-01', '1582-10-10', '1900-01-01', '1970-01-01', '1999-12-31', '2000-02-29', '2011-12-30', '2024-02-29'],
  ...['2024-03-10', '2024-03-31', '2024-10-27', '2024-11-03', '2038-01-19', '9999-12-31'],
];
const ALL = { startDate: '0001-01-01', endDate: '9999-12-31' };

/** Days at the edges of calendars, through gateways in several time zones over databases in several: every door must say what was sent. */
export async function run(): Promise<readonly Finding[]> {
  let asked = 0;
  const differing: string[] = [];
  for (const [position, zone] of ZONES.entries()) {
    const target = await startTarget({ TZ: zone });
    try {
      const organization = await createOrganization(target.services);
      const databaseZone = ZONES[(position + 2) % ZONES.length]!;
      await target.database.client.query(
        `ALTER DATABASE ${new URL(target.database.url).pathname.slice(1)} SET TimeZone = '${databaseZone}'`,
      );
      await target.database.client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      const lines = DATES.map((date, n) =>
        v2Line({ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date: date, transaction_date: date }),
      );
      await importLines(target.services, organization, lines);
      const expected = [...DATES].sort();
      const check = (door: string, dates: readonly unknown[]): void => {
        for (const [n, date] of expected.entries()) {
          asked++;
          if (dates[n] !== date) differing.push(`${zone}, ${door}: ${String(dates[n])} for ${date}`);
        }
      };
      const headers = { Provision: organization.apiProvision };
      const { body } = await send(`${target.serve.url}${REPORT}?start_date=${ALL.startDate}&end_date=${ALL.endDate}`, { headers });
      const { response } = JSON.parse(body) as { response: Record<string, string>[] };
      check(
        'v2 deposits',
        response.map((line) => line.deposit_date),
      );
      check(
        'v2 transactions',
        response.map((line) => line.transaction_date),
      );
      const range = `startDate: "${ALL.startDate}", endDate: "${ALL.endDate}"`;
      const query = `{ lines: depositDetails(${range}) { depositDate } deposits(first: 100) { nodes { depositDate } } transactions(first: 100) { nodes { transactionDate } }
        depositSummary(${range}, groupBy: [DAY]) { groups(first: 100) { nodes { key { day } } } } }`;
      const answer = await graphql(target.serve.url, query, { provision: organization.apiProvision });
      const data = answer.body.data as unknown as Answer;
      check(
        'lines',
        data.lines.map(({ depositDate }) => depositDate),
      );
      check('deposits', data.deposits.nodes.map(({ depositDate }) => depositDate).sort());
      check('gifts', data.transactions.nodes.map(({ transactionDate }) => transactionDate).sort());
      check('groups', data.depositSummary.groups.nodes.map(({ key }) => key.day).sort());
      const words = ['export', '--organization', organization.name, '--start', ALL.startDate, '--end', ALL.endDate, '--format', 'ndjson'];
      const file = await succeed({ DATABASE_URL: target.database.url, TZ: zone }, words);
      check(
        'export',
        file
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as Record<string, string>).deposit_date),
      );
      // Each day alone, by its own date at both ends.
      for (const date of DATES) {
        asked++;
        const one = await send(`${target.serve.url}${REPORT}?start_date=${date}&end_date=${date}`, { headers });
        if ((JSON.parse(one.body) as { response: unknown[] }).response.length !== 1) differing.push(`${zone}: ${date} alone`);
      }
    } finally {
      await target.stop();
    }
  }
  return [
    {
      name: `${DATES.length} days in ${ZONES.length} time zones of the gateway, with others of the database: dates that differ`,
      figure: `${differing.length} of ${asked} (goal 0)${differing
        .slice(0, 3)
        .map((each) => `; ${each}`)
        .join('')}`,
      holds: differing.length === 0,
    },
  ];
}

interface Answer {
  readonly lines: readonly { readonly depositDate: string }[];
  readonly deposits: { readonly nodes: readonly { readonly depositDate: string }[] };
  readonly transactions: { readonly nodes: readonly { readonly transactionDate: string }[] };
  readonly depositSummary: { readonly groups: { readonly nodes: readonly { readonly key: { readonly day: string } }[] } };
}
