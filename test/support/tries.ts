/**
 * The number of random cases that a test tries. `TRIES=10` tries ten times as many, as `npm run test:trust` does: a few find a fault that
 * is easy to meet, and more find one that is rare.
 */
export const tries = (count: number): number => Math.ceil(count * Number(process.env.TRIES ?? 1));

/** The seeds of so many random histories. A failure names the seed of its history, and `HISTORY_SEED=7` tries that one alone. */
export function historySeeds(count: number): number[] {
  const { HISTORY_SEED: given } = process.env;
  if (given !== undefined) return [Number(given)];
  const first = Math.floor(Math.random() * 2 ** 31);
  return Array.from({ length: tries(count) }, (_none, at) => first + at);
}
