import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { withoutDatabase } from '../support/command';
import { databaseSettings, isDistributed } from '../support/database';
import { APP_SECTIONS, blocksOf, documents, MOVING_SECTIONS, proseOf, readDocument, ROOT, sectionOf, tableOf } from '../support/documents';
import { createOrganization, graphql, importLines, login, PASSWORD, startGateway, v2Line, type TestGateway } from '../support/gateway';

// Each command is npm and the gateway, and they run one after the other.
jest.setTimeout(600_000);

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** The documents' gateway listens here. */
const ADDRESS = '127.0.0.1:4000';
/** The documents whose commands need what others made before them, in the order in which they run; all others follow. */
const ORDER = ['README.md', 'docs/operators.md', 'SECURITY.md'];
const inOrder = [...ORDER, ...documents.map(({ name }) => name).filter((name) => !ORDER.includes(name))].map((name) => ({
  name,
  text: readDocument(name),
}));

/** The languages of blocks, and the documents in which a test tries them; a text may stand anywhere. */
const LANGUAGES: Readonly<Record<string, readonly string[] | 'anywhere'>> = {
  ...({ '': 'anywhere', sh: 'anywhere', graphql: 'anywhere' } as const),
  ...{
    // agent-tools.test.ts connects by that of docs/agents.md.
    json: ['docs/glossary.md', 'docs/v2.md', 'docs/agents.md'],
    haproxy: ['docs/deploy.md'],
    // `npm run test:trust -- pooler` tries it, because PgBouncer is no part of a development machine.
    ini: ['docs/deploy.md'],
    ts: ['docs/frontend.md'],
    tsx: ['docs/frontend.md'],
  },
};
/**
 * The sections with code: first those that frontend-app-code.test.ts holds equal to the app, then those whose examples
 * partial-answers.test.ts, client-caches.test.ts and trusted-document-clients.test.ts run.
 */
const CODE_SECTIONS = [...APP_SECTIONS, 'Other clients', 'Errors and null', 'Mocks', 'Trusted documents'];
/** Commands that take too long, or need a machine or a network, and the test that tries each of them instead. */
const STAND_INS: Readonly<Record<string, string>> = {
  'npm install && npm pack': 'installed-package.test.ts',
  'npm ci && npm pack': 'the script release, twice',
  'npm pack': 'installed-package.test.ts',
  'npm install -g': 'installed-package.test.ts',
  'npx ./deposit-gateway-*.tgz serve': 'installed-package.test.ts',
  'npm install -g ./deposit-gateway-*.tgz': 'installed-package.test.ts',
  'npm install && npm start': 'newcomer.test.ts',
  'npm install && npm test': 'this very run',
  'npm install && npm run build': 'this very run',
  'npm test': 'this very run',
  'npm run fix': 'the same tools in check',
  'npm install --workspaces --save-dev --save-exact': 'newcomer.test.ts',
  'npx prisma@7.10.0': 'check-drift.ts',
  'npm run check': 'the run of the checks',
  'docker build -t deposit-gateway .': 'newcomer.test.ts',
  'docker run -d --name gateway -p 4000:4000 -v gateway-data:/data --shm-size 256m deposit-gateway': 'newcomer.test.ts',
  'docker run --rm -e DATABASE_URL=postgresql://gateway:secret@db:5432/gateway deposit-gateway migrate': 'document-links.test.ts',
  'docker run -d --name gateway-own-postgres -p 4000:4000 -e DATABASE_URL=postgresql://gateway:secret@db:5432/gateway deposit-gateway':
    'document-links.test.ts',
  'docker exec gateway deposit-gateway --help': 'document-tables.test.ts',
  'sudo -u postgres psql < prisma/roles/create.sql': 'database-roles.test.ts',
  'sh docs/deploy/create-secrets.sh': 'deploy-files.test.ts',
  'GATEWAY_HOST=gateway.example.org docker compose -f docs/deploy/compose.yaml up -d': 'deploy-files.test.ts',
  "docker compose -f docs/deploy/compose.yaml run --rm command organization create 'Hope Foundation'": 'deploy-files.test.ts',
  'sudo sh -c "umask 022 && npm install -g --prefix /opt/deposit-gateway-$VERSION ./deposit-gateway-$VERSION.tgz"':
    'installed-package.test.ts',
  'sudo ln -sfn "/opt/deposit-gateway-$VERSION/bin/deposit-gateway" /usr/local/bin/deposit-gateway': 'it changes the machine',
  'sudo useradd --system --home-dir /var/lib/deposit-gateway --shell /usr/sbin/nologin deposit-gateway': 'it changes the machine',
  'sudo install -d -m 750 -o root -g deposit-gateway /etc/deposit-gateway': 'it changes the machine',
  'sudo sh -c \'test -e "$0" || echo DATA_DIR=/var/lib/deposit-gateway | install -m 640 -g deposit-gateway /dev/stdin "$0"\' /etc/deposit-gateway/gateway.env':
    'it changes the machine',
  'sudo install -m 644 docs/deploy/deposit-gateway.service /etc/systemd/system/': 'it changes the machine',
  'sudo systemctl enable --now deposit-gateway': 'deploy-files.test.ts',
  'kubectl create secret generic deposit-gateway-owner --from-literal=DATABASE_URL="$OWNER_URL"': 'it needs a cluster',
  'kubectl create secret generic deposit-gateway-serving --from-literal=DATABASE_URL="$SERVING_URL"': 'it needs a cluster',
  'kubectl create secret generic deposit-gateway-backup --from-file=passphrase': 'it needs a cluster',
  'kubectl create secret generic old-service --from-file=provision': 'it needs a cluster',
  'kubectl apply -f docs/deploy/kubernetes.yaml': 'deploy-files.test.ts',
  'npx generate-persisted-query-manifest': 'trusted-document-clients.test.ts',
  'npm install': 'newcomer.test.ts',
  'npm run generate:frontend': 'the run of the checks',
  'npx vite test/frontend --host 127.0.0.1 --port 5173': 'frontend-app.test.ts',
  // The token of a gateway that was started with it.
  [String.raw`curl -H @operators-header -H 'Content-Type: application/json' http://127.0.0.1:4001/graphql \
  -d '{"query":"mutation { disableUser(organization: \"Hope Foundation\", username: \"ada\") { disabledAt } }"}'`]:
    'operators-door.test.ts',
  'DATA_DIR=.data-restored npm run -s gateway -- restore gateway.backup': 'backup-and-restore.test.ts',
  'DATA_DIR=.data-restored npm run -s gateway -- restore gateway.backup --erased erased.json': 'erased-files.test.ts',
  'ADMIN_PORT=4001 DEMO=off npm start': 'admin-port.test.ts',
  'prometheus --config.file=docs/monitoring/prometheus.yml --storage.tsdb.path=prometheus-data': 'monitoring-files.test.ts',
  'npm run -s gateway -- backup first.backup': 'backup-and-restore.test.ts',
  'npm run -s gateway -- verify first.backup': 'backup-and-restore.test.ts',
  'deposit-gateway sync end': 'sync.test.ts',
  // It asks the gateway at its real port.
  "npm run -s gateway -- parity --organization 'Hope Foundation' --from 2026-01-01 --to 2026-01-31 --provision-file parity-provision":
    'parity.test.ts',
  // It needs a database with the extension.
  'DATABASE_ENGINE=citus deposit-gateway migrate': 'database-commands.test.ts',
  // A form of other commands.
  'deposit-gateway export --format ndjson --columns v2 | sha256sum': 'the same with its options',
};
const bodiesOf = (document: string, wanted: string): string[] =>
  blocksOf(document).flatMap(({ language, body }) => (language === wanted ? body : []));
/** The variables of each query, by its name. */
const VARIABLES: Readonly<Record<string, object>> = {
  Changed: {},
  Closes: {},
  Download: { query: '{ depositDetails(startDate: "2026-01-01", endDate: "2026-01-31") { amount } }' },
  Funds: {},
  January: {},
  Lapsed: {},
  Month: {},
  Open: { username: 'ada', password: PASSWORD },
  Page: {},
  Report: JSON.parse(bodiesOf(readDocument('docs/v2.md'), 'json')[1]!) as object,
  SessionTest: {},
  SystemTest: {},
  ThreeTotals: {},
};

const frontend = readDocument('docs/frontend.md');

/** The commands of a block as they are written: a line each, but for those that a backslash or an open quote continues. */
function commandsOf(block: string): string[] {
  const commands: string[] = [];
  let open = '';
  for (const line of block.split('\n')) {
    open += open === '' ? line : `\n${line}`;
    if (open.endsWith('\\') || (open.split("'").length - 1) % 2 === 1) continue;
    if (open.trim() !== '') commands.push(open);
    open = '';
  }
  return open === '' ? commands : [...commands, open];
}

/** The name of a command among the stand-ins: without its comment. */
const nameOf = (command: string): string => command.replace(/\s+# .*$/, '');
/** The queries that stand for themselves. Those of the app use each other's fragments, and frontend-app.test.ts sends them. */
const queriesOf = (document: string): string[] => {
  const ofApp = document === frontend ? APP_SECTIONS.flatMap((section) => bodiesOf(sectionOf(document, section), 'graphql')) : [];
  return bodiesOf(document, 'graphql').filter((body) => !ofApp.includes(body));
};
const commandsIn = (document: string): string[] => bodiesOf(document, 'sh').flatMap(commandsOf);
/** The commands that need an old service, which moving.test.ts runs. */
const moving = MOVING_SECTIONS.flatMap((section) => commandsIn(sectionOf(readDocument('docs/v2.md'), section)));
/** Distributed books have no backup. */
const isRunnable = (command: string): boolean =>
  !(nameOf(command) in STAND_INS) && !moving.includes(command) && !(isDistributed && /gateway\.(backup|age)/.test(command));

/** Commands in the midst of a sentence. */
const inline = inOrder.flatMap(({ text: document }) =>
  [...proseOf(document).matchAll(/`((?:npm|npx|node|docker|curl|deposit-gateway) [^`]+)`/g)].map((match) => match[1]!),
);

let gateway: TestGateway;
let directory: string;
const outputs = new Map<string, string>();

/**
 * Runs a command as it is written, in a shell that knows what earlier ones have exported, with a password on the standard input. curl
 * finds the gateway where the documents have it, and tells of every refusal.
 */
async function run(command: string): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn('sh', ['-c', `. ./environment\n${command}\nstatus=$?\nexport -p > environment\nexit $status`], {
    cwd: directory,
    env: {
      PATH: `${join(directory, 'bin')}:${process.env.PATH ?? ''}`,
      HOME: process.env.HOME,
      CURL_HOME: directory,
      ...databaseSettings(),
      DATABASE_URL: gateway.database.url,
    },
  });
  child.stdin.on('error', () => undefined).end(`${PASSWORD}\n`);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  outputs.set(command, stdout);
  return { status, stdout, stderr: withoutDatabase(stderr) };
}

const outputOf = (part: string): string => [...outputs].find(([command]) => command.includes(part))?.[1] ?? '';
const contentOf = (file: string): string => readFileSync(join(directory, file), 'utf8');

beforeAll(async () => {
  gateway = await startGateway();
  directory = mkdtempSync(join(tmpdir(), 'gateway-documents-'));
  for (const name of ['package.json', 'dist', 'prisma', 'node_modules']) symlinkSync(join(ROOT, name), join(directory, name));
  const write = (name: string, content: string): void => writeFileSync(join(directory, name), content, { mode: 0o755 });
  for (const name of ['bin', '.data']) mkdirSync(join(directory, name));
  // A new process compiles with the quick compiler alone, and npm would take as long again to start it.
  const command = 'exec node --liftoff-only -- dist/main.js "$@"';
  expect(scripts.gateway).toBe('node -- dist/main.js');
  write('bin/deposit-gateway', `#!/bin/sh\n${command}\n`);
  write('bin/npm', `#!/bin/sh\n[ "$1 $2 $3 $4" = 'run -s gateway --' ] && shift 4 && ${command}\nPATH=\${PATH#*:} exec npm "$@"\n`);
  write('.curlrc', `silent\nshow-error\nfail-with-body\nconnect-to = "${ADDRESS}:${new URL(gateway.url).host}"\n`);
  write('environment', '');
  // As a first start leaves it.
  await gateway.services.demo.create(async (credentials) => write('.data/demo.json', JSON.stringify(credentials)));
  const lines = ['120.00', '80.00', '300.50'].map((amount, index) =>
    v2Line({
      ...{ deposit_date: `2026-01-0${index + 2}`, deposit_id: `D${index}`, transaction_id: `T${index}`, allocation_id: `A${index}` },
      ...{ amount, fee_amount: '0.00', net_amount: amount },
    }),
  );
  write('deposits.json', JSON.stringify({ response: lines }));
});
afterAll(async () => {
  await gateway.stop();
  rmSync(directory, { recursive: true });
});

/** The provision that a reader of SECURITY.md replaces. */
const issueOldProvision = (): Promise<string> =>
  gateway.services.provisions.create({ organization: 'Hope Foundation', kind: 'API', label: 'old', grants: [] });

describe('a reader of the documents', () => {
  test('meets blocks of known languages, queries with names that are known, and no stand-in for what is not written', () => {
    const untried = inOrder.flatMap(({ name, text: document }) =>
      blocksOf(document).filter(({ language }) => LANGUAGES[language] !== 'anywhere' && !LANGUAGES[language]?.includes(name)),
    );
    expect(untried).toEqual([]);
    const codeOf = (text: string): string[] => [...bodiesOf(text, 'ts'), ...bodiesOf(text, 'tsx')];
    expect(CODE_SECTIONS.flatMap((section) => codeOf(sectionOf(frontend, section))).sort()).toEqual(codeOf(frontend).sort());
    const commands = inOrder.flatMap(({ text: document }) => commandsIn(document)).map(nameOf);
    expect(Object.keys(STAND_INS).filter((command) => ![...commands, ...inline].includes(command))).toEqual([]);
    const names = inOrder.flatMap(({ text: document }) =>
      queriesOf(document).map((body) => /^\s*(?:query|mutation|subscription) (\w+)/.exec(body)?.[1]),
    );
    expect(names.sort()).toEqual(Object.keys(VARIABLES));
  });

  // The tests that follow look at what these have left.
  test.each(inOrder.filter(({ text: document }) => commandsIn(document).some(isRunnable)))(
    'runs every command of the blocks of $name as it is written, in their order',
    async ({ name, text: document }) => {
      if (name === 'SECURITY.md') writeFileSync(join(directory, 'environment'), `export OLD=${await issueOldProvision()}\n`);
      for (const command of commandsIn(document).filter(isRunnable))
        expect([command, await run(command)]).toEqual([command, expect.objectContaining({ status: 0, stderr: '' })]);
      // A header and three lines, before docs/files.md gives another file this name.
      if (name === 'docs/operators.md') expect(contentOf('january.csv').trim().split('\n')).toHaveLength(4);
    },
  );

  test('gets from them what the documents say', () => {
    expect(outputs.size).toBeGreaterThan(35);
    const response: unknown = expect.any(Array);
    for (const [command, output] of outputs)
      if (command.startsWith('curl') && /end_date=2026-01-31'(?: \|\||$)/.test(command) && !command.includes(' -o '))
        expect(JSON.parse(output)).toEqual({ response });
    expect(outputOf('user create')).toMatch(/who may log in and read everything, donors included\n$/);
    expect(outputOf('import deposits.json')).toMatch(/^Imported 3 lines; /);
    expect(outputOf('curl -b cookies.txt')).toContain('"message":"Session request authenticated"');
    expect(outputOf('provision revoke "$OLD"')).toMatch(/^Revoked /);
    for (const part of ['authenticatedTestSystem', 'authenticatedTestSession', 'query Report'])
      expect(JSON.parse(outputOf(part))).toEqual({ data: expect.any(Object) as unknown });
    expect(JSON.parse(contentOf('openapi.json'))).toMatchObject({ openapi: '3.1.0' });
    expect(contentOf('headers.txt')).toContain('X-Export-Digest: ');
    expect(contentOf('large.csv')).toMatch(/^"?deposit_date"?,"?amount"?,"?designation"?\r\n/);
    expect(contentOf('february.csv')).toMatch(/^\uFEFF?"?deposit_id"?,/);
  });

  test('runs every command in the midst of a sentence', async () => {
    for (const command of inline.filter(isRunnable)) {
      const script = /^npm (?:run )?(?:-s )?([\w:]+)/.exec(command)?.[1];
      if (script !== undefined) expect([command, scripts[script]]).toEqual([command, expect.any(String)]);
      else expect([command, await run(command)]).toEqual([command, expect.objectContaining({ status: 0, stderr: '' })]);
    }
  });

  test('sends every query, by the provision and to a host of the commands, and gets the digest that the export has', async () => {
    const provision = outputOf('provision create').trim();
    const { url } = gateway;
    const answers: Record<string, unknown> = {};
    for (const { text: document } of inOrder) {
      for (const query of queriesOf(document)) {
        const name = /(\w+)[\s({]/.exec(query.replace(/^\s*\w+ /, ''))![1]!;
        const session = name === 'SessionTest' && { cookie: await login(url, provision) };
        const { body } = await graphql(url, query, { provision, variables: VARIABLES[name]!, ...session });
        expect([name, body.errors]).toEqual([name, undefined]);
        answers[name] = body.data;
      }
    }
    expect(answers.Month).toMatchObject({
      depositDetailsConnection: { edges: [{ node: { amount: '120.00' } }, { node: { amount: '300.50' } }] },
    });

    const { body } = await graphql(url, '{ depositSummary(startDate: "2026-01-01", endDate: "2026-01-31") { digest } }', { provision });
    const { digest } = body.data!.depositSummary as { digest: string };
    expect(outputOf('| sha256sum')).toBe(`${digest}  -\n`);
    expect(digest).not.toBe(createHash('sha256').digest('hex'));
  });

  test("gets the glossary's answer for the glossary's gift", async () => {
    const glossary = sectionOf(readDocument('docs/glossary.md'), 'One gift');
    const lines = tableOf(glossary, 'depositId').map(
      ([deposit_id, deposit_date, transaction_id, allocation_id, amount, fee_amount, net_amount, fund, designation, allocation_amount]) =>
        v2Line({
          ...{ deposit_id, deposit_date, transaction_id, allocation_id, amount, fee_amount, net_amount },
          ...{ designation_id: Number(fund), designation, allocation_amount },
        }),
    );
    const organization = await createOrganization(gateway.services);
    await importLines(gateway.services, organization, lines);
    const { body } = await graphql(gateway.url, bodiesOf(glossary, 'graphql')[0]!, { provision: organization.apiProvision });
    expect(body).toEqual(JSON.parse(bodiesOf(glossary, 'json')[0]!));
    const totals = tableOf(glossary, 'it counts').map(([, , here]) => here);
    const { all } = body.data!.depositSummary as Record<'all', Record<string, { amount: string }>>;
    expect(totals).toEqual([all.byLine!.amount, all.byTransaction!.amount, all.byAllocation!.amount]);
  });
});
