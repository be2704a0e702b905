import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { depositBook } from '../support/deposit-book';
import { ROOT } from '../support/documents';
import { openGateway } from '../support/open-gateway';

const LINES = depositBook(60);
const gateway = openGateway({ lines: LINES });

const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const YEAR = { start_date: '2024-01-01', end_date: '2024-12-31', include_pending: 'true' };
const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2023', module: 'commonjs', moduleResolution: 'bundler', strict: true, noUncheckedIndexedAccess: true },
    ...{ lib: ['es2023', 'dom', 'dom.iterable'], types: ['node'], skipLibCheck: true, noEmitOnError: true },
  },
  include: ['.'],
};

let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'v2-client-'));
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const document = await fetch(`${gateway.url}/api/v2/openapi.json`);
  writeFileSync(join(directory, 'openapi.json'), await document.text());
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs a script of the client's directory, or of a package, which npm may have installed for the tests alone. */
async function run(script: string, ...words: string[]): Promise<string> {
  const path = [directory, join(ROOT, 'test/node_modules'), join(ROOT, 'node_modules')]
    .map((folder) => join(folder, script))
    .find(existsSync);
  const { stdout } = await promisify(execFile)(process.execPath, [path!, ...words], { cwd: directory });
  return stdout;
}

/** Compiles a program beside its generated client, runs it, and expects it to print the id and the amount of each line of the year. */
async function expectYear(program: string): Promise<void> {
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  writeFileSync(join(directory, 'reader.ts'), program);
  await run('typescript/bin/tsc', '-p', '.');
  expectLines(await run('reader.js', gateway.url, gateway.organization.apiProvision));
}

function expectLines(printed: string): void {
  const lines = LINES.filter(({ deposit_date }) => deposit_date >= YEAR.start_date && deposit_date <= YEAR.end_date);
  expect(lines.length).toBeGreaterThan(10);
  const rowsOf = (rows: readonly (readonly unknown[])[]): string[] => rows.map((row) => row.join()).sort();
  expect(rowsOf(JSON.parse(printed) as unknown[][])).toEqual(rowsOf(lines.map(({ allocation_id, amount }) => [allocation_id, amount])));
}

test('a TypeScript program reads a year by the types of openapi-typescript, which know every field and no other', async () => {
  await run('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'v2.ts');
  await expectYear(`
    import createClient from 'openapi-fetch';
    import type { paths } from './v2';

    async function main(baseUrl = '', provision = ''): Promise<void> {
      const client = createClient<paths>({ baseUrl, headers: { Provision: provision } });
      const query = ${JSON.stringify(YEAR)} as const;
      const { data, error } = await client.GET('${REPORT}', { params: { query } });
      if (error) throw new Error(error.errors[0]?.error);
      // @ts-expect-error There is no such field.
      data.response.map(({ amuont }) => amuont);
      // @ts-expect-error The flag is text.
      await client.GET('${REPORT}', { params: { query: { ...query, include_pending: true } } });
      const rows: [string, string][] = data.response.map((line) => [line.allocation_id, line.amount]);
      console.log(JSON.stringify(rows));
    }
    void main(...process.argv.slice(2));
  `);
});

test('a TypeScript program reads a year by the client of Hey API', async () => {
  await run('@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'client', '-c', '@hey-api/client-fetch', '--silent');
  await expectYear(`
    import { client } from './client/client.gen';
    import { depositDetails } from './client/sdk.gen';

    async function main(baseUrl = '', provision = ''): Promise<void> {
      client.setConfig({ baseUrl, auth: ({ name }) => (name === 'Provision' ? provision : undefined) });
      const { data, error } = await depositDetails({ query: ${JSON.stringify(YEAR)} });
      if (!data) throw new Error(error.errors[0]?.error);
      const rows: [string, string][] = data.response.map((line) => [line.allocation_id, line.amount]);
      console.log(JSON.stringify(rows));
    }
    void main(...process.argv.slice(2));
  `);
});
