#!/usr/bin/env -S node --
// Node would take `--env-file` for an option of its own, were it not for the `--` above.
import { runProgram } from './cli/commands/program';
import { explainCrashes } from './cli/crash';

const terminal = { input: process.stdin, output: process.stdout, errors: process.stderr };

explainCrashes();
void runProgram(process.argv.slice(2), process.env, terminal).then((status) => {
  // The callback runs when all output is written. Nothing that a library still waits for keeps a command that has ended.
  process.stdout.write('', () => process.exit(status));
});
