import { toSourceStack } from '../stack-positions';

/**
 * Has an error that nothing catches end the process as Node does, with its places in the sources. Node would quote the line of code, which is
 * most of a file in the bundle.
 */
export function explainCrashes(): void {
  process.on('uncaughtException', (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${toSourceStack(text)}\n`);
    process.exit(1);
  });
}
