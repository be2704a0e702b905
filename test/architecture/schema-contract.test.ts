import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const RELEASED = `
type Query {
  deposit(id: ID!): Deposit
  money: String! @deprecated(reason: "Ask for amounts. Stays until 2020-12-31.")
  sum: String @deprecated(reason: "Ask for amounts. Stays until 2999-12-31.")
}
type Deposit { id: ID! status: String }
enum Status { OPEN LOST @deprecated(reason: "Nothing is lost. Stays until 2020-12-31.") }
`;
const soon = new Date(Date.now() + 100 * 86_400_000).toISOString().slice(0, 10);

let directory: string;
const writeSchema = (text: string) => writeFileSync(join(directory, 'schema.graphql'), text);
const released = (name: string): string => join(directory, 'test/contract/released', name);
const release = (text: string) => writeFileSync(released('schema.graphql'), text);
const promise = (names: object) => writeFileSync(released('promises.json'), JSON.stringify(names));
const check = () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['-r', require.resolve('@swc-node/register'), join(ROOT, 'test/contract/check-contract.ts')],
    { cwd: directory, encoding: 'utf8' },
  );
  return [status, stdout, stderr];
};

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'schema-contract-'));
  mkdirSync(released(''), { recursive: true });
  promise({});
  writeSchema(RELEASED);
});
afterAll(() => rmSync(directory, { recursive: true }));

test('a developer can break nothing before the first release', () => {
  expect(check()).toEqual([0, 'Nothing was released yet: nothing can break.\n', '']);
  release(`# The schema of version 1.0.0, as it was released.\n${RELEASED}`);
});

test.each([
  ['nothing', RELEASED, 0, '0 changes since 1.0.0, 0 of them breaking.\n', ''],
  ['a new field', RELEASED.replace('status', 'note: String status'), 0, '1 changes since 1.0.0, 0 of them breaking.\n', ''],
  ['a field less whose last day has passed', RELEASED.replace(/money.*/, ''), 0, '1 changes since 1.0.0, 0 of them breaking.\n', ''],
  ['a value less whose last day has passed', RELEASED.replace(/LOST.*\)/, ''), 0, '1 changes since 1.0.0, 0 of them breaking.\n', ''],
  [
    'a deprecated field less before its last day',
    RELEASED.replace(/sum.*/, ''),
    1,
    '1 changes since 1.0.0, 1 of them breaking.\n',
    expect.stringContaining("Field 'sum' (deprecated) was removed from object type 'Query'"),
  ],
  [
    'a field that is deprecated without a last day',
    RELEASED.replace('status: String', 'status: String @deprecated(reason: "Gone soon")'),
    1,
    expect.stringContaining(' 0 of them breaking.\n'),
    'Deposit.status is deprecated without its last day: end the reason with "Stays until YYYY-MM-DD."\n',
  ],
  [
    'a field that is deprecated for too short a time',
    RELEASED.replace('status: String', `status: String @deprecated(reason: "Stays until ${soon}.")`),
    1,
    expect.stringContaining(' 0 of them breaking.\n'),
    expect.stringContaining(`Deposit.status is deprecated until ${soon}: callers have 180 days`),
  ],
  [
    'a field that is deprecated for long enough',
    RELEASED.replace('status: String', 'status: String @deprecated(reason: "Ask for state. Stays until 2999-12-31.")'),
    0,
    expect.stringContaining(' 0 of them breaking.\n'),
    '',
  ],
  [
    'a field less',
    RELEASED.replace('status: String', ''),
    1,
    '1 changes since 1.0.0, 1 of them breaking.\n',
    expect.stringContaining("Field 'status' was removed from object type 'Deposit'"),
  ],
  [
    'a new argument that must be given',
    RELEASED.replace('id: ID!)', 'id: ID!, on: String!)'),
    1,
    '1 changes since 1.0.0, 1 of them breaking.\n',
    expect.stringContaining("Argument 'on: String!' added to field 'Query.deposit'"),
  ],
])('a developer is told what breaks since a release: %s', (_what, schema, status, stdout, stderr) => {
  writeSchema(schema);
  expect(check()).toEqual([status, stdout, stderr]);
});

test('a developer is told of a released schema that names no version', () => {
  release(RELEASED);
  expect(check()).toEqual([1, '', 'The first line of test/contract/released/schema.graphql names no version.\n']);
});

test('a developer is told of a name that a release has promised and that is gone, until the next major version', () => {
  writeSchema(RELEASED);
  promise({
    settings: ['PORT', 'SHELF'],
    commands: ['/provision/create --kind', '/provision/create --shelf', ' --shelf'],
    metrics: ['gateway_ready', 'gateway_shelves'],
    columns: ['lines late', 'summary quarter', 'changes after_amount', 'changes shelf'],
  });
  release(`# The schema of version 1.0.0, as it was released.\n${RELEASED}`);
  const gone = [
    ...['SHELF is gone from the settings', '/provision/create --shelf is gone from the commands', '--shelf is gone from the commands'],
    ...['gateway_shelves is gone from the metrics', 'changes shelf is gone from the columns'],
  ];
  const [status, , stderr] = check();
  expect([status, stderr]).toEqual([1, gone.map((sentence) => `${sentence}, which the last release has\n`).join('')]);
  release(`# The schema of version 0.9.0, as it was released.\n${RELEASED}`);
  expect(check()).toEqual([0, '0 changes since 0.9.0, 0 of them breaking.\n', '']);
});
