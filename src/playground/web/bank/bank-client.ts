import { useEffect, useMemo } from 'react';
import { createWorkerCalls } from '../rows/worker-calls';
import type { BankKeeper } from './bank-worker';
import type { ReadFile } from './statement-reader';

/** Reads statements and ties them, in a worker of their own, which sends nothing anywhere. Every method may reject as outdated. */
export interface BankClient {
  readonly read: (...args: Parameters<BankKeeper['read']>) => Promise<ReadFile>;
  readonly match: (...args: Parameters<BankKeeper['match']>) => Promise<ReturnType<BankKeeper['match']>>;
  /** Writes a spreadsheet with a sheet for each table and one of facts. */
  readonly write: BankKeeper['write'];
}

/** The client of a component, whose worker starts with the first call and ends with the component. */
export function useBankClient(): BankClient {
  const calls = useMemo(
    () => createWorkerCalls<BankKeeper>(() => new Worker(new URL('./bank-worker.ts', import.meta.url), { type: 'module' })),
    [],
  );
  useEffect(() => calls.close, [calls]);
  return useMemo(
    () => ({
      // The answer is one of three kinds, and Comlink's type of it would be one of three promises.
      read: (...args) => calls.call(async (keeper): Promise<ReadFile> => keeper.read(...args)),
      match: (...args) => calls.call((keeper) => keeper.match(...args)),
      write: (...args) => calls.call((keeper) => keeper.write(...args)),
    }),
    [calls],
  );
}
