import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './documents';
import { PACKAGE } from './gateway-package';

/** Copies the present build into a directory, with migrations after its own, as SQL by their names. Returns its main module. */
export function makeLaterBuild(directory: string, migrations: Readonly<Record<string, string>>): string {
  for (const part of ['dist', 'prisma', 'package.json']) cpSync(join(PACKAGE, part), join(directory, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  for (const [name, sql] of Object.entries(migrations)) {
    mkdirSync(join(directory, 'prisma/migrations', name));
    writeFileSync(join(directory, 'prisma/migrations', name, 'migration.sql'), sql);
  }
  return join(directory, 'dist/main.js');
}
