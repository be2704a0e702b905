import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, getNamedType, isEnumType, isInputObjectType } from 'graphql';
import { privileges } from '../../src/values/privileges';
import { errorTable } from '../../src/errors';
import { operationLimits } from '../../src/resolvers/request/operation-limits';
import { succeed } from '../support/command';
import { readDocument, ROOT, sectionOf, tableOf } from '../support/documents';
import { v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const RANGE = 'start_date=2024-01-01&end_date=2024-12-31';
/** A value that each parameter of a file takes. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ start_date: '2024-01-01', end_date: '2024-12-31', include_pending: 'true', pending: 'WITH', bom: 'true', totals: 'skip' },
  ...{ period: 'last-month', date_basis: 'TRANSACTION_DATE' },
  ...{ transaction_date_from: '2024-01-01', transaction_date_to: '2024-12-31', amount_min: '1.00', amount_max: '100.00' },
  ...{ deposit_id: '1', transaction_id: 'P10', designation_id: '3', donor_id: '7', donor_name: 'Love', status: 'Complete' },
  ...{ account_type: 'Checking', payment_type: 'ACH', group_by: 'MONTH', fiscal_year_start: '7', columns: 'all', as_of: '1' },
  ...{ from: '1', to: '1', class: 'MONEY' },
  late: 'false',
};
const OF_SUMMARIES = ['group_by', 'fiscal_year_start'];
const OF_CHANGES = ['from', 'to', 'class'];

const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'));
const files = readDocument('docs/files.md');
const first = (rows: readonly string[][]): string[] => rows.map(([cell]) => cell!);
/** The names in cells that hold several. */
const names = (cells: readonly string[]): string[] => cells.flatMap((cell) => cell.split(', '));

/** The values of an input, each by its way from the outermost. */
function leavesOf(type: string): string[] {
  const input = schema.getType(type);
  if (!isInputObjectType(input)) return [];
  return Object.values(input.getFields()).flatMap(({ name, type: inner }) => {
    const below = leavesOf(getNamedType(inner).name);
    return below.length > 0 ? below.map((leaf) => `${name}.${leaf}`) : name;
  });
}

const gateway = openGateway({ lines: [v2Line()] });

const get = (path: string): Promise<Response> => fetch(gateway.url + path, { headers: { Provision: gateway.organization.apiProvision } });
const columnsOf = async (path: string): Promise<string[]> =>
  (await (await get(path)).text()).split('\r\n')[0]!.replaceAll('"', '').split(',');

describe("the documents' tables are those of the gateway", () => {
  test('an operator finds every command', async () => {
    const list = async (...words: string[]): Promise<string[]> => {
      const [, commands = ''] = (await succeed({ DATABASE_URL: gateway.database.url }, [...words, '--help'])).split('\nCommands:\n');
      return [...commands.matchAll(/^ {2}([a-z][\w-]*)/gm)].map((match) => match[1]!).filter((command) => command !== 'help');
    };
    const commands: string[] = [];
    for (const command of await list()) {
      const below = await list(command);
      commands.push(...(below.length > 0 ? below.map((each) => `${command} ${each}`) : [command]));
    }
    expect(first(tableOf(readDocument('docs/operators.md'), 'command')).sort()).toEqual(commands.sort());
  });

  test('a caller finds every privilege and every kind of provision', () => {
    const words = sectionOf(readDocument('docs/glossary.md'), 'Who asks');
    expect(first(tableOf(words, 'privilege'))).toEqual(privileges);
    const kinds = /^enum ProvisionKind \{\s+([\w\s]+?)\s+@@map/m.exec(readFileSync(join(ROOT, 'prisma/schema.prisma'), 'utf8'))![1]!;
    expect(first(tableOf(words, 'kind'))).toEqual(kinds.split(/\s+/));
  });

  test('an integrator finds every field of a line', async () => {
    expect(first(tableOf(readDocument('docs/v2.md'), 'field'))).toEqual(await columnsOf(`/export/deposit-details.csv?${RANGE}&columns=v2`));
  });

  test('a script finds every column of a file', async () => {
    const columns = sectionOf(files, 'Columns');
    const lines = first(tableOf(readDocument('docs/v2.md'), 'field')).concat(first(tableOf(columns, 'column')));
    expect(await columnsOf(`/export/deposit-details.csv?${RANGE}&columns=all`)).toEqual(lines);
    const ofSummary = columns.split('A file of a summary')[1]!;
    expect(await columnsOf(`/export/deposit-summary.csv?${RANGE}`)).toEqual(names(first(tableOf(ofSummary, 'column'))));
    const ofChanges = names(first(tableOf(sectionOf(files, 'Changes'), 'column'))).map((name) => name.replace(' and so on', ''));
    expect(await columnsOf(`/export/deposit-changes.csv?${RANGE}&from=1`)).toEqual(expect.arrayContaining(ofChanges));
  });

  test('a script finds every header of a file', async () => {
    const calendar = { ...gateway.organization, timeZone: 'UTC', fiscalYearStart: 1 };
    await gateway.services.periods.close(calendar, '2023-12-31', undefined, { name: null });
    const query = `${RANGE}&totals=headers&date_basis=TRANSACTION_DATE`;
    await gateway.services.journalAccounts.save(gateway.organization.id, { bank: '1', fees: '2', funds: [] }, { name: null });
    const answers = await Promise.all([
      get(`/export/deposit-details.csv?${query}`),
      get(`/export/deposit-changes.csv?${query}&from=1`),
      get('/export/journal.csv?start_date=2023-01-01&end_date=2023-01-01'),
    ]);
    const all = new Set(answers.flatMap(({ headers }) => [...headers.keys()]));
    const sent = [...all].filter((name) => /^x-(export|closed)-/.test(name));
    const documented = first(tableOf(sectionOf(files, 'Control totals'), 'header')).map((name) => name.toLowerCase());
    expect(documented.sort()).toEqual(sent.sort());
  });

  test('a script finds every condition of the filter, and parameters that the doors take', async () => {
    const rows = tableOf(sectionOf(files, 'Parameters'), 'parameter');
    expect(rows.flatMap(([, path]) => (path === '' ? [] : path!)).sort()).toEqual(leavesOf('DepositDetailFilter').sort());
    expect(first(rows).sort()).toEqual(Object.keys(VALUES).sort());
    const groups = schema.getType('GroupBy');
    const documented = rows.find(([name]) => name === 'group_by')![2]!.match(/[A-Z_]+/g)!;
    expect(documented.sort()).toEqual(isEnumType(groups) && groups.getValues().map(({ name }) => name));
    const query = (...without: string[]): string =>
      new URLSearchParams(Object.entries(VALUES).filter(([name]) => !without.includes(name))).toString();
    expect((await get(`/export/deposit-details.csv?${query(...OF_SUMMARIES, ...OF_CHANGES, 'period')}`)).status).toBe(200);
    expect((await get(`/export/deposit-summary.csv?${query('start_date', 'end_date', ...OF_CHANGES)}`)).status).toBe(200);
    expect((await get(`/export/deposit-changes.csv?${query('period', 'as_of', 'late', ...OF_SUMMARIES)}`)).status).toBe(200);
  });

  test('a script finds every range of a figure by which groups are chosen', async () => {
    const rows = tableOf(sectionOf(files, 'Chosen groups'), 'parameters');
    expect(rows.map(([, path]) => path!).sort()).toEqual([...new Set(leavesOf('FigureRanges').map((path) => path.split('.')[0]!))].sort());
    const parameters = names(first(rows));
    const toSnake = (path: string): string => path.replace('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(parameters.toSorted()).toEqual(leavesOf('FigureRanges').map(toSnake).sort());
    const valueOf = (name: string): string => (/_gift_/.test(name) ? '2024-01-01' : name.includes('amount') ? '1.00' : '1');
    const query = parameters.flatMap((name) => [`${name}=${valueOf(name)}`, `compared_${name}=${valueOf(name)}`]).join('&');
    const compared = 'compare_start_date=2023-01-01&compare_end_date=2023-12-31';
    expect((await get(`/export/deposit-summary.csv?${RANGE}&group_by=MONTH&${compared}&${query}`)).status).toBe(200);
  });

  test('a script finds every named period', async () => {
    const documented = first(tableOf(sectionOf(files, 'Periods'), 'period'));
    const { errors } = (await (await get('/export/deposit-details.csv?period=noon')).json()) as { errors: [{ error: string }] };
    const [, listed = ''] = errors[0].error.split('period must be ');
    expect(documented).toEqual(listed.split(/, | or /));
    const periods = schema.getType('NamedPeriod');
    const values = isEnumType(periods) ? periods.getValues().map(({ name }) => name) : [];
    expect(values.sort()).toEqual(documented.map((name) => name.toUpperCase().replaceAll('-', '_')).sort());
  });

  test('a frontend team finds the limits of an operation', () => {
    const { maxTokens, maxDepth, maxAliases, maxRootFields, maxSelections, maxFieldPairs, maxCost, maxIntrospected } = operationLimits;
    const values = tableOf(sectionOf(readDocument('docs/frontend.md'), 'Limits'), 'limit').map(([, value]) =>
      Number(value!.replace(',', '')),
    );
    expect(values).toEqual([maxTokens, maxDepth, maxAliases, maxRootFields, maxSelections, maxFieldPairs, maxCost, maxIntrospected]);
  });

  test('an analyst is told of messages that there are', () => {
    // The page has words of its own for what concerns the login, the network and itself.
    const page = ['session/gateway-client.ts', 'session/session-state.ts', 'rows/gateway-faults.ts']
      .map((name) => readFileSync(join(ROOT, 'src/playground/web', name), 'utf8'))
      .join('\n');
    const texts: readonly string[] = Object.values(errorTable).map(({ text }) => text);
    const messages = first(tableOf(readDocument('docs/analysts.md'), 'message'));
    expect(messages.filter((message) => !texts.includes(message) && !page.includes(`'${message}.`))).toEqual([]);
  });
});
