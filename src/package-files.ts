import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The package's root. This file's folder lies directly in it: `src` where the sources run, and `dist` where the bundle does. */
const PACKAGE_ROOT = join(__dirname, '..');

/** The path of a file or folder that the package holds beside its code, by its path within the package. */
export const packageFile = (path: string): string => join(PACKAGE_ROOT, path);

/** The gateway's version, as package.json has it. */
export const readVersion = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { readonly version: string }).version;
