/** The signals that tell a process to end. A terminal or an ssh session that closes sends SIGHUP. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Calls a function at each signal that tells this process to end, which no longer ends it by itself. Returns a function that undoes this. */
export function onStopSignal(listener: (signal: string) => void): () => void {
  for (const signal of STOP_SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, listener);
  };
}
