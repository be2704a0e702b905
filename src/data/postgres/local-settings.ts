import { escapeLiteral } from 'pg';

/** Settings of PostgreSQL, by their names. They are the code's own, never a caller's. */
export type LocalSettings = Readonly<Record<string, string>>;

/** The settings of short statements. Random reads are cheap, as the data is on an SSD or in memory: the planner then uses an index in small
 * tables as in large. */
export const SHORT_SETTINGS = { datestyle: 'ISO', timezone: 'UTC', random_page_cost: '2' } as const satisfies LocalSettings;

/**
 * The settings of reports and imports: JIT compilation and memoized inner rows cost a report more time than they save, and 32 MB sort a
 * year of lines in memory.
 */
export const LONG_SETTINGS = { ...SHORT_SETTINGS, jit: 'off', enable_memoize: 'off', work_mem: '32MB' } as const satisfies LocalSettings;

/** Settings as the startup parameter `options`, for all statements of a connection. */
export const toStartupOptions = (settings: LocalSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** The values of a SELECT that makes settings for the rest of its transaction. Nothing of them stays on the connection. */
export const setLocally = (settings: LocalSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `set_config(${escapeLiteral(name)}, ${escapeLiteral(value)}, true)`)
    .join(', ');

/** Begins a transaction with settings of its own. These are several statements, so they take no parameters. */
export const beginWith = (settings: LocalSettings, mode: string): string => `BEGIN ${mode}; SELECT ${setLocally(settings)}`;
