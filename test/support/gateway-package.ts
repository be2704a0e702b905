import { join } from 'node:path';
import { ROOT } from './documents';

/** The package whose commands the tests run: this build, or one that is installed elsewhere. */
export const PACKAGE = process.env.TEST_PACKAGE ?? ROOT;

/** The module of the command `deposit-gateway`. */
export const MAIN = join(PACKAGE, 'dist/main.js');
