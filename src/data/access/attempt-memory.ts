import { RateLimiterCluster, RateLimiterClusterMaster, RateLimiterMemory, type IRateLimiterOptions } from 'rate-limiter-flexible';

/** A count in memory that stands in for the one of the database. */
export type AttemptMemory = RateLimiterMemory | RateLimiterCluster;

export type CreateAttemptMemory = (options: IRateLimiterOptions & { readonly keyPrefix: string }) => AttemptMemory;

/** The longest wait for the primary. */
const TIMEOUT_MS = 5000;

/** Counts in this process. */
export const createOwnMemory: CreateAttemptMemory = (options) => new RateLimiterMemory(options);

/** Counts in the primary, which counts for all workers. */
export const createSharedMemory: CreateAttemptMemory = (options) => new RateLimiterCluster({ ...options, timeoutMs: TIMEOUT_MS });

/** Lets workers count in this process, the primary. */
export const serveAttemptMemories = (): void => void new RateLimiterClusterMaster();
