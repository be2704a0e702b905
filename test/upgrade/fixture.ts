import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { succeed } from '../support/command';
import { createTestDatabase } from '../support/database';
import { startGateway } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { commands, EXPORT, operations, ORGANIZATION, paths } from './questions';

/** The places of what a release has kept for the upgrades from it. */
export interface Fixture {
  readonly directory: string;
  /** The backup of a database that the release filled. */
  readonly backup: string;
  /** The API provision of the questions, which is of that database alone. */
  readonly provisionFile: string;
  /** The answers of the release, one file for each question. */
  readonly answers: string;
}

/** The releases with a fixture. */
export const releases: readonly string[] = readdirSync(__dirname).filter((name) => /^[0-9]/.test(name));

export function fixtureOf(version: string): Fixture {
  const directory = join(__dirname, version);
  const at = (name: string): string => join(directory, name);
  return { directory, backup: at('books.backup'), provisionFile: at('provision.txt'), answers: at('answers') };
}

/** A database without tables: the migrations of a backup's release make them. */
const EMPTY_DATABASE = 'template1';
/** The headers that tell of an answer; the id of a file is another each time. */
const TELLING = /^(content-(type|disposition)|x-(data-version|closed-through|export-(?!id).*))$/;

/** A row a line, so that a difference is readable. No answer has a line feed between two objects, so that none is lost. */
const toLines = (text: string): string => text.replaceAll('},{', '},\n{');

async function readAnswer(url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<string> {
  const response = await ask(url, { headers, ...(body !== undefined && { method: 'POST', body }) });
  const answer = await readAll(response);
  const all = { ...response.headers, ...response.trailers };
  const shown = Object.keys(all).filter((name) => TELLING.test(name));
  const head = shown.sort().map((name) => `${name}: ${String(all[name])}\n`);
  return `${response.statusCode}${answer.complete ? '' : ' broken off'}\n${head.join('')}\n${toLines(answer.body.toString())}`;
}

/**
 * Restores the backup of a fixture into a new database by the present tree, which brings its schema up to date, and asks all questions.
 * Resolves to the answers by the names of their questions.
 */
export async function askAfterUpgrade(fixture: Fixture): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  const provision = readFileSync(fixture.provisionFile, 'utf8').trim();
  const database = await createTestDatabase(EMPTY_DATABASE);
  try {
    const environment = { DATABASE_URL: database.url };
    const run = async (words: readonly string[]): Promise<string> => {
      const answer = JSON.parse(await succeed(environment, ['--json', ...words])) as unknown;
      return `${JSON.stringify(answer, null, 2)}\n`;
    };
    await succeed(environment, ['restore', fixture.backup]);
    await succeed(environment, ['check', '--organization', ORGANIZATION]);
    await succeed(environment, ['audit', 'verify', '--organization', ORGANIZATION]);
    // A gateway goes on with webhooks, usage and the audit, so that commands ask before it.
    for (const [name, words] of Object.entries(commands)) answers.set(`commands/${name}.json`, await run(words));
    const proof = await run(['prove', join(fixture.directory, EXPORT.file), '--organization', ORGANIZATION]);
    answers.set('commands/prove.json', proof.replace(`${fixture.directory}/`, ''));
    const gateway = await startGateway({}, { ...database, drop: () => Promise.resolve() });
    try {
      const headers = { Provision: provision };
      for (const [name, path] of Object.entries(paths)) answers.set(`files/${name}`, await readAnswer(gateway.url + path, headers));
      for (const [name, query] of Object.entries(operations)) {
        const json = { ...headers, 'Content-Type': 'application/json' };
        answers.set(`graphql/${name}`, await readAnswer(`${gateway.url}/graphql`, json, JSON.stringify({ query })));
      }
    } finally {
      await gateway.stop();
    }
  } finally {
    await database.drop();
  }
  return answers;
}
