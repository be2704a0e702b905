import { createExportReader, sha256 } from '../support/export-reader';
import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
const reader = createExportReader(gateway);

const YEAR = 'start_date=2024-01-01&end_date=2024-12-31';
const FUNDS = [
  { designationId: 3, account: '4010' },
  { designationId: 4, account: '4020' },
  { designationId: 5, account: '4010' },
];
const ACCOUNTS = { bank: '1000', fees: '6000', funds: FUNDS };
const PLAIN = 'entry_id,date,account,debit,credit,description,deposit_id,currency';

type Fields = Readonly<Record<string, unknown>>;
/** A gift of one line in a deposit of its own, unless its fields say otherwise. */
const gift = (id: string, fields: Fields = {}) =>
  v2Line({
    ...{ deposit_id: `D${id}`, transaction_id: `T${id}`, allocation_id: `A${id}`, deposit_status: 'posted' },
    ...{ designation: `Fund ${JSON.stringify(fields.designation_id ?? 3)}`, ...fields },
  });
const part = (id: string, of: string, fund: number, share: string, fields: Fields = {}) =>
  gift(id, {
    ...{ deposit_id: `D${of}`, transaction_id: `T${of}`, amount: '100.00', fee_amount: '3.00', net_amount: '97.00' },
    ...{ designation_id: fund, allocation_amount: share, allocation_amount_inferred: false, ...fields },
  });
const SPLIT = [part('1a', '1', 3, '60.00'), part('1b', '1', 4, '30.00'), part('1c', '1', 5, '10.00')];
const REFUND = gift('2', { deposit_date: '2024-02-03', amount: '-8.00', fee_amount: '0.00', net_amount: '-8.00', designation_id: 4 });
const PENDING = gift('3', { deposit_status: 'pending' });

async function createBooks(lines: readonly object[], accounts: typeof ACCOUNTS | null = ACCOUNTS): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  await change(organization, lines);
  if (accounts) await gateway.services.journalAccounts.save(organization.id, accounts, { name: 'ada' });
  return organization;
}
/** Makes the books those of a complete file. */
const change = (organization: TestOrganization, lines: readonly object[]) =>
  importLines(gateway.services, organization, lines, {
    complete: { periods: [{ startDate: '2024-01-01', endDate: '2024-12-31' }], pending: 'WITH' },
    maxRemoved: Infinity,
  });
const take = (organization: TestOrganization, query: string, headers: Readonly<Record<string, string>> = {}) =>
  reader.get(`/export/journal.csv?${query}`, { Provision: organization.apiProvision, ...headers });
async function linesOf(organization: TestOrganization, query: string): Promise<string[]> {
  const { status, body } = await take(organization, query);
  expect([status, body.toString()]).toEqual([200, expect.stringMatching(/\r\n$/)]);
  return body.toString().split('\r\n').slice(0, -1);
}
async function faultOf(organization: TestOrganization, query: string): Promise<[number, string]> {
  const { status, body } = await take(organization, query);
  return [status, (JSON.parse(body.toString()) as { errors: { error: string }[] }).errors[0]!.error];
}

test('each posted deposit has an entry: the bank by its net, the fees, and the accounts of its funds', async () => {
  const organization = await createBooks([...SPLIT, REFUND, PENDING]);
  await gateway.services.organizations.setCurrency(organization.name, 'EUR');
  const { body, headers } = await take(organization, YEAR);
  expect(body.toString().split('\r\n')).toEqual([
    PLAIN,
    '"deposit-D1-20240102","2024-01-02","1000",97.00,,"Deposit D1","D1","EUR"',
    '"deposit-D1-20240102","2024-01-02","6000",3.00,,"Deposit D1","D1","EUR"',
    '"deposit-D1-20240102","2024-01-02","4010",,70.00,"Deposit D1","D1","EUR"',
    '"deposit-D1-20240102","2024-01-02","4020",,30.00,"Deposit D1","D1","EUR"',
    // Money that was given back is on the other side, and fees of nothing have no row.
    '"deposit-D2-20240203","2024-02-03","1000",,8.00,"Deposit D2","D2","EUR"',
    '"deposit-D2-20240203","2024-02-03","4020",8.00,,"Deposit D2","D2","EUR"',
    '',
  ]);
  expect(headers).toMatchObject({
    ...{ 'x-export-rows': '6', 'x-export-entries': '2', 'x-export-debits': '108.00', 'x-data-version': '1' },
    'content-disposition': 'attachment; filename="journal-2024-01-01-2024-12-31-as-of-1.csv"',
  });
  expect(headers).not.toHaveProperty('x-export-digest');
});

test('a deposit that changed since the journal was booked has its difference, and one that was moved leaves its old date', async () => {
  const kept = gift('9', { deposit_date: '2024-03-01', donor_id: 9 });
  const organization = await createBooks([...SPLIT, REFUND, PENDING, gift('4'), kept]);
  await change(organization, [
    part('1a', '1', 3, '50.00'),
    part('1b', '1', 4, '50.00'),
    { ...REFUND, deposit_date: '2024-02-05' },
    { ...PENDING, deposit_status: 'posted' },
    { ...kept, donor_last_name: 'King', main_memo: 'For the roof' },
  ]);
  const difference = [
    PLAIN,
    '"deposit-D1-20240102@2","2024-01-02","4010",20.00,,"Change of deposit D1","D1",""',
    '"deposit-D1-20240102@2","2024-01-02","4020",,20.00,"Change of deposit D1","D1",""',
    '"deposit-D3-20240102@2","2024-01-02","1000",10.00,,"Deposit D3","D3",""',
    '"deposit-D3-20240102@2","2024-01-02","6000",0.50,,"Deposit D3","D3",""',
    '"deposit-D3-20240102@2","2024-01-02","4010",,10.50,"Deposit D3","D3",""',
    '"deposit-D4-20240102@2-reversal","2024-01-02","1000",,10.00,"Reversal of deposit D4","D4",""',
    '"deposit-D4-20240102@2-reversal","2024-01-02","6000",,0.50,"Reversal of deposit D4","D4",""',
    '"deposit-D4-20240102@2-reversal","2024-01-02","4010",10.50,,"Reversal of deposit D4","D4",""',
    '"deposit-D2-20240203@2-reversal","2024-02-03","1000",8.00,,"Reversal of deposit D2","D2",""',
    '"deposit-D2-20240203@2-reversal","2024-02-03","4020",,8.00,"Reversal of deposit D2","D2",""',
    '"deposit-D2-20240205@2","2024-02-05","1000",,8.00,"Deposit D2","D2",""',
    '"deposit-D2-20240205@2","2024-02-05","4020",8.00,,"Deposit D2","D2",""',
  ];
  expect(await linesOf(organization, `${YEAR}&since=1`)).toEqual(difference);
  const { headers } = await take(organization, `${YEAR}&since=1&as_of=2`);
  expect(headers).toMatchObject({
    ...{ 'x-export-from-version': '1', 'x-data-version': '2', 'x-export-entries': '5' },
    'content-disposition': 'attachment; filename="journal-2024-01-01-2024-12-31-from-1-to-2.csv"',
  });
  expect(await linesOf(organization, `${YEAR}&since=2`)).toEqual([PLAIN]);
  await change(organization, []);
  expect(await linesOf(organization, `${YEAR}&since=1&as_of=2`)).toEqual(difference);
});

test('a difference is to the journal that was booked: of its own dates, by its own accounts', async () => {
  const organization = await createBooks([...SPLIT, REFUND]);
  const january = await take(organization, 'start_date=2024-01-01&end_date=2024-01-31');
  expect(january.headers).toMatchObject({ 'x-journal-accounts': '1', 'x-export-place': expect.stringMatching(/^1\.[0-9]+$/) as unknown });
  await gateway.services.journalAccounts.save(organization.id, { ...ACCOUNTS, bank: '1001' }, { name: 'ada' });
  const place = String(january.headers['x-export-place']);
  const booked = `since=${place}&since_start_date=2024-01-01&since_end_date=2024-01-31&since_accounts=1`;
  const next = await take(organization, `${YEAR}&${booked}`);
  expect(next.body.toString().split('\r\n')).toEqual([
    PLAIN,
    '"deposit-D1-20240102@1-accounts-2","2024-01-02","1000",,97.00,"Change of deposit D1","D1",""',
    '"deposit-D1-20240102@1-accounts-2","2024-01-02","1001",97.00,,"Change of deposit D1","D1",""',
    // The deposit of February was there when January was booked, and was not in its journal.
    '"deposit-D2-20240203@1-accounts-2","2024-02-03","1001",,8.00,"Deposit D2","D2",""',
    '"deposit-D2-20240203@1-accounts-2","2024-02-03","4020",8.00,,"Deposit D2","D2",""',
    '',
  ]);
  expect(next.headers).toMatchObject({ 'x-journal-accounts': '2', 'x-export-from-version': '1' });
  const id = String(next.headers['x-export-id']);
  const { conditions } = await reader.receiptOf(id, { Provision: organization.apiProvision });
  const state = ['since_start_date=2024-01-01', 'since_end_date=2024-01-31', 'since_accounts=1', 'accounts=2', `place=${place}`];
  expect(conditions).toEqual([`since=${place}`, ...state]);
  const proof = await gateway.services.proofs.prove({
    organizationId: organization.id,
    receipt: id,
    file: undefined,
    donorName: undefined,
  });
  expect(proof).toMatchObject({ verdict: 'same', made: sha256(next.body) });
  // The accounts of the question count for what was booked as well, where no others are named.
  expect(await linesOf(organization, `${YEAR}&since=1`)).toEqual([PLAIN]);
});

test('a receipt names the state that its journal is of, also while the books change', async () => {
  const organization = await createBooks(SPLIT);
  const caller = { Provision: organization.apiProvision };
  const taken: { readonly named: unknown; readonly place: string; readonly body: string }[] = [];
  let isChanging = true;
  const takeAgain = async (): Promise<void> => {
    const { body, headers } = await take(organization, YEAR);
    const { conditions } = await reader.receiptOf(String(headers['x-export-id']), caller);
    taken.push({ named: conditions.at(-1), place: String(headers['x-export-place']), body: body.toString() });
    if (isChanging) await takeAgain();
  };
  const takers = Promise.all(Array.from({ length: 12 }, takeAgain));
  for (const amount of [20, 30, 40, 50]) {
    await change(organization, [...SPLIT, gift('6', { amount: `${amount}.50`, net_amount: `${amount}.00` })]);
  }
  isChanging = false;
  await takers;
  const bodies = new Map<string, string>();
  for (const version of [1, 2, 3, 4, 5]) bodies.set(`${version}`, (await take(organization, `${YEAR}&as_of=${version}`)).body.toString());
  expect(taken.map(({ named, body }) => [named, body])).toEqual(
    taken.map(({ place }) => [`place=${place}`, bodies.get(place.split('.')[0]!)]),
  );
});

test('two differences that end with one version have ids of their own', async () => {
  const organization = await createBooks(SPLIT);
  await change(organization, [part('1a', '1', 3, '50.00'), part('1b', '1', 4, '50.00')]);
  const idsOf = async (query: string) => (await linesOf(organization, `${YEAR}&${query}`)).slice(1).map((row) => row.split(',')[0]);
  expect(new Set(await idsOf('since=1'))).toEqual(new Set(['"deposit-D1-20240102@2"']));
  await gateway.services.journalAccounts.save(organization.id, { ...ACCOUNTS, bank: '1001' }, { name: 'ada' });
  expect(new Set(await idsOf('since=2&since_accounts=1'))).toEqual(new Set(['"deposit-D1-20240102@2-accounts-2"']));
});

test('a journal of other books, which a restored backup has become, is refused', async () => {
  const organization = await createBooks(SPLIT);
  const { headers } = await take(organization, YEAR);
  const place = String(headers['x-export-place']);
  expect(await linesOf(organization, `${YEAR}&since=${place}`)).toEqual([PLAIN]);
  expect(await linesOf(organization, `${YEAR}&since=0`)).toHaveLength(5);
  const fault = 'Invalid parameter(s): since: these are other books than those that the journal was of';
  expect(await faultOf(organization, `${YEAR}&since=${place}1`)).toEqual([422, fault]);
});

test('ids that do not fit into a layout stay different and the same, and their whole stands beside them', async () => {
  const ids = ['0b9bd9a2-4f4e-4a8e-9d8c-6d2f1a7c5e01', '0b9bd9a2-4f4e-4a8e-9d8c-6d2f1a7c5e02'];
  const organization = await createBooks(ids.map((id) => gift(id, { deposit_id: id })));
  for (const layout of ['quickbooks', 'sage']) {
    const [idAt, wholeAt] = layout === 'quickbooks' ? [0, 5] : [2, 7];
    const [, ...rows] = await linesOf(organization, `${YEAR}&layout=${layout}`);
    const values = rows.map((row) => row.replaceAll('"', '').split(','));
    const heads = values.filter((_row, at) => at % 3 === 0);
    expect(heads.map((row) => [row[idAt], row[wholeAt]])).toEqual(
      ids.map((id) => {
        const full = `deposit-${id}-20240102`;
        return [`D${sha256(full).slice(0, 20)}`, `${full}: Deposit ${id}`];
      }),
    );
  }
  await change(organization, []);
  const differences = await Promise.all(['quickbooks', 'sage'].map((layout) => linesOf(organization, `${YEAR}&layout=${layout}&since=1`)));
  const full = `deposit-${ids[0]}-20240102@2-reversal`;
  for (const lines of differences) expect(lines[1]).toContain(`"D${sha256(full).slice(0, 20)}"`);
});

test('an id that fits stands as it is, also where another layout has no room for it', async () => {
  const organization = await createBooks([gift('1', { deposit_id: 'D12345' })]);
  const full = 'deposit-D12345-20240102';
  const [quickbooks, sage] = await Promise.all(['quickbooks', 'sage'].map((layout) => linesOf(organization, `${YEAR}&layout=${layout}`)));
  expect(quickbooks![1]).toContain(`"D${sha256(full).slice(0, 20)}"`);
  expect(sage![1]).toContain(`"${full}"`);
});

test('a deposit that does not add up refuses the file, unless nothing of it has to be booked', async () => {
  const open = [part('1a', '1', 3, '60.00'), part('1b', '1', 4, '30.00', { allocation_amount: null, allocation_amount_inferred: null })];
  const organization = await createBooks([gift('0'), ...open]);
  const fault = 'The journal cannot be written: deposit D1 does not add up: its gifts are 100.00, and the known shares of funds 60.00';
  expect(await faultOf(organization, YEAR)).toEqual([409, fault]);
  expect(await faultOf(organization, `${YEAR}&totals=skip`)).toEqual([409, fault]);
  await change(organization, [gift('0', { amount: '20.50', net_amount: '20.00' }), ...open]);
  expect(await linesOf(organization, `${YEAR}&since=1`)).toHaveLength(3);
  await change(organization, [part('1a', '1', 3, '60.00'), part('1b', '1', 4, '40.00')]);
  expect(await faultOf(organization, `${YEAR}&since=1`)).toEqual([409, `${fault}, in this state or in version 1`]);
  expect(await linesOf(organization, YEAR)).toHaveLength(5);
});

test('a fund without an account refuses the file, which names the first ten', async () => {
  const funds = Array.from({ length: 12 }, (_none, at) => gift(`f${at}`, { designation_id: 20 + at }));
  const organization = await createBooks([...funds, ...SPLIT], null);
  const none = 'The journal cannot be written: no accounts are saved: set those of the bank, the fees and the funds first';
  expect(await faultOf(organization, YEAR)).toEqual([409, none]);
  await gateway.services.journalAccounts.save(organization.id, ACCOUNTS, { name: null });
  const named = funds.slice(0, 10).map(({ designation_id: id, designation }) => `${String(id)} (${String(designation)})`);
  const fault = `The journal cannot be written: 12 funds have no account: ${named.join(', ')}, and 2 more`;
  expect(await faultOf(organization, YEAR)).toEqual([409, fault]);
  // A deposit of which nothing has to be booked needs no account.
  expect(await linesOf(organization, `${YEAR}&since=1`)).toEqual([PLAIN]);
});

test('the layouts have the columns that the accounting programs take', async () => {
  const organization = await createBooks(SPLIT, { ...ACCOUNTS, bank: '=1+1' });
  expect(await linesOf(organization, `${YEAR}&layout=quickbooks`)).toEqual([
    'Journal No.,Journal Date,Account Name,Debits,Credits,Description',
    `"deposit-D1-20240102","01/02/2024","'=1+1",97.00,,"deposit-D1-20240102: Deposit D1"`,
    '"deposit-D1-20240102","01/02/2024","6000",3.00,,"deposit-D1-20240102: Deposit D1"',
    '"deposit-D1-20240102","01/02/2024","4010",,70.00,"deposit-D1-20240102: Deposit D1"',
    '"deposit-D1-20240102","01/02/2024","4020",,30.00,"deposit-D1-20240102: Deposit D1"',
  ]);
  expect(await linesOf(organization, `${YEAR}&layout=xero&tax_rate=No%20VAT`)).toEqual([
    '*Narration,*Date,Description,*AccountCode,*TaxRate,*Amount',
    `"deposit-D1-20240102: Deposit D1","02 Jan 2024","Deposit D1","'=1+1","No VAT","97.00"`,
    '"deposit-D1-20240102: Deposit D1","02 Jan 2024","Deposit D1","6000","No VAT","3.00"',
    '"deposit-D1-20240102: Deposit D1","02 Jan 2024","Deposit D1","4010","No VAT","-70.00"',
    '"deposit-D1-20240102: Deposit D1","02 Jan 2024","Deposit D1","4020","No VAT","-30.00"',
  ]);
  expect(await linesOf(organization, `${YEAR}&layout=sage`)).toEqual([
    'JOURNAL,DATE,DESCRIPTION,LINE_NO,ACCT_NO,DEBIT,CREDIT,MEMO',
    `"GJ","01/02/2024","deposit-D1-20240102",1,"'=1+1",97.00,,"deposit-D1-20240102: Deposit D1"`,
    '"","","",2,"6000",3.00,,"deposit-D1-20240102: Deposit D1"',
    '"","","",3,"4010",,70.00,"deposit-D1-20240102: Deposit D1"',
    '"","","",4,"4020",,30.00,"deposit-D1-20240102: Deposit D1"',
  ]);
});

test('money of one account is one row, and an entry of which nothing is left is none', async () => {
  const organization = await createBooks(SPLIT, { bank: '1000', fees: '1000', funds: FUNDS.map((fund) => ({ ...fund, account: '1000' })) });
  expect(await linesOf(organization, YEAR)).toEqual([PLAIN]);
});

test('the same question has the same bytes, which a receipt proves after accounts and currency have changed', async () => {
  const { services } = gateway;
  const organization = await createBooks(SPLIT);
  const first = await take(organization, `${YEAR}&layout=xero`);
  const { etag } = first.headers;
  expect((await take(organization, `${YEAR}&layout=xero`, { 'If-None-Match': String(etag) })).status).toBe(304);
  await change(organization, [...SPLIT, REFUND]);
  const difference = await take(organization, `${YEAR}&since=1`);
  await services.journalAccounts.save(organization.id, { ...ACCOUNTS, bank: '1001' }, { name: null });
  await services.organizations.setCurrency(organization.name, 'CHF');
  const changed = await take(organization, `${YEAR}&layout=xero&as_of=1`, { 'If-None-Match': String(etag) });
  expect([changed.status, changed.body.toString()]).toEqual([200, expect.stringContaining('1001')]);
  expect((await take(organization, `${YEAR}&layout=xero&as_of=1&accounts=1`)).body).toEqual(first.body);
  for (const { headers, body, trailers } of [first, difference, changed]) {
    const id = String(headers['x-export-id']);
    const receipt = await reader.receiptOf(id, { Provision: organization.apiProvision });
    expect(receipt).toMatchObject({ outcome: 'whole', fileSha256: sha256(body), digest: null });
    expect(trailers['x-export-file-sha256']).toBe(sha256(body));
    const proof = await services.proofs.prove({ organizationId: organization.id, receipt: id, file: undefined, donorName: undefined });
    expect(proof).toMatchObject({ verdict: 'same', reason: null, made: sha256(body) });
  }
});

test('accounts of a restored backup, which goes on with the same numbers, make another tag', async () => {
  const organization = await createBooks(SPLIT);
  const { etag } = (await take(organization, YEAR)).headers;
  await gateway.database.client.query(
    `UPDATE journal_accounts SET bank = '1009', saved_at = saved_at + interval '1 second' WHERE organization_id = $1`,
    [organization.id],
  );
  const again = await take(organization, YEAR, { 'If-None-Match': String(etag) });
  expect([again.status, again.body.toString()]).toEqual([200, expect.stringContaining('"1009"')]);
});

test.each([
  ['end_date=2024-12-31', 'start_date is missing'],
  [`${YEAR}&since=7`, 'since: there is no version 7: the earliest is 1 of '],
  [`${YEAR}&since=2&as_of=1`, 'since is version 2, which comes after version 1 of the journal'],
  [`${YEAR}&layout=oracle`, 'layout must be plain, quickbooks, xero or sage'],
  [`${YEAR}&accounts=7`, 'accounts: no accounts were saved as number 7'],
  [`${YEAR}&accounts=0`, 'accounts must be a number from 1 to 2147483647'],
  [`${YEAR}&accounts=2147483648`, 'accounts must be a number from 1 to 2147483647'],
  [`${YEAR}&since=1&since_accounts=7`, 'since_accounts: no accounts were saved as number 7'],
  [`${YEAR}&since=1&since_accounts=-1`, 'since_accounts must be a number from 1 to 2147483647'],
  [`${YEAR}&since_accounts=1`, 'since_accounts is of the journal that since names: give it too'],
  [`${YEAR}&since=1&since_start_date=2024-01-01`, 'since_end_date is missing: a period has two dates'],
  [`${YEAR}&since=1.x`, 'since must be the X-Export-Place of a journal, the number of a version, or an instant'],
  [`${YEAR}&currency=EURO`, 'currency must be a code of a currency like EUR'],
  [`${YEAR}&tax_rate=`, 'tax_rate must be a text of 1 to 100 characters'],
  [`${YEAR}&include_pending=true`, 'there is no parameter include_pending'],
])('the door refuses %j: %s', async (query, fault) => {
  const organization = await createBooks(SPLIT);
  await change(organization, [...SPLIT, REFUND]);
  expect(await faultOf(organization, query)).toEqual([422, expect.stringContaining(`Invalid parameter(s): ${fault}`)]);
});
