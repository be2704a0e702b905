import type { PoolConfig } from 'pg';

/**
 * The configuration of connections that begin with these options of PostgreSQL, such as `-c datestyle=ISO`. An address may have options of
 * its own, which would replace those of a client: they keep their place before these, and the last of two for one setting holds.
 */
export const withOptions = (address: PoolConfig, options: string): PoolConfig =>
  hasOptions(address) ? afterOwn(address, options) : { ...address, options };

const hasOptions = ({ connectionString }: PoolConfig): boolean =>
  connectionString !== undefined && new URL(connectionString).searchParams.has('options');

function afterOwn(address: PoolConfig, options: string): PoolConfig {
  const url = new URL(address.connectionString!);
  url.searchParams.set('options', `${url.searchParams.get('options')} ${options}`);
  return { ...address, connectionString: url.href };
}
