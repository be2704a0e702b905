import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Config } from '../../config';
import { readStateFile, writeStateFile } from '../../data/embedded/state-file';
import type { DemoCredentials } from '../../domain/imports/demo-service';
import { OperatorError } from '../../errors';
import { openDatabase, type OpenDatabase } from '../../databases';
import { endingAtSignal, useServices, withServices, type CommandContext } from '../command';
import { printResult } from '../terminal';

/** `demo [--show]`: creates an organization with invented deposits, on any database. */
export function demoCommand(context: () => CommandContext): Command {
  return new Command('demo')
    .option('--show', 'creates nothing; prints the provisions, the login and the addresses of the demo that is there', false)
    .action(async ({ show }: { show: boolean }) => {
      const { terminal, json, config } = context();
      const credentials = show ? await findDemo(context()) : await createDemo(context());
      if (!credentials) throw new OperatorError(`There is no demo in ${config.DATA_DIR}`);
      printResult(terminal, json, credentials, describeDemo(credentials, baseUrl(config, config.PORT)));
    });
}

const createDemo = (context: CommandContext): Promise<DemoCredentials> =>
  withServices({ ...context, mayMake: true }, ({ demo }) => demo.create((credentials) => saveDemo(context.config, credentials)));

/** The credentials of the demo, unless it was deleted or is not finished. The database is not opened where none were saved. */
async function findDemo(context: CommandContext): Promise<DemoCredentials | undefined> {
  const saved = await readDemo(context.config);
  return saved && (await withServices(context, ({ demo }) => demo.isThere(saved))) ? saved : undefined;
}

interface ServedDatabase {
  readonly database: OpenDatabase;
  readonly demo: DemoCredentials | undefined;
}

/**
 * Opens the database that a gateway serves. An embedded database that is empty gets the demo first; `demo` is undefined when the database
 * is not the embedded one, when demos are switched off, or when it holds other data.
 */
export async function openWithDemo(config: Config, onAway: (error: Error) => void): Promise<ServedDatabase> {
  const open = (): Promise<OpenDatabase> => openDatabase(config, { share: false, mayMake: true, onAway });
  if (config.DATABASE_URL !== '' || !config.DEMO) return { database: await open(), demo: undefined };
  return endingAtSignal(open(), async (database) => {
    try {
      return { database, demo: await findOrCreate(config, database) };
    } catch (error) {
      await database.close();
      throw error;
    }
  });
}

const findOrCreate = (config: Config, { address }: OpenDatabase): Promise<DemoCredentials | undefined> =>
  useServices(config, address, async ({ demo }) => {
    const saved = await readDemo(config);
    if (saved && (await demo.isThere(saved))) return saved;
    // They are of a demo that was deleted or not finished.
    await rm(demoFile(config), { force: true });
    const isWanted = await demo.isWanted();
    return isWanted ? demo.create((credentials) => saveDemo(config, credentials)) : undefined;
  });

const readDemo = (config: Config): Promise<DemoCredentials | undefined> => readStateFile(demoFile(config));

/** Writes the credentials beside a demo's data in the embedded database, readable by the owner only, so that every start can show them. */
async function saveDemo(config: Config, credentials: DemoCredentials): Promise<void> {
  if (config.DATABASE_URL !== '') return;
  await writeStateFile(demoFile(config), JSON.stringify(credentials));
}

const demoFile = (config: Config): string => join(config.DATA_DIR, 'demo.json');

/** The URL at which a browser on this machine reaches the gateway. */
export function baseUrl({ HOST }: Pick<Config, 'HOST'>, port: number): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST;
  return `http://${host}:${port}`;
}

export function describeDemo({ apiProvision, webProvision, username, password }: DemoCredentials, url: string): string {
  const today = new Date().toISOString().slice(0, 10);
  const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
  const login = JSON.stringify({
    query: `mutation { login(input: { username: "${username}", password: "${password}" }) { viewer { username } } }`,
  });
  return `
  Demo organization with two years of deposits. Nothing in it is real.

  Playground   ${url}/playground
  GraphQL      ${url}/graphql
  Provision    ${webProvision}   (web; the Playground is preset with it)
  Login        ${username} / ${password}

  The three v2 paths, ready to paste:

  curl -H 'Provision: ${apiProvision}' ${url}/api/v2/authenticated_test_system

  curl -c cookies.txt -H 'Provision: ${webProvision}' -H 'Content-Type: application/json' -d '${login}' ${url}/graphql
  curl -b cookies.txt -H 'Provision: ${webProvision}' ${url}/api/v2/authenticated_test_session

  curl -H 'Provision: ${apiProvision}' '${url}/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=${monthAgo}&end_date=${today}'
`;
}
