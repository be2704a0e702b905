import { createHash } from 'node:crypto';
import { SchemaReportDocuments } from '../../src/resolvers/reports/report-documents';
import { createSchema } from '../../src/graphql/schema';
import { AUDIT_PRIVILEGE } from '../../src/values/privileges';
import { runCommand, succeed } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { createExportReader, sha256 } from '../support/export-reader';
import { createOrganization, graphql, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

/** Shares that are stated or unknown, so that the lines say all that the digest is of, and texts that CSV escapes and guards. */
const LINES = depositBook(40).map((line) => ({
  allocation_amount: null,
  ...line,
  allocation_amount_inferred: false,
  ...(Number(line.transaction_id.slice(1)) % 5 === 0 && { status: '=1+"1"\r\n' }),
}));
const HEADER =
  'deposit_id,transaction_date,deposit_date,transaction_id,allocation_id,amount,fee_amount,status,designation_id,deposit_status,allocation_amount';
const QUOTED = ['deposit_id', 'transaction_date', 'deposit_date', 'transaction_id', 'allocation_id', 'amount', 'fee_amount', 'status'];

/** The digest as the document defines it, from lines in report order. */
function digestOf(lines: readonly object[]): string {
  const hash = createHash('sha256').update(`${HEADER}\r\n`);
  for (const line of lines) {
    const values = line as Readonly<Record<string, unknown>>;
    const quote = (text: unknown): string => `"${String(text).replace(/^=/, "'=").replaceAll('"', '""')}"`;
    const texts = QUOTED.map((name) => quote(values[name]));
    const share = values.allocation_amount as string | null;
    hash.update([...texts, values.designation_id, quote(values.deposit_status ?? 'posted'), share ?? ''].join(',') + '\r\n');
  }
  return hash.digest('hex');
}

const gateway = openGateway({ lines: LINES });
const { get, download, receiptOf } = createExportReader(gateway);
const EVER = 'start_date=0001-01-01&end_date=9999-12-31&include_pending=true';
const EVER_QUERY =
  'query Ever($startDate: LocalDate!, $endDate: LocalDate!) { depositDetails(startDate: $startDate, endDate: $endDate, includePending: true) { amount } }';
const SUMMARY = (fields: string): string => `{ depositSummary(pending: WITH) { ${fields} } }`;

async function digestIn(own: TestOrganization): Promise<string> {
  const { body } = await graphql(gateway.url, SUMMARY('moneyDigest'), { provision: own.apiProvision });
  return (body.data!.depositSummary as { moneyDigest: string }).moneyDigest;
}

describe('the money digest', () => {
  test('is that of the lines on every door, whatever columns a file has', async () => {
    const expected = digestOf(LINES);
    const { organization } = gateway;
    const documents = new SchemaReportDocuments(createSchema());
    const saved = { name: 'ever', updatedBy: 'ada', period: 'all-time', variables: {} } as const;
    await gateway.services.savedReports.save(organization.id, { ...saved, query: EVER_QUERY }, documents);
    const paths = [
      `/export/deposit-details.csv?${EVER}`,
      `/export/deposit-details.ndjson?${EVER}&columns=designation`,
      `/export/deposit-details.json?${EVER}&totals=headers`,
      `/export/deposit-summary.csv?${EVER}&group_by=MONTH`,
      '/reports/ever.csv?',
    ];
    for (const path of paths) {
      const { headers, trailers } = await get(path);
      const receipt = (await receiptOf(String(headers['x-export-id']))) as unknown as { moneyDigest: string };
      const inHeaders = path.includes('summary') || path.includes('totals=headers');
      expect([path, trailers['x-export-money-digest'], headers['x-export-money-digest'], receipt.moneyDigest]).toEqual([
        ...[path, expected, inHeaders ? expected : undefined, expected],
      ]);
    }
    expect(sha256((await get(`/export/deposit-details.csv?${EVER}&columns=money`)).body)).toBe(expected);
    const { body } = await graphql(gateway.url, SUMMARY('digest moneyDigest'), { provision: organization.apiProvision });
    const ofLines = (await download('deposit-details.csv', '&columns=amount')).trailers['x-export-digest'];
    expect(body.data).toEqual({ depositSummary: { digest: ofLines, moneyDigest: expected } });
    expect(await digestIn(organization)).toBe(expected);
    const grants = [AUDIT_PRIVILEGE];
    const auditor = await gateway.services.provisions.create({ organization: organization.name, kind: 'API', label: '', grants });
    const records = '{ auditRecords(first: 100, filter: { kinds: [FILE] }) { nodes { operation moneyDigest } } }';
    const audit = await graphql(gateway.url, records, { provision: auditor });
    const { nodes } = audit.body.data!.auditRecords as { nodes: { operation: string; moneyDigest: string | null }[] };
    expect(nodes.filter(({ operation }) => operation === 'reports/ever.csv')).toEqual([
      { operation: 'reports/ever.csv', moneyDigest: expected },
    ]);
  });

  test('is what sha256sum prints for an export of the columns of money', async () => {
    const environment = { DATABASE_URL: gateway.database.url };
    const range = ['--organization', gateway.organization.name, '--start', '0001-01-01', '--end', '9999-12-31', '--include-pending'];
    expect(sha256(await succeed(environment, ['export', ...range, '--format', 'csv', '--columns', 'money']))).toBe(digestOf(LINES));
    expect(await runCommand(environment, ['export', ...range, '--format', 'csv', '--columns', 'money,amount'])).toMatchObject({
      status: 1,
    });
  });

  test('is for members, who get no other digest', async () => {
    const { name } = gateway.organization;
    const member = await gateway.services.provisions.create({ organization: name, kind: 'API', label: '', grants: [] });
    const { body } = await graphql(gateway.url, SUMMARY('moneyDigest'), { provision: member });
    expect(body).toEqual({ data: { depositSummary: { moneyDigest: digestOf(LINES) } } });
    const both = await graphql(gateway.url, SUMMARY('digest moneyDigest'), { provision: member });
    expect([both.body.data, both.body.errors?.map(({ extensions }) => extensions.code)]).toEqual([
      { depositSummary: { digest: null, moneyDigest: digestOf(LINES) } },
      ['PRIVILEGE_NOT_FOUND'],
    ]);
    const { headers, status } = await get(`/export/deposit-summary.csv?${EVER}`, { Provision: member });
    expect([status, headers['x-export-digest'], headers['x-export-money-digest']]).toEqual([200, undefined, digestOf(LINES)]);
    const receipt = await receiptOf(String(headers['x-export-id']), { Provision: member });
    expect(receipt).toMatchObject({ digest: null, moneyDigest: digestOf(LINES) });
  });

  const LINE = v2Line({ deposit_status: 'posted', allocation_amount: '10.50', allocation_amount_inferred: false });
  const TEXTS = {
    ...{ donor_id: 8, donor_first_name: 'Eve', donor_last_name: 'X', address1: 'a', address2: 'b', address3: 'c', city: 'd', state: 'e' },
    ...{
      zip: 'f',
      phone: 'g',
      email_address: 'h',
      account_type: 'i',
      payment_type: 'j',
      designation: 'k',
      designation_memo: 'l',
      main_memo: 'm',
    },
  };
  const MONEY = {
    ...{ deposit_id: '2', transaction_id: 'P11', allocation_id: 'P101', transaction_date: '2024-01-03', deposit_date: '2024-01-04' },
    ...{ amount: '10.51', fee_amount: '0.51', status: 'Hold', designation_id: 4, deposit_status: 'pending', allocation_amount: '10.49' },
  };

  test.each(Object.entries(TEXTS))('stays when a line gets another %s', async (name, value) => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, [LINE]);
    const before = await digestIn(own);
    await importLines(gateway.services, own, [{ ...LINE, [name]: value }]);
    expect([await digestIn(own), before]).toEqual([digestOf([LINE]), digestOf([LINE])]);
  });

  test.each(Object.entries(MONEY))('is another when a line gets another %s', async (name, value) => {
    const own = await createOrganization(gateway.services);
    const line: Record<string, unknown> = { ...LINE, [name]: value };
    line.net_amount = (Number(line.amount) - Number(line.fee_amount)).toFixed(2);
    await importLines(gateway.services, own, [line]);
    expect(await digestIn(own)).toBe(digestOf([line]));
    expect(digestOf([line])).not.toBe(digestOf([LINE]));
  });
});
