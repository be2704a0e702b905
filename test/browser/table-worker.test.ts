import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import type { LoadedTable, LoadRequest, Row } from '../../src/playground/web/values/table-types';
import { withoutLastRow } from '../support/cut-files';
import { importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';

const FUNDS = 1100;
// The first two lines are one gift whose shares are unknown.
const gateway = openPlayground({
  lines: Array.from({ length: FUNDS }, (_, n) =>
    v2Line({
      ...{
        deposit_id: 'D1',
        transaction_id: n < 2 ? 'T0' : `T${n}`,
        allocation_id: `A${n}`,
        designation_id: n + 1,
        designation: `Fund ${n + 1}`,
      },
      ...{ amount: '10.10', fee_amount: '0.00', net_amount: '10.10', ...(n >= 2 && { allocation_amount: '10.10' }) },
    }),
  ),
});

const ASSETS = join(__dirname, '../../dist/playground-web/assets');
const comlink = readFileSync(require.resolve('comlink/dist/umd/comlink.js'), 'utf8');
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';

const funds = (): LoadRequest => ({
  provision: gateway.organization.webProvision,
  columns: [
    { id: 'key.designation', title: 'Fund', kind: 'text', adds: false },
    { id: 'all.lines', title: 'Lines', kind: 'count', adds: true },
    { id: 'all.byTransaction.amount', title: 'Received', kind: 'money', adds: true },
  ],
  source: {
    kind: 'pages',
    query: `query Funds($first: Int, $after: String) { depositSummary(${RANGE}, groupBy: [DESIGNATION]) {
      all { lines } groups(first: $first, after: $after) {
        nodes { key { designation } all { lines byTransaction { amount } } } pageInfo { hasNextPage endCursor } totalCount
      } } }`,
    variables: {},
    list: 'depositSummary.groups',
  },
});

/** The same groups, of which those after the first page come from a file. */
const fundsAsStream = (): LoadRequest => {
  const request = funds();
  const { query } = request.source;
  return {
    ...request,
    source: {
      ...request.source,
      query: query.replace('all { lines } groups', 'dataVersion { number } all { lines } groups'),
      rest: { names: ['designation', 'lines', 'transaction_amount'], version: 'depositSummary.dataVersion.number' },
    } as LoadRequest['source'],
  };
};

const lines = (): LoadRequest => ({
  provision: gateway.organization.webProvision,
  columns: [
    { id: 'allocationAmount', title: 'To this fund', kind: 'money', adds: true },
    { id: 'transactionId', title: 'Gift', kind: 'text', adds: false },
  ],
  source: {
    kind: 'file',
    query: `query Lines($start: LocalDate!) { depositDetails(startDate: $start, endDate: "2024-12-31") { transactionId allocationAmount } }`,
    variables: { start: '2024-01-01' },
    names: ['allocation_amount', 'transaction_id'],
  },
});

interface Outcome {
  readonly table?: LoadedTable;
  readonly rows?: Row[];
  readonly sums?: object;
  readonly progress: readonly { readonly rows: number }[];
  readonly fault?: { readonly gatewayMessage?: string; readonly gatewayCode?: string; readonly message?: string };
}

/** Opens the page and starts the worker of its tables, as the page itself does. */
async function openWorker(): Promise<Page> {
  const { page } = await gateway.visit();
  await logIn(page);
  // A build keeps the files of those before it for pages that are open.
  const workers = readdirSync(ASSETS).filter((name) => /^table-worker-.*\.js$/.test(name));
  const [file] = workers.sort((one, other) => statSync(join(ASSETS, other)).mtimeMs - statSync(join(ASSETS, one)).mtimeMs);
  await page.evaluate(`${comlink}; 0`);
  await page.evaluate(`window.keeper = Comlink.wrap(new Worker('/playground/assets/${file}', { type: 'module' })); 0`);
  return page;
}

/** Loads a table in the worker, with all its rows and its sums. */
const load = (page: Page, request: LoadRequest): Promise<Outcome> =>
  page.evaluate(`(async () => {
    const progress = [];
    try {
      const table = await keeper.load(${JSON.stringify(request)}, Comlink.proxy((each) => progress.push(each)));
      const { serial, sums } = await keeper.arrange(table.id, { search: '', filters: [] });
      return { table, sums, progress, rows: await keeper.rowsOf(table.id, serial, 0, Infinity) };
    } catch (fault) {
      return { progress, fault: { ...fault, message: fault.message } };
    }
  })()`);

const isPage = (route: Route, after: boolean): boolean => /"after":"/.test(route.request().postData() ?? '') === after;

describe('the page', () => {
  test('reads all pages of a connection, and what stands beside its list', async () => {
    const page = await openWorker();
    const { table, rows, sums, progress } = await load(page, funds());
    expect(table).toEqual({
      id: expect.any(Number) as number,
      count: FUNDS,
      version: 1,
      data: {
        depositSummary: {
          all: { lines: FUNDS },
          groups: { pageInfo: { hasNextPage: true, endCursor: expect.any(String) as string }, totalCount: FUNDS },
        },
      },
      digest: null,
      samples: expect.objectContaining({ 'all.lines': [1], 'all.byTransaction.amount': ['10.10'] }) as object,
    });
    expect(rows!.slice(0, 2)).toEqual([
      ['Fund 1', 1, '10.10'],
      ['Fund 2', 1, '10.10'],
    ]);
    expect(new Set(rows!.map(([fund]) => fund)).size).toBe(FUNDS);
    expect(sums).toEqual({ 'all.lines': { sum: '1100', unknown: 0 }, 'all.byTransaction.amount': { sum: '11110.00', unknown: 0 } });
    expect(progress[0]).toMatchObject({ rows: 1000, allRows: FUNDS, table: { id: table!.id, count: 1000 } });
    await page.context().close();
  });

  test('shows no group where the file of the others ends early, or has other groups', async () => {
    const page = await openWorker();
    for (const alter of [withoutLastRow, (text: string) => text.replace('Fund 1099', 'Fund 99')]) {
      await page.route('**/export/*.csv*', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: alter(await response.text()) });
      });
      const { fault, table } = await load(page, fundsAsStream());
      expect(table).toBeUndefined();
      expect(fault!.message).toContain('The file arrived damaged');
      await page.unroute('**/export/*.csv*');
    }
    await page.context().close();
  });

  test('begins again when the books change between two pages', async () => {
    const page = await openWorker();
    let changes = 1;
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const version = isPage(route, true) && changes-- > 0 ? '2' : '1';
      await route.fulfill({ response, headers: { ...response.headers(), 'x-data-version': version } });
    });
    const { rows, table } = await load(page, funds());
    expect([rows!.length, new Set(rows!.map(([fund]) => fund)).size, table!.version]).toEqual([FUNDS, FUNDS, 1]);
    changes = Infinity;
    const { fault } = await load(page, funds());
    expect(fault).toMatchObject({
      gatewayCode: 'DATA_VERSION_CHANGED',
      gatewayMessage: 'The books keep changing while the rows are read. Run the report again.',
    });
    await page.context().close();
  });

  test('reads the lines of a file in the order of its columns, and what is unknown as unknown', async () => {
    const page = await openWorker();
    const { table, rows, sums } = await load(page, lines());
    expect(table).toEqual({
      id: expect.any(Number) as number,
      count: FUNDS,
      version: 1,
      data: null,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      samples: expect.objectContaining({ allocationAmount: [null, '10.10'] }) as object,
    });
    expect(new Set(rows!.map(([, gift]) => gift)).size).toBe(FUNDS - 1);
    expect(rows!.filter(([, gift]) => gift === 'T0' || gift === 'T9')).toEqual([
      [null, 'T0'],
      [null, 'T0'],
      ['10.10', 'T9'],
    ]);
    expect(sums).toEqual({ allocationAmount: { sum: '11089.80', unknown: 2 } });
    await page.context().close();
  });

  test('takes no file for one of unknown values when it lacks a column', async () => {
    const page = await openWorker();
    const request = lines();
    const { fault } = await load(page, {
      ...request,
      source: { ...request.source, names: ['allocationAmount', 'transaction_id'] } as never,
    });
    expect(fault!.message).toBe('The file has no column allocationAmount.');
    await page.context().close();
  });

  test('shows no row of a file of which less arrives than the gateway sent', async () => {
    const page = await openWorker();
    await page.route('**/export/*.csv*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace('10.10', '1.10') });
    });
    const { fault, table } = await load(page, lines());
    expect(table).toBeUndefined();
    expect(fault!.message).toContain('The file arrived damaged');
    await page.context().close();
  });

  test('tells a refused query by its code and its words', async () => {
    const page = await openWorker();
    const request = lines();
    const { fault } = await load(page, { ...request, provision: 'nobody' });
    expect(fault).toMatchObject({
      gatewayCode: 'INVALID_PROVISION',
      gatewayMessage: expect.stringContaining('This Provision is not valid') as string,
    });
    await page.context().close();
  });

  test('stops a load, and its request, when it begins another one', async () => {
    const page = await openWorker();
    const isAsked = new Promise<void>((resolve) => {
      void page.route('**/export/*.csv*', () => resolve(), { times: 1 });
    });
    const failed = page.waitForEvent('requestfailed');
    const older = load(page, lines());
    await isAsked;
    const newer = await load(page, funds());
    expect((await older).fault).toMatchObject({ gatewayCode: 'STOPPED' });
    expect((await failed).url()).toContain('.csv');
    expect(newer.table!.count).toBe(FUNDS);
    await page.context().close();
  });

  test('reads the groups after the first page from one file of the same state, also when the books have changed by then', async () => {
    const page = await openWorker();
    const paged = await load(page, funds());
    const asked: string[] = [];
    // The page asks for its own things beside.
    page.on('request', (request) => {
      if (/\/export\//.test(request.url()) || request.postData()?.includes('depositSummary')) asked.push(new URL(request.url()).pathname);
    });
    await page.route('**/export/*.csv*', async (route) => {
      const fund = v2Line({
        ...{ deposit_id: 'D2', transaction_id: 'T9999', allocation_id: 'A9999' },
        designation_id: 1050,
        designation: 'New',
      });
      await importLines(gateway.services, gateway.organization, [fund]);
      await route.continue();
    });
    const { table, rows, sums } = await load(page, fundsAsStream());
    expect([table!.version, rows, sums]).toEqual([1, paged.rows, paged.sums]);
    const files = asked.filter((path) => path.startsWith('/export/'));
    expect(files).toEqual(['/export/deposit-summary.csv', expect.stringContaining('/export/receipts/')]);
    // The first page, and the address of the file.
    expect(asked.filter((path) => path === '/graphql')).toHaveLength(2);
    await page.context().close();
  });
});
