import { describeCrash } from './failure-words';

/**
 * Has an error that nothing catches end the process with status 1 and its places in the sources. Node would quote the line of code, which is
 * most of a file in the bundle, and the fields of the error, which may have a donor's data.
 */
export function explainCrashes(): void {
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`${describeCrash(error)}\n`);
    process.exit(1);
  });
}
