import { readFile, writeFile } from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SchemaReportDocuments } from '../../src/resolvers/reports/report-documents';
import { createSchema } from '../../src/graphql/schema';
import { moveVersions } from '../support/books';
import { done, failed, misused, runCommand, succeed } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { createExportReader, sha256 } from '../support/export-reader';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { fillReport } from '../support/long-report';
import { ask } from '../support/http-client';
import { openGateway } from '../support/open-gateway';

const LINES = depositBook(40);
const EVER = 'start_date=0001-01-01&end_date=9999-12-31&include_pending=true';

const gateway = openGateway({ lines: LINES });
const { organization } = gateway;
const { get, receiptOf } = createExportReader(gateway);
const directory = mkdtempSync(join(tmpdir(), 'gateway-proofs-'));
afterAll(() => rmSync(directory, { recursive: true }));

interface TakenFile {
  readonly path: string;
  readonly id: string;
  readonly body: Buffer;
}

/** Takes a file from a door and saves it, when its receipt has its end. */
async function take(address: string, by = organization): Promise<TakenFile> {
  const caller = { Provision: by.apiProvision };
  const { status, headers, body } = await get(address, caller);
  expect([address, status]).toEqual([address, 200]);
  const id = String(headers['x-export-id']);
  await receiptOf(id, caller);
  const path = join(directory, id);
  await writeFile(path, body);
  return { path, id, body };
}

const environment = (): Record<string, string> => ({ DATABASE_URL: gateway.database.url });
const prove = (...words: string[]) => runCommand(environment(), ['prove', ...words]);
const proveJson = async (...words: string[]): Promise<unknown> =>
  JSON.parse((await runCommand(environment(), ['--json', 'prove', ...words])).stdout);

/** Changes books by an import, so that each line has another state now. */
const change = (fields: object, ofDonors: object = {}): Promise<unknown> =>
  importLines(
    gateway.services,
    organization,
    LINES.map((line) => ({ ...line, ...fields, ...(line.donor_id > 0 && ofDonors) })),
  );

/** Changes past lines as nobody should, behind the gateway. */
const tamper = (change: string): Promise<unknown> =>
  gateway.database.client.query(`UPDATE deposit_line SET ${change} WHERE organization_id = $1 AND allocation_id = 'A1-0'`, [
    organization.id,
  ]);

describe('an operator who proves a file', () => {
  const ADDRESSES = [
    `/export/deposit-details.csv?${EVER}`,
    `/export/deposit-details.csv?${EVER}&bom=true&columns=designation,amount&totals=skip`,
    `/export/deposit-details.ndjson?${EVER}&designation_id=1&designation_id=3&amount_min=0.00`,
    '/export/deposit-details.json?period=all-time&pending=ONLY&totals=headers',
    `/export/deposit-details.csv?${EVER}&status=%22%22&status=Hold`,
    '/export/deposit-summary.csv?start_date=2024-01-01&end_date=2024-12-31&group_by=MONTH&group_by=DESIGNATION&date_basis=TRANSACTION_DATE',
    `/export/deposit-summary.json?${EVER}&group_by=YEAR&fiscal_year_start=7&columns=all`,
    `/export/deposit-summary.csv?${EVER}&as_of=1`,
    '/reports/mine.csv?bom=true',
    `/export/deposit-changes.csv?${EVER}&from=1&class=MONEY&class=RELABELLED&columns=class,after_amount`,
    `/export/deposit-changes.json?${EVER}&from=1&to=1`,
    '/export/deposit-changes.ndjson?since=0',
    '/reports/mine.ndjson?startDate=2024-01-01',
  ];

  test('is told that the books make the same bytes, also after all lines have changed', async () => {
    const query =
      'query Mine($startDate: LocalDate!, $endDate: LocalDate!) { depositDetailsConnection(first: 5, startDate: $startDate, endDate: $endDate, filter: { designationIds: [1, 2] }) { nodes { depositId donorLastName amount } } }';
    const saved = { name: 'mine', updatedBy: 'ada', period: 'all-time', variables: {}, query } as const;
    await gateway.services.savedReports.save(organization.id, saved, new SchemaReportDocuments(createSchema()));
    const files = [];
    for (const address of ADDRESSES) files.push([address, await take(address)] as const);
    const exported = join(directory, 'exported.ndjson');
    const words = ['export', '--organization', organization.name, '--start', '2024-01-01', '--end', '2024-12-31', '--columns', 'money'];
    await succeed(environment(), [...words, '--include-pending', '--format', 'ndjson', '--out', exported]);
    await change({ main_memo: 'changed' }, { donor_last_name: 'Changed' });
    await change({ amount: '7.00', net_amount: '7.00', fee_amount: '0.00', allocation_amount: null, designation: 'Other' });
    for (const [address, { path, id }] of files) {
      const line = `${path}: the books make the same bytes (receipt ${id} of ${organization.name}, data version 1)`;
      expect([address, await prove(path, '--organization', organization.name)]).toEqual([address, done(line)]);
    }
    expect(await proveJson(exported)).toMatchObject({ verdict: 'same', reason: null, organization: organization.name, dataVersion: 1 });
  });

  test('needs no file where a receipt is named', async () => {
    const { id } = await take(`/export/deposit-details.csv?${EVER}`);
    expect(await prove('--organization', organization.name, '--receipt', id)).toMatchObject({ status: 0, stderr: '' });
    expect(await prove('--receipt', id)).toEqual(misused('--receipt needs --organization'));
    expect(await prove()).toEqual(misused('Name a file, or a receipt with --receipt'));
    const other = await createOrganization(gateway.services);
    expect(await prove('--organization', other.name, '--receipt', id)).toEqual(failed(`The organization has no receipt ${id}`));
  });

  test.each([
    ['csv', /"(?=2024)/, "'", 1, ['transaction_date']],
    ['ndjson', /"amount":"/, '"amount":"9', 1, ['amount']],
    ['json', /"Complete"/, '"Compleat"', null, null],
  ] as const)('is told where a changed file of %s differs from that of its receipt', async (format, text, by, row, columns) => {
    const { path, id, body } = await take(`/export/deposit-details.${format}?${EVER}&columns=transaction_date,amount,status`);
    await writeFile(path, body.toString().replace(text, by));
    expect((await prove(path)).stderr).toContain(`${path}: no receipt has the SHA-256 of this file.`);
    const proof = (await proveJson(path, '--organization', organization.name, '--receipt', id)) as { firstDifference: { row: number } };
    expect(proof).toMatchObject({ verdict: 'different', reason: 'other-file', sameMoney: true, receipt: id });
    if (row !== null) expect(proof.firstDifference).toMatchObject({ row, ...(format === 'ndjson' && { columns }) });
    else expect(proof.firstDifference).toMatchObject({ columns: ['status'] });
  });

  test('is told which value of a side of a change differs', async () => {
    const { path, id, body } = await take('/export/deposit-changes.ndjson?since=0');
    await writeFile(path, body.toString().replace('"amount":"', '"amount":"9'));
    expect(await proveJson(path, '--organization', organization.name, '--receipt', id)).toMatchObject({
      ...{ reason: 'other-file', firstDifference: { row: 1, columns: ['after_amount'] } },
    });
  });

  test('gives a name in vain, or has an empty one in a saved report, and the bytes are the same', async () => {
    const query =
      'query Empty { depositDetailsConnection(first: 5, startDate: "2024-01-01", endDate: "2024-12-31", filter: { donorName: "" }) { nodes { amount } } }';
    const saved = { name: 'empty', updatedBy: 'ada', variables: {}, query } as const;
    await gateway.services.savedReports.save(organization.id, saved, new SchemaReportDocuments(createSchema()));
    const empty = await take('/reports/empty.csv');
    expect(await prove(empty.path)).toMatchObject({ status: 0 });
    const { path } = await take(`/export/deposit-details.csv?${EVER}`);
    expect(await prove(path, '--donor-name', 'Nobody')).toMatchObject({ status: 0 });
    expect((await prove(directory)).stderr).toContain(`${directory} is not a file that can be read again`);
  });

  test('is told where a cut file ends', async () => {
    const { path, id, body } = await take(`/export/deposit-details.ndjson?${EVER}`);
    const cut = body.indexOf('\n') + 1;
    await writeFile(path, body.subarray(0, cut));
    expect(await proveJson(path, '--organization', organization.name, '--receipt', id)).toMatchObject({
      ...{ verdict: 'different', reason: 'other-file', firstDifference: { offset: cut, row: null, columns: null } },
    });
  });

  test('finds no receipt of a file of another organization, nor of one that never left', async () => {
    const { path } = await take(`/export/deposit-details.csv?${EVER}`);
    const other = await createOrganization(gateway.services);
    const stray = join(directory, 'stray.csv');
    await writeFile(stray, 'amount\r\n');
    for (const words of [[path, '--organization', other.name], [stray]]) {
      const { status, stdout, stderr } = await prove(...words);
      expect([status, stdout, stderr.split('. ')[0]]).toEqual([1, '', `${words[0]}: no receipt has the SHA-256 of this file`]);
    }
    expect((await prove(join(directory, 'missing'))).stderr).toContain('The file cannot be read: ENOENT');
  });

  test("gives the donor's name that no receipt keeps", async () => {
    const { path } = await take(`/export/deposit-details.csv?${EVER}&as_of=1&donor_name=adams`);
    expect((await prove(path)).stderr).toContain(
      "the file was chosen by a donor's name, which no receipt keeps: give it with --donor-name",
    );
    expect(await prove(path, '--donor-name', 'adams')).toMatchObject({ status: 0 });
    expect((await prove(path, '--donor-name', 'other')).stderr).toContain("the donor's name is perhaps not the one");
    const kept = await gateway.database.client.query(
      `SELECT file_address FROM audit_record WHERE kind = 'file' AND 'donor_name' = ANY(conditions)`,
    );
    expect(kept.rows).toEqual([{ file_address: EVER }]);
  });

  test('is told whether it is the money or the texts that the database has otherwise', async () => {
    await change({ amount: '7.00', net_amount: '7.00', fee_amount: '0.00', allocation_amount: null }, { donor_first_name: 'Ada' });
    const { path } = await take(`/export/deposit-details.csv?${EVER}`);
    await tamper(`donor_first_name = 'Erased'`);
    expect(await proveJson(path)).toMatchObject({
      verdict: 'different',
      reason: 'other-texts',
      sameMoney: true,
      firstDifference: { columns: ['donor_first_name'] },
    });
    await tamper(`amount = 8`);
    const { status, stderr } = await prove(path);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('the money of that state is not what it was: the database was changed behind the gateway'),
    ]);
    await tamper(`amount = 7, donor_first_name = 'Ada'`);
    await gateway.database.client.query(`UPDATE audit_record SET rendering = 1 WHERE rendering IS NOT NULL`);
    expect(await prove(path)).toMatchObject({ status: 0 });
    await tamper(`donor_first_name = 'Erased'`);
    expect(await proveJson(path)).toMatchObject({ reason: 'other-rendering' });
    await moveVersions(gateway.database.client, organization.id, 24);
    expect(await proveJson(path)).toMatchObject({ verdict: 'unproven', reason: 'no-state' });
    await moveVersions(gateway.database.client, organization.id, -24);
  });

  test('proves nothing by the receipt of a file that was cut', async () => {
    const own = await createOrganization(gateway.services);
    await fillReport(gateway.database.client, own.id, 40_000, `repeat('x', 100)`);
    const response = await ask(`${gateway.url}/export/deposit-details.csv?${EVER}`, { headers: { Provision: own.apiProvision } });
    response.destroy();
    const id = String(response.headers['x-export-id']);
    await receiptOf(id, { Provision: own.apiProvision });
    expect((await prove('--organization', own.name, '--receipt', id)).stderr).toContain('the file did not leave as a whole');
  });

  test('is told of a donor who was erased after a file, also of one whose lines had gone before its last state', async () => {
    const own = await createOrganization(gateway.services);
    const gift = (n: number) =>
      v2Line({ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date: '2024-01-05', donor_id: n });
    await importLines(gateway.services, own, [gift(1), gift(2)]);
    const lines = join(directory, 'lines.ndjson');
    await writeFile(lines, toNdjson([gift(2)]));
    const all = ['--organization', own.name];
    await succeed(environment(), ['import', lines, ...all, '--replace', '--from', '2024-01-01', '--to', '2024-12-31']);
    const changes = await take(`/export/deposit-changes.csv?${EVER}&from=1&to=2`, own);
    const before = await take(`/export/deposit-details.csv?${EVER}&as_of=1`, own);
    const after = await take(`/export/deposit-details.csv?${EVER}`, own);
    await succeed(environment(), ['donor', 'erase', ...all, '--donor', '1', '--reason', 'Asked']);
    for (const { path } of [changes, before])
      expect(await proveJson(path, ...all)).toMatchObject({ verdict: 'different', reason: 'donors-erased' });
    expect(await proveJson(after.path, ...all)).toMatchObject({ verdict: 'same' });
  });

  test('is told of a donor who was erased when the gift was the donor’s, though it is another’s again', async () => {
    const own = await createOrganization(gateway.services);
    const ids = { deposit_id: 'D1', transaction_id: 'T1', allocation_id: 'A1', deposit_date: '2024-01-05' };
    const ofOther = v2Line({ ...ids, donor_id: 2, main_memo: 'thanks' });
    await importLines(gateway.services, own, [ofOther]);
    const { path } = await take(`/export/deposit-details.csv?${EVER}`, own);
    await importLines(gateway.services, own, [v2Line({ ...ids, donor_id: 1, main_memo: '' })]);
    await succeed(environment(), ['donor', 'erase', '--organization', own.name, '--donor', '1', '--reason', 'Asked']);
    await importLines(gateway.services, own, [ofOther]);
    expect(await proveJson(path, '--organization', own.name)).toMatchObject({ verdict: 'different', reason: 'donors-erased' });
  });

  test('is told of texts that were changed behind the gateway, whoever was erased beside them or before', async () => {
    const own = await createOrganization(gateway.services);
    const gift = (n: number, memo = '') =>
      v2Line({
        ...{ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}` },
        deposit_date: '2024-01-05',
        donor_id: n,
        main_memo: memo,
      });
    await importLines(gateway.services, own, [gift(1), gift(2), gift(3), gift(4)]);
    await importLines(gateway.services, own, [gift(2, 'thanks')]);
    const all = ['--organization', own.name];
    const erase = (donor: string) => succeed(environment(), ['donor', 'erase', ...all, '--donor', donor, '--reason', 'Asked']);
    await erase('4');
    await moveVersions(gateway.database.client, own.id, -1);
    const asOf = await take(`/export/deposit-details.csv?${EVER}&as_of=1`, own);
    const whole = await take(`/export/deposit-details.csv?${EVER}`, own);
    const funds = await take(`/export/deposit-details.csv?${EVER}&columns=allocation_id,designation`, own);
    const changes = await take(`/export/deposit-changes.csv?${EVER}&from=1&to=2`, own);
    const files = [asOf, whole, funds, changes];
    await erase('3');
    const reasons = () => Promise.all(files.map(async ({ path }) => ((await proveJson(path, ...all)) as { reason: string | null }).reason));
    expect(await reasons()).toEqual(['donors-erased', 'donors-erased', null, null]);
    // A row before that of the erased donor, and one after it.
    for (const allocation of ['A2', 'A4']) {
      const forge = (designation: string): Promise<unknown> =>
        gateway.database.client.query(`UPDATE deposit_line SET designation = $1 WHERE organization_id = $2 AND allocation_id = $3`, [
          ...[designation, own.id, allocation],
        ]);
      await forge('Forged');
      const inChanges = allocation === 'A2' ? 'no-digest' : null;
      expect([allocation, ...(await reasons())]).toEqual([allocation, 'other-texts', 'other-texts', 'other-texts', inChanges]);
      await forge(String(gift(2).designation));
    }
    const empty = `UPDATE deposit_line SET main_memo = '' WHERE organization_id = $1 AND allocation_id = 'A2' AND main_memo <> ''`;
    await gateway.database.client.query(empty, [own.id]);
    expect(await reasons()).toEqual(['donors-erased', 'other-texts', null, 'no-digest']);
  });

  test('is told that nothing tells more than an erasure where the file is not at hand, or its rows go by texts', async () => {
    const own = await createOrganization(gateway.services);
    const all = ['--organization', own.name];
    const gift = (n: number, city = 'Basel') =>
      v2Line({
        ...{ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}` },
        ...{ deposit_date: '2024-01-05', donor_id: n, city, state: city.slice(0, 2) },
      });
    await importLines(gateway.services, own, [gift(1), gift(2), gift(3)]);
    await importLines(gateway.services, own, [gift(1, 'Bern'), gift(2, 'Bern')]);
    const lines = await take(`/export/deposit-details.csv?${EVER}`, own);
    const summary = `/export/deposit-summary.csv?${EVER}`;
    const untold = [
      await take(`${summary}&group_by=CITY`, own),
      await take(`${summary}&group_by=MONTH&group_by=STATE&columns=lines,line_amount`, own),
      await take(`/export/deposit-changes.csv?${EVER}&from=1&to=2&class=RELABELLED&bom=true`, own),
    ];
    const told = [await take(`${summary}&group_by=DONOR`, own), await take(`/export/deposit-changes.csv?${EVER}&from=1&to=2`, own)];
    const rest = await take(`${summary}&group_by=DESIGNATION`, own);
    await succeed(environment(), ['donor', 'erase', ...all, '--donor', '2', '--reason', 'Asked']);
    const reasonOf = async (...words: string[]) => ((await proveJson(...words, ...all)) as { reason: string | null }).reason;
    expect(await Promise.all(untold.map(({ path }) => reasonOf(path)))).toEqual(untold.map(() => 'donors-erased-at-least'));
    expect(await Promise.all([...told, lines].map(({ path }) => reasonOf(path)))).toEqual([
      'donors-erased',
      'donors-erased',
      'donors-erased',
    ]);
    expect(await reasonOf(rest.path)).toBeNull();
    expect(await reasonOf('--receipt', lines.id)).toBe('donors-erased-at-least');
    const edited = join(directory, 'edited.csv');
    await writeFile(edited, lines.body.toString().replace('"10.50"', '"90.50"'));
    expect((await prove(edited, '--receipt', lines.id, ...all)).stderr).toMatch(
      /edited\.csv: this file is not the one of the receipt, and the books do not make that one byte for byte: prove the receipt without a file to be told why \(receipt [^;]*in row 1: amount\b/s,
    );
  });

  test('is told of texts of a state before an erasure that were changed after it', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, [v2Line({ deposit_date: '2024-01-05', donor_id: 1, donor_last_name: 'Ames' })]);
    const all = ['--organization', own.name];
    await succeed(environment(), ['donor', 'erase', ...all, '--donor', '1', '--reason', 'Asked']);
    await moveVersions(gateway.database.client, own.id, -1);
    const { path } = await take(`/export/deposit-details.csv?${EVER}&as_of=1&columns=donor_last_name`, own);
    await gateway.database.client.query(`UPDATE deposit_line SET donor_last_name = 'Forged' WHERE organization_id = $1`, [own.id]);
    expect(await proveJson(path, ...all)).toMatchObject({ verdict: 'different', reason: 'other-texts' });
  });

  test('proves nothing of a state that was pruned, and still proves a file of a later one', async () => {
    const first = await take(`/export/deposit-details.csv?${EVER}`);
    const [from] = await gateway.services.books.newestVersions(organization.id, 1);
    await change({}, { city: 'Basel' });
    const changes = await take(`/export/deposit-changes.csv?${EVER}&from=${from!.number}`);
    const later = await take(`/export/deposit-details.csv?${EVER}`);
    expect(await prove(changes.path)).toMatchObject({ status: 0 });
    await succeed(environment(), ['history', 'prune', '--organization', organization.name, '--before', new Date().toISOString()]);
    for (const { path } of [first, changes]) {
      expect(await proveJson(path)).toMatchObject({ verdict: 'unproven', reason: 'pruned' });
      expect((await prove(path)).stderr).toContain('the state of the file was pruned from the history, so that nothing proves it any more');
    }
    expect(await prove(later.path)).toMatchObject({ status: 0 });
    // The same bytes were taken of a state that is pruned by now, and later than those of a state that is kept.
    await change({}, { city: 'Bern' });
    const kept = await take(`/export/deposit-details.csv?${EVER}`);
    const [state] = await gateway.services.books.newestVersions(organization.id, 1);
    await change({}, { city: 'Basel' });
    await change({}, { city: 'Bern' });
    const newest = await take(`/export/deposit-details.csv?${EVER}`);
    const again = await take(`/export/deposit-details.csv?${EVER}&as_of=${state!.number}`);
    expect([newest.body.equals(kept.body), again.body.equals(kept.body)]).toEqual([true, true]);
    await succeed(environment(), ['history', 'prune', '--organization', organization.name, '--before', new Date().toISOString()]);
    expect(await prove(again.path)).toMatchObject({ status: 0 });
  });

  test('leaves a reading in the audit, which tells no address of a file and is in order', async () => {
    const { path, body } = await take(`/export/deposit-details.csv?${EVER}&transaction_id=T1`);
    await prove(path);
    expect(sha256(await readFile(path))).toBe(sha256(body));
    const list = await succeed(environment(), ['--json', 'audit', '--organization', organization.name]);
    const [, proof] = JSON.parse(list) as { operation: string; conditions: string[]; kind: string }[];
    expect(proof).toMatchObject({ kind: 'read', operation: 'prove', conditions: ['transaction_id'] });
    expect(list).not.toContain('transaction_id=T1');
    expect(list).not.toContain('fileAddress');
  });
});
