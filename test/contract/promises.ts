import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../../src/config';
import { changeColumns, lineColumns, summaryColumns } from '../../src/formats/file-columns';
import { groupBys } from '../../src/formats/line-groups';
import { readDocument, sectionOf, tableOf } from '../support/documents';
import { MAIN } from '../support/gateway-package';

/** The schema of the last release. Its first line names the version. */
export const RELEASED_SCHEMA = 'test/contract/released/schema.graphql';
/** The promises of the last release beside its schema, by kind. The release writes the file. */
export const PROMISES = 'test/contract/released/promises.json';

const FIRST_LINE = /^# The schema of version ([0-9]+\.[0-9]+\.[0-9]+), as it was released\.\n/;

/** The text of a released schema. */
export const toReleasedSchema = (version: string, schema: string): string =>
  `# The schema of version ${version}, as it was released.\n${schema}`;
/** The version that a released schema names. */
export const readSchemaVersion = (text: string): string | undefined => FIRST_LINE.exec(text)?.[1];

/** The names that a release promises, sorted, by kind. */
export type Promises = Readonly<Record<string, readonly string[]>>;

/** The words that follow a command: its subcommands, the values of its arguments, and its options. */
const WORDS = /^ {6}'([^']*)'\) words='([^']*)' ;;$/gm;

/** The commands with each of their words, as the program completes them: `/provision/create --kind`. */
function listCommands(): string[] {
  const script = execFileSync(process.execPath, [MAIN, '--no-env-file', 'completions', 'bash'], { encoding: 'utf8' });
  return [...script.matchAll(WORDS)].flatMap(([, path, words = '']) => words.split(' ').map((word) => `${path!} ${word}`));
}

/** The columns of files, after the kind of the file: `changes before_amount`. */
function listColumns(): string[] {
  const summary = Object.assign({}, ...groupBys.map((group) => summaryColumns([group], true).all)) as object;
  const files = { lines: lineColumns(true).all, summary, changes: changeColumns.all };
  return Object.entries(files).flatMap(([file, columns]) => Object.keys(columns).map((name) => `${file} ${name}`));
}

/** The metrics of the table in the documents, which a test holds equal to a scrape. */
const listMetrics = (): string[] =>
  tableOf(sectionOf(readDocument('docs/operators.md'), 'Metrics, alerts and traces'), 'metric').map(([name = '']) => name);

/** The migrations, each with the hash of its text: a database that has one would refuse another text. */
const listMigrations = (): string[] =>
  readdirSync('prisma/migrations', { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const text = readFileSync(join('prisma/migrations', entry.name, 'migration.sql'));
    return `${entry.name} ${createHash('sha256').update(text).digest('hex')}`;
  });

/** The names of each kind that the present tree promises. */
const kinds = {
  ...{ settings: () => Object.keys(settings), commands: listCommands, metrics: listMetrics, columns: listColumns },
  migrations: listMigrations,
} as const;

export const listPromises = (): Promises => Object.fromEntries(Object.entries(kinds).map(([kind, list]) => [kind, list().toSorted()]));

/** A sentence for each promise that does not hold any more. */
export const findBroken = (released: Promises): string[] =>
  Object.entries(released).flatMap(([kind, names]) => {
    const now = new Set(kinds[kind as keyof typeof kinds]());
    return names.filter((name) => !now.has(name)).map((name) => `${name.trim()} is gone from the ${kind}, which the last release has`);
  });
