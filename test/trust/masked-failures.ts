import { createOrganization, importLines, openSession, v2Line } from '../support/gateway';
import { SERVING_ROLE } from '../support/database';
import { REPORT } from '../support/long-report';
import { send, startTarget, type Finding } from './attack';

const CANARY = 'Canary5d21';
const TABLES = [
  ...[
    'provision',
    'provision_key',
    'session',
    'user',
    'organization',
    'deposit_line',
    'deposit',
    'transaction',
    'allocation',
    'designation',
  ],
  ...['donor', 'saved_report', 'audit_chain', 'login_attempt', 'known_address', 'data_version', 'link_key'],
];
const RANGE = 'start_date=2024-01-01&end_date=2024-12-31';
const PATHS = [
  ...['/api/v2/authenticated_test_system', '/api/v2/authenticated_test_session', `${REPORT}?${RANGE}`, '/reports/all.csv', '/ready'],
  ...[`/export/deposit-details.csv?${RANGE}`, `/export/deposit-summary.json?${RANGE}`],
];
const QUERIES = [
  '{ viewer { username } }',
  '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { donorLastName } }',
  '{ depositSummary(startDate: "2024-01-01", endDate: "2024-12-31", groupBy: [DESIGNATION]) { all { lines } digest } }',
  '{ donors(first: 5) { nodes { lastName transactions(first: 2) { nodes { amount } } } } deposits(first: 2) { nodes { depositId } } }',
  'mutation { login(input: { username: "ada", password: "correct horse battery staple" }) { viewer { username } } }',
  'mutation { saveReport(input: { name: "all", query: "{ depositDetails(startDate: \\"2024-01-01\\", endDate: \\"2024-12-31\\") { amount } }" }) { report { name } } }',
];
/** Words of the inside: SQL, names of libraries, files and places, and the failing function. */
const INSIDE = new RegExp(`${CANARY}|prisma|node_modules|/work|\\.[jt]s:|SELECT |INSERT |plpgsql|fails_with|127\\.0\\.0\\.1:|socket/`, 'i');

/** Each table in turn fails with a donor in PostgreSQL's message, however it is read or written. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const organization = await createOrganization(target.services);
    await importLines(target.services, organization, [v2Line({ donor_last_name: CANARY })]);
    const bearer = await openSession(target.serve.url, organization.webProvision);
    const as: Record<string, string>[] = [
      { Provision: organization.apiProvision },
      { Provision: organization.webProvision, Authorization: `Bearer ${bearer}` },
    ];
    const sql = (text: string) => target.database.client.query(text);
    await sql(
      `CREATE FUNCTION fails_with() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN RAISE EXCEPTION 'SELECT of ${CANARY} failed'; END $$`,
    );
    let answers = 0;
    let failures = 0;
    const leaks: string[] = [];
    const texts = new Set<string>();
    for (const table of TABLES) {
      await sql(
        `ALTER TABLE "${table}" RENAME TO away; CREATE VIEW "${table}" AS SELECT away.* FROM away WHERE fails_with(); GRANT SELECT ON "${table}" TO ${SERVING_ROLE}`,
      );
      for (const headers of as) {
        const asked = [
          ...PATHS.map((path) => send(target.serve.url + path, { headers })),
          ...QUERIES.map((query) =>
            send(`${target.serve.url}/graphql`, {
              method: 'POST',
              headers: { ...headers, 'Content-Type': 'application/json' },
              body: JSON.stringify({ query }),
            }),
          ),
        ];
        for (const { status, body } of await Promise.all(asked)) {
          answers++;
          if (status >= 400 || body.includes('"errors"')) failures++;
          for (const [, text] of body.matchAll(/"(?:error|message)":"([^"]*)"/g)) texts.add(text!);
          // A good answer may hold the donor: its caller was granted the report.
          const inside =
            status < 400 && !body.includes('"errors"')
              ? undefined
              : INSIDE.exec(body.replaceAll(CANARY, body.includes('"data"') ? '' : CANARY));
          if (inside) leaks.push(`${table}: ${body.slice(0, 200)}`);
        }
      }
      await sql(`DROP VIEW "${table}"; ALTER TABLE away RENAME TO "${table}"`);
    }
    const lines = target.serve.output().split('\n');
    const logged = lines.filter((line) => line.includes(CANARY));
    return [
      {
        name: `${TABLES.length} tables that fail with a donor in the message: answers that tell of the inside`,
        figure: `${leaks.length} of ${answers}, ${failures} of them errors, with ${texts.size} texts (goal 0)${leaks
          .slice(0, 3)
          .map((leak) => `; ${leak}`)
          .join('')}`,
        holds: leaks.length === 0 && failures > TABLES.length,
      },
      {
        name: 'log lines with the donor',
        figure: `${logged.length} of ${lines.length} (goal 0)${logged[0] ?? ''}`,
        holds: logged.length === 0 && lines.length > answers,
      },
      {
        name: 'the gateway afterwards',
        figure: target.serve.child.exitCode === null ? 'runs' : 'ended',
        holds: target.serve.child.exitCode === null,
      },
    ];
  } finally {
    await target.stop();
  }
}
