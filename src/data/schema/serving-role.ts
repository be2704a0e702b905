import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import { packageFile } from '../../package-files';
import type { DatabaseAddress } from '../postgres/database';
import { asOwner, runAlone } from './owner-session';

/** The role that a gateway serves as. The files in prisma/roles name it too. */
const SERVING_ROLE = 'deposit_gateway_serving';
const GRANTS_FILE = packageFile('prisma/roles/grants.sql');
const PASSWORD_BYTES = 32;
/** Tables of the same names may stand in a schema before that of the gateway's. */
const USE_TABLES = `SELECT set_config('search_path', concat_ws(', ', relnamespace::regnamespace::text, current_setting('search_path')), true)
  FROM pg_class WHERE oid = to_regclass('deposit_line')`;

/**
 * Gives the serving role its grants, where the server has that role. All are given in one transaction, so a gateway that serves meanwhile
 * misses none. The address is the owner's. Two who grant at once would meet at the rows of the catalog.
 */
export async function grantServingRole(address: DatabaseAddress): Promise<void> {
  const grants = await readFile(GRANTS_FILE, 'utf8');
  await asOwner(address, async (client) => {
    if (await hasServingRole(client)) await runAlone(client, `${USE_TABLES};\n${grants}`);
  });
}

/**
 * Creates the serving role with its grants, or gives it a new password. Returns the address for it. The address that is given is a
 * superuser's.
 */
export async function renewServingRole(address: DatabaseAddress): Promise<DatabaseAddress> {
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await asOwner(address, async (client) => {
    const verb = (await hasServingRole(client)) ? 'ALTER' : 'CREATE';
    await client.query(`${verb} ROLE ${SERVING_ROLE} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
  });
  await grantServingRole(address);
  return { ...address, user: SERVING_ROLE, password };
}

async function hasServingRole(client: Client): Promise<boolean> {
  return (await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVING_ROLE])).rowCount === 1;
}
