import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../support/command';
import { createExportReader } from '../support/export-reader';
import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

/** A gift of two funds whose shares nobody knows, one of two known shares, and one of a single fund. */
const LINES = [
  v2Line(),
  v2Line({ allocation_id: 'P101', designation_id: 4, designation: 'Missions' }),
  ...[
    v2Line({ transaction_id: 'P20', allocation_id: 'P200', allocation_amount: '4.00' }),
    v2Line({ transaction_id: 'P20', allocation_id: 'P201', allocation_amount: '6.50', designation_id: 4, designation: 'Missions' }),
  ],
  v2Line({ transaction_id: 'P30', allocation_id: 'P300' }),
];
const UNSPLIT = '&transaction_id=P10&transaction_id=P30';

const gateway = openGateway({ lines: LINES });
const directory = mkdtempSync(join(tmpdir(), 'narrowed-'));
afterAll(() => rmSync(directory, { recursive: true }));
const { download } = createExportReader(gateway);

let files = 0;
async function importFile(to: TestOrganization, ending: string, content: Buffer | string, ...options: string[]) {
  const file = join(directory, `${++files}.${ending}`);
  writeFileSync(file, content);
  const { status, stdout, stderr } = await runCommand({ DATABASE_URL: gateway.database.url }, [
    ...['--json', 'import', file, '--organization', to.name, ...options],
  ]);
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as { allocations: number; version: { lines: object } | null };
}

const of = ({ apiProvision }: TestOrganization) => ({ Provision: apiProvision });
/** Each line's share, and whether it is inferred. */
async function sharesOf(organization: TestOrganization): Promise<string> {
  const columns = 'allocation_id,allocation_amount,allocation_amount_inferred';
  const { body } = await download('deposit-details.csv', `&columns=${columns}`, of(organization));
  return body.toString().replaceAll('\r\n', ' ').replace(`${columns} `, '').trim();
}
async function ask(organization: TestOrganization, query: string): Promise<unknown> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { ...of(organization), 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { data: unknown }).data;
}

describe('a file of one fund', () => {
  test.each(['csv', 'ndjson', 'json'])(
    'says which share is unknown, so that an import elsewhere does not take the gift for it: %s',
    async (ending) => {
      const { body } = await download(`deposit-details.${ending}`, '&designation_id=3&columns=all', of(gateway.organization));
      const elsewhere = await createOrganization(gateway.services);
      // The known share of the other fund is not in the file.
      await importFile(elsewhere, ending, body, '--allow-mismatch');
      expect(await sharesOf(elsewhere)).toBe('"P100",, "P200",4.00,false "P300",10.50,true');
      const again = await download(`deposit-details.${ending}`, '&designation_id=3&columns=all', of(elsewhere));
      expect(again.body).toEqual(body);

      const repeated = await importFile(elsewhere, ending, body, '--allow-mismatch');
      expect([repeated.allocations, repeated.version]).toEqual([0, null]);
    },
  );

  test('corrects a gift of a known share whose share it does not know, and leaves that unknown', async () => {
    const known = await createOrganization(gateway.services);
    const both = [
      v2Line({ allocation_amount: '4.00' }),
      v2Line({ allocation_id: 'P101', designation_id: 4, designation: 'Missions', allocation_amount: '6.50' }),
    ];
    await importLines(gateway.services, known, both);
    const unknown = { allocation_amount: null, allocation_amount_inferred: null };
    const range = ['--replace', '--from', '2024-01-01', '--to', '2024-12-31', '--max-removed', '1'];
    await importFile(known, 'ndjson', JSON.stringify({ ...v2Line(), ...unknown }), ...range);
    expect(await sharesOf(known)).toBe('"P100",,');
    const single = await createOrganization(gateway.services);
    await importLines(gateway.services, single, [v2Line({ allocation_amount: '10.50' })]);
    await importFile(single, 'ndjson', JSON.stringify({ ...v2Line({ amount: '15.00', net_amount: '14.50' }), ...unknown }));
    expect(await sharesOf(single)).toBe('"P100",,');
  });

  test('gives null to a client of GraphQL, for lines, pages and records alike', async () => {
    const { body } = await download('deposit-details.csv', `&designation_id=3&columns=all${UNSPLIT}`, of(gateway.organization));
    const elsewhere = await createOrganization(gateway.services);
    await importFile(elsewhere, 'csv', body);
    const range = 'startDate: "2024-01-01", endDate: "2024-12-31"';
    expect(
      await ask(
        elsewhere,
        `{ depositDetails(${range}) { allocationAmount allocationAmountInferred allocation { amount amountInferred } }
          depositDetailsConnection { nodes { allocationAmount allocationAmountInferred } }
          allocations { nodes { amount amountInferred } }
          depositSummary { all { byAllocation { amount known inferred unknown } } } }`,
      ),
    ).toEqual({
      depositDetails: [
        { allocationAmount: null, allocationAmountInferred: null, allocation: { amount: null, amountInferred: null } },
        { allocationAmount: '10.50', allocationAmountInferred: true, allocation: { amount: '10.50', amountInferred: true } },
      ],
      depositDetailsConnection: {
        nodes: [
          { allocationAmount: null, allocationAmountInferred: null },
          { allocationAmount: '10.50', allocationAmountInferred: true },
        ],
      },
      allocations: {
        nodes: [
          { amount: null, amountInferred: null },
          { amount: '10.50', amountInferred: true },
        ],
      },
      depositSummary: { all: { byAllocation: { amount: '10.50', known: 0, inferred: 1, unknown: 1 } } },
    });
  });

  test('brings nothing but what it says: the share may become known, and the gift may be told whole', async () => {
    const { body } = await download('deposit-details.csv', '&designation_id=3&transaction_id=P10&columns=all', of(gateway.organization));
    const elsewhere = await createOrganization(gateway.services);
    await importFile(elsewhere, 'csv', body);
    // A v2 line says nothing of shares.
    await importFile(elsewhere, 'ndjson', JSON.stringify(v2Line({ city: 'Bergen' })));
    expect(await sharesOf(elsewhere)).toBe('"P100",,');
    await importFile(elsewhere, 'ndjson', JSON.stringify({ ...v2Line(), allocation_amount: '10.50', allocation_amount_inferred: true }));
    expect(await sharesOf(elsewhere)).toBe('"P100",10.50,true');
    const unknown = await importFile(elsewhere, 'csv', body);
    expect([unknown.allocations, unknown.version?.lines]).toEqual([1, { added: 0, changed: 1, removed: 0 }]);
    expect(await sharesOf(elsewhere)).toBe('"P100",,');
    await importFile(elsewhere, 'ndjson', JSON.stringify({ ...v2Line(), allocation_amount: '10.50', allocation_amount_inferred: false }));
    expect(await sharesOf(elsewhere)).toBe('"P100",10.50,false');
    // A share that the books have stays.
    await importFile(elsewhere, 'csv', body);
    expect(await sharesOf(elsewhere)).toBe('"P100",10.50,false');
  });

  test('stays what it says when it removes the rest of the gift', async () => {
    const elsewhere = await createOrganization(gateway.services);
    const { body: whole } = await download('deposit-details.csv', '&transaction_id=P10&columns=all', of(gateway.organization));
    await importFile(elsewhere, 'csv', whole);
    const { body } = await download('deposit-details.csv', '&designation_id=3&transaction_id=P10&columns=all', of(gateway.organization));
    const replaced = await importFile(elsewhere, 'csv', body, '--replace', '--from', '2024-01-01', '--to', '2024-12-31');
    expect([replaced.allocations, replaced.version?.lines]).toEqual([1, { added: 0, changed: 0, removed: 1 }]);
    expect(await sharesOf(elsewhere)).toBe('"P100",,');
  });
});

describe('a whole file', () => {
  test('changes nothing where it came from, and makes books that infer as those do', async () => {
    const { body } = await download('deposit-details.csv', '&columns=all', of(gateway.organization));
    expect((await importFile(gateway.organization, 'csv', body)).version).toBeNull();
    const elsewhere = await createOrganization(gateway.services);
    await importFile(elsewhere, 'csv', body);
    expect((await download('deposit-details.csv', '&columns=all', of(elsewhere))).body).toEqual(body);
    // One fund of the split gift is taken back, in a file that says nothing of shares.
    const left = v2Line({ transaction_id: 'P10', allocation_id: 'P100' });
    await importFile(
      elsewhere,
      'ndjson',
      [left, LINES[4]].map((line) => `${JSON.stringify(line)}\n`).join(''),
      '--replace',
      '--from',
      '2024-01-01',
      '--to',
      '2024-12-31',
    );
    expect(await sharesOf(elsewhere)).toBe('"P100",10.50,true "P300",10.50,true');
  });
});

test('a file that is older, with false for a share that is unknown, is read alike', async () => {
  const elsewhere = await createOrganization(gateway.services);
  await importFile(elsewhere, 'ndjson', JSON.stringify({ ...v2Line(), allocation_amount: null, allocation_amount_inferred: false }));
  expect(await sharesOf(elsewhere)).toBe('"P100",,');
});

test('a file without the column lets the books infer', async () => {
  const elsewhere = await createOrganization(gateway.services);
  await importLines(gateway.services, elsewhere, [{ ...v2Line(), allocation_amount: null }]);
  expect(await sharesOf(elsewhere)).toBe('"P100",10.50,true');
});
