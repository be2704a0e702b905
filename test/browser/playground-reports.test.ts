import { readFile } from 'node:fs/promises';
import { createOrganization, login, v2Line, type TestOrganization } from '../support/gateway';
import { execute, logIn, openPlayground, pasteInto, type OpenPage, untilFocusIsOn } from '../support/playground-browser';

const gateway = openPlayground({
  // One gift is split over two funds.
  lines: [
    v2Line({ amount: '1234567.50', fee_amount: '0.50', net_amount: '1234567.00' }),
    v2Line({
      amount: '1234567.50',
      fee_amount: '0.50',
      net_amount: '1234567.00',
      allocation_id: 'P101',
      designation_id: 4,
      designation: 'Wells',
    }),
    v2Line({ transaction_id: 'P11', allocation_id: 'P110', designation_id: 4, designation: 'Wells' }),
  ],
});
const { organization } = gateway;
let other: TestOrganization;
let cookie: string | undefined;

beforeAll(async () => {
  other = await createOrganization(gateway.services);
});

const QUERY = `query Wells($startDate: LocalDate!, $designationIds: [SafeInt!]) {
  depositDetailsConnection(startDate: $startDate, endDate: "2024-12-31", first: 1, filter: { designationIds: $designationIds }) {
    nodes { transactionId designation amount }
  }
}`;

async function open(as: TestOrganization): Promise<OpenPage> {
  const opened = await gateway.visit({ as });
  await logIn(opened.page);
  return opened;
}

async function openWith(query: string, variables: object): Promise<OpenPage> {
  const opened = await open(organization);
  await pasteInto(opened.page, 'query', query);
  await pasteInto(opened.page, 'variables', JSON.stringify(variables));
  return opened;
}

const fetchFile = async (path: string, provision = organization.apiProvision) => {
  const response = await fetch(gateway.url + path, { headers: { Provision: provision } });
  return { status: response.status, text: await response.text() };
};

/** Asks as a logged-in colleague. */
async function ask(query: string, variables: object): Promise<Record<string, { readonly updatedAt: string }[]>> {
  cookie ??= await login(gateway.url, organization.webProvision);
  const headers = { 'Content-Type': 'application/json', Provision: organization.webProvision, Cookie: cookie };
  const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = (await response.json()) as { data: Record<string, { readonly updatedAt: string }[]>; errors?: unknown };
  expect(errors).toBeUndefined();
  return data;
}

const saveReport = (name: string, title: string, variables: object, replaces?: string) =>
  ask('mutation ($input: SaveReportInput!) { saveReport(input: $input) { replaced } }', {
    input: { name, title, query: QUERY, variables, replaces },
  });

const savedAt = async (name: string): Promise<string> =>
  (await ask('query ($names: [String!]) { savedReports(filter: { names: $names }) { updatedAt } }', { names: [name] })).savedReports![0]!
    .updatedAt;

test('an analyst sees what all lines add up to, and is warned of split gifts', async () => {
  const { page, faults } = await openWith(QUERY, { startDate: '2024-01-01' });
  await execute(page);
  const totals = page.getByRole('region', { name: 'Totals of all lines' });
  await totals.waitFor();
  const figures = (await totals.locator('dt, dd').allTextContents()).join('|');
  expect(figures).toBe(
    'Lines|3|Transactions|2|Deposits|1|Amount by transaction|1,234,578.00|Amount by line|2,469,145.50|Amount by allocation|10.50 (2 unknown)',
  );
  await totals.getByRole('note').filter({ hasText: '1 gift is split over several lines' }).waitFor();
  await page.screenshot({ path: 'coverage/playground-totals.png' });
  // A query that asks for no lines has no totals.
  await pasteInto(page, 'query', 'query Who { viewer { username } }');
  await execute(page);
  await totals.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst saves a report, which keeps its address, and takes it into a spreadsheet', async () => {
  const { page, faults } = await openWith(QUERY, { startDate: '2024-01-01', designationIds: [4] });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const saving = page.getByRole('dialog', { name: 'Save the report' });
  // The name in the address comes from the title, until somebody writes another one.
  await saving.getByLabel('Title').fill('  Wells & Śpring: 2024 ');
  expect(await saving.getByLabel('Name in the address').inputValue()).toBe('wells-spring-2024');
  await saving.getByLabel('Name in the address').fill('Wells');
  await saving.getByRole('button', { name: 'Save', exact: true }).click();
  await saving.getByText('Write lower-case letters and digits').waitFor();
  await saving.getByLabel('Name in the address').fill('wells');
  await saving.getByText('/reports/wells.csv').waitFor();
  await saving.getByRole('button', { name: 'Save', exact: true }).click();
  await saving.getByRole('status').filter({ hasText: 'Saved as wells.' }).waitFor();
  await page.keyboard.press('Escape');
  const expected = 'transaction_id,designation,amount\r\n"P10","Wells","1234567.50"\r\n"P11","Wells","10.50"\r\n';
  expect(await fetchFile('/reports/wells.csv')).toEqual({ status: 200, text: expected });
  expect((await fetchFile('/reports/wells.csv?designationIds=3')).text).toBe(
    'transaction_id,designation,amount\r\n"P10","General Fund","1234567.50"\r\n',
  );

  await page.getByRole('button', { name: 'Saved reports' }).click();
  const dialog = page.getByRole('dialog', { name: 'Saved reports' });
  const row = dialog.getByRole('listitem').filter({ hasText: 'Wells & Śpring: 2024' });
  await row.getByText(/^ada, \d{4}-\d\d-\d\d$/).waitFor();
  expect((await row.locator('dt, dd').allTextContents()).join('|')).toBe('startDate|2024-01-01|designationIds|4');
  await page.screenshot({ path: 'coverage/playground-reports.png' });
  await dialog.getByRole('button', { name: 'Copy for Power Query: wells' }).click();
  await dialog.getByText('wells: Copied for the advanced editor').waitFor();
  const power = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(power).toContain(`Web.Contents("${gateway.url}"`);
  expect(power).toContain('RelativePath = "reports/wells.csv"');
  expect(power).toContain(
    '{\n    {"transaction_id", type text},\n    {"designation", type text},\n    {"amount", Currency.Type}\n  }, "en-US")',
  );
  for (const secret of [organization.webProvision, organization.apiProvision]) expect(power).not.toContain(secret);
  await dialog.getByRole('button', { name: 'Copy curl: wells' }).click();
  await dialog.getByText('wells: The command is copied.').waitFor();
  const [, url] = /'([^']+)'$/.exec(await page.evaluate<string>('navigator.clipboard.readText()')) ?? [];
  expect(url).toBe(`${gateway.url}/reports/wells.csv?startDate=2024-01-01&designationIds=4`);
  expect((await fetchFile(url!.slice(gateway.url.length))).text).toBe(expected);
  const [opening] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Open in Excel: wells' }).click(),
  ]);
  await dialog.getByText('wells: Open the file: Excel asks for a name and a password.').waitFor();
  expect([opening.suggestedFilename(), await readFile(await opening.path(), 'utf8')]).toEqual([
    'Report_wells.odc',
    expect.stringContaining(`${gateway.url}/odata/Report_wells`) as string,
  ]);
  await dialog.getByRole('button', { name: 'Copy link: wells' }).click();
  await dialog.getByText('wells: The link is copied.').waitFor();
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(`${gateway.url}/playground#saved/wells`);

  // A saved report opens in a new tab of the editors, and its download is the same file.
  await dialog.getByRole('button', { name: 'Open wells' }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download', exact: true }).click()]);
  expect(await readFile(await saved.path(), 'utf8')).toBe(`\uFEFF${expected}`);

  // An analyst of another organization sees none of the reports.
  const elsewhere = await open(other);
  await elsewhere.page.getByRole('button', { name: 'Saved reports' }).click();
  await elsewhere.page.getByRole('dialog').getByText('None yet.').waitFor();
  expect(await fetchFile('/reports/wells.csv', other.apiProvision)).toEqual({
    status: 404,
    text: '{"errors":[{"error":"Not found","status":404}]}',
  });
  await elsewhere.page.context().close();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst neither replaces nor deletes a report by accident', async () => {
  const earlier = { name: 'general', title: 'General Fund' };
  await saveReport(earlier.name, earlier.title, { startDate: '2024-01-01', designationIds: [3] });
  const { page, faults } = await openWith(QUERY, { startDate: '2024-01-01', designationIds: [4] });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const saving = page.getByRole('dialog', { name: 'Save the report' });
  await saving.getByLabel('Title').fill('General');
  await saving
    .getByRole('alert')
    .filter({ hasText: /^This name is taken: “General Fund”, saved by ada, \d{4}-\d\d-\d\d\./ })
    .waitFor();
  expect(await saving.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0);
  // A colleague saves it again meanwhile, so this analyst has not seen what would be replaced.
  await saveReport(earlier.name, earlier.title, { startDate: '2024-01-02' }, await savedAt(earlier.name));
  await saving.getByRole('button', { name: 'Replace' }).click();
  await saving.getByRole('alert').filter({ hasText: 'was saved by ada at' }).waitFor();
  expect((await fetchFile('/reports/general.csv')).text).toContain('General Fund');
  // Now the dialog shows what the colleague saved, and replaces that.
  await saving.getByRole('button', { name: 'Replace' }).click();
  await saving.getByRole('status').filter({ hasText: 'Replaced general.' }).waitFor();
  expect((await fetchFile('/reports/general.csv')).text).not.toContain('General Fund');
  await saving.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'Saved reports' }).click();
  const dialog = page.getByRole('dialog', { name: 'Saved reports' });
  await dialog.getByRole('button', { name: 'Delete General' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete “General”?' });
  await question.getByText('Programs that read /reports/general.csv will find nothing').waitFor();
  // The safe answer has the focus, and Escape is that answer too.
  await page.keyboard.press('Enter');
  await question.waitFor({ state: 'detached' });
  await untilFocusIsOn(page, 'Delete General');
  await page.keyboard.press('Enter');
  await question.waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  expect((await fetchFile('/reports/general.csv')).status).toBe(200);
  await dialog.getByRole('button', { name: 'Delete General' }).click();
  await question.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('status').filter({ hasText: 'Deleted “General”.' }).waitFor();
  expect((await fetchFile('/reports/general.csv')).status).toBe(404);
  await untilFocusIsOn(page, 'List of saved reports');
  // The dialogs close one after the other, and the focus ends on the button that began.
  await page.keyboard.press('Escape');
  await untilFocusIsOn(page, 'Saved reports');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst copies a command that fetches the same file elsewhere', async () => {
  const { page, faults } = await openWith(QUERY, { startDate: '2024-01-01' });
  await page.getByLabel('or the address as').selectOption('curl');
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'replace YOUR-API-PROVISION' }).waitFor();
  const command = await page.evaluate<string>('navigator.clipboard.readText()');
  const [, url] = /'Provision: YOUR-API-PROVISION' '([^']+)'$/.exec(command) ?? [];
  expect(url).toBe(
    `${gateway.url}/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31&include_pending=false&columns=transaction_id,designation,amount`,
  );
  expect((await fetchFile(url!.slice(gateway.url.length))).text.split('\r\n').length).toBe(5);
  // A query that cannot become a file says so.
  await pasteInto(page, 'query', 'query Who { viewer { username } }');
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'query asks for no lines' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
