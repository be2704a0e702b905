import { readFile } from 'node:fs/promises';
import { createOrganization, v2Line, type TestOrganization } from '../support/gateway';
import { execute, logIn, openPlayground, pasteInto, type OpenPage } from '../support/playground-browser';

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
  await page.getByRole('button', { name: 'Saved reports' }).click();
  const dialog = page.getByRole('dialog', { name: 'Saved reports' });
  await dialog.getByText('None yet.').waitFor();
  await dialog.getByLabel('Save the query in the editor as').fill('wells');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText('/reports/wells.csv').waitFor();
  await page.screenshot({ path: 'coverage/playground-reports.png' });
  const expected = 'transaction_id,designation,amount\r\n"P10","Wells","1234567.50"\r\n"P11","Wells","10.50"\r\n';
  expect(await fetchFile('/reports/wells.csv')).toEqual({ status: 200, text: expected });
  expect((await fetchFile('/reports/wells.csv?designationIds=3')).text).toBe(
    'transaction_id,designation,amount\r\n"P10","General Fund","1234567.50"\r\n',
  );

  await dialog.getByRole('button', { name: 'Copy wells for Power Query' }).click();
  await dialog.getByText('wells: Copied for the advanced editor').waitFor();
  const power = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(power).toContain(`Web.Contents("${gateway.url}"`);
  expect(power).toContain('RelativePath = "reports/wells.csv"');
  for (const secret of [organization.webProvision, organization.apiProvision]) expect(power).not.toContain(secret);

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

  await page.getByRole('button', { name: 'Saved reports' }).click();
  // One press neither replaces an earlier report nor deletes one whose address others use.
  const asked: string[] = [];
  let isMeant = false;
  page.on('dialog', (question) => {
    asked.push(question.message());
    void (isMeant ? question.accept() : question.dismiss());
  });
  await dialog.getByLabel('Save the query in the editor as').fill('wells');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByRole('button', { name: 'Delete wells' }).click();
  expect(asked).toEqual([
    expect.stringMatching(/^Replace wells, saved by ada, \d{4}-\d\d-\d\d\?$/),
    'Delete wells? Programs that read its address will find nothing.',
  ]);
  expect((await fetchFile('/reports/wells.csv')).status).toBe(200);
  isMeant = true;
  await dialog.getByRole('button', { name: 'Delete wells' }).click();
  await dialog.getByText('None yet.').waitFor();
  expect((await fetchFile('/reports/wells.csv')).status).toBe(404);
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
