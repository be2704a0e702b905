/**
 * The number of random cases that a test tries. `TRIES=10` tries ten times as many, as `npm run test:trust` does: a few find a fault that
 * is easy to meet, and more find one that is rare.
 */
export const tries = (count: number): number => Math.ceil(count * Number(process.env.TRIES ?? 1));
