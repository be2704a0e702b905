import type { PoolConfig } from 'pg';

/**
 * The configuration of connections that begin with these options of PostgreSQL, such as `-c datestyle=ISO`. An address may have options of its
 * own, which would replace those of a client: they keep their place before these, and the last of two for one setting holds.
 */
export function withOptions(address: PoolConfig, options: string): PoolConfig {
  if (address.connectionString === undefined) return { ...address, options };
  const url = new URL(address.connectionString);
  const own = url.searchParams.get('options');
  if (own === null) return { ...address, options };
  url.searchParams.set('options', `${own} ${options}`);
  return { ...address, connectionString: url.href };
}
