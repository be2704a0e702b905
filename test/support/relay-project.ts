import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConcreteRequest } from 'relay-runtime';

export interface RelayProject {
  readonly directory: string;
  /** The compiled operation of this name. */
  operation(name: string): ConcreteRequest;
  remove(): void;
}

/** Compiles documents against the schema as an app does. Relay requires that an operation's name begins with the name of its file. */
export function compileRelay(files: Readonly<Record<string, string>>, config: object = {}): RelayProject {
  const directory = mkdtempSync(join(tmpdir(), 'relay-'));
  mkdirSync(join(directory, 'src'));
  cpSync(resolve(__dirname, '../../schema.graphql'), join(directory, 'schema.graphql'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, `src/${name}.js`), `graphql\`${text}\`;`);
  // The compiler adds its persisted documents to an existing file.
  writeFileSync(join(directory, 'persisted.json'), '{}');
  const settings = { src: './src', schema: './schema.graphql', language: 'javascript', eagerEsModules: false, ...config };
  writeFileSync(join(directory, 'relay.config.json'), JSON.stringify(settings));
  const compiler = require.resolve('relay-compiler/cli.js');
  const output = execFileSync(process.execPath, [compiler, 'relay.config.json'], { cwd: directory, encoding: 'utf8', stdio: 'pipe' });
  if (output.includes('ERROR')) throw new Error(output);
  return {
    directory,
    operation: (name) => jest.requireActual<ConcreteRequest>(join(directory, `src/__generated__/${name}.graphql.js`)),
    remove: () => rmSync(directory, { recursive: true }),
  };
}
