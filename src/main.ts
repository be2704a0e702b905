#!/usr/bin/env node
// Before anything is loaded: graphql checks its own objects again and again in any other environment.
process.env.NODE_ENV ??= 'production';

import { runProgram } from './cli/program';

const terminal = { input: process.stdin, output: process.stdout, errors: process.stderr };

void runProgram(process.argv.slice(2), process.env, terminal).then((status) => {
  // Written out first; and left at once, since the schema engine keeps a timer for ten seconds.
  process.stdout.write('', () => process.exit(status));
});
