import { createHash } from 'node:crypto';
import { runCommand } from '../support/command';
import { openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';

let files: DepositFiles;
beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

test('an operator lists the versions of the books, with the file of each import', async () => {
  const organization = await files.createOrganization();
  const content = toNdjson([v2Line(), v2Line({ transaction_id: '2', allocation_id: '2' })]);
  await files.import(organization, 'january.ndjson', content);
  const { status, stdout } = await runCommand(files.environment, ['version', 'list', '--organization', organization, '--json']);
  expect([status, JSON.parse(stdout)]).toEqual([
    0,
    [
      {
        ...{ number: 1, recordedAt: expect.any(String) as string, cause: 'import', isKept: true },
        fileName: expect.stringMatching(/january\.ndjson$/) as string,
        fileSha256: createHash('sha256').update(content).digest('hex'),
        ...{ linesAdded: 2, linesChanged: 0, linesRemoved: 0, lines: 2, transactions: 2, amount: '21.00', feeAmount: '1.00' },
      },
    ],
  ]);
  const table = await runCommand(files.environment, ['version', 'list', '--organization', organization]);
  expect(table.stdout).toMatch(/^VERSION +AT +CAUSE +FILE +ADDED .*\n1 .* import .*january\.ndjson +2 +0 +0 +2 +2 +21\.00 +1\.00\n$/);
});

test('an operator checks the lines, is told what differs, and has it repaired', async () => {
  const organization = await files.createOrganization();
  await files.import(organization, 'lines.ndjson', toNdjson([v2Line()]));
  const check = (...options: string[]) => runCommand(files.environment, ['check', '--organization', organization, ...options]);
  expect(await check()).toEqual({
    ...{ status: 0, stderr: '' },
    stdout: `${organization}: 1 lines at data version 1, 0 of them different from the books\n`,
  });
  await files.query(
    `UPDATE donor SET first_name = 'Grace', city = 'Paris' WHERE organization_id = (SELECT id FROM organization WHERE name = $1)`,
    [organization],
  );
  const differs =
    `${organization}: 1 lines at data version 1, 1 of them different from the books\n` +
    '  P100: donor_first_name, city\n  1 donors are not found by their names\n';
  expect(await check()).toEqual({ status: 1, stdout: differs, stderr: `Not in order: ${organization}\n` });
  expect(await check('--repair')).toEqual({
    ...{ status: 0, stderr: '' },
    stdout: `${differs}${organization}, repaired: 1 lines at data version 2, 0 of them different from the books\n`,
  });
  const { stdout } = await check('--json');
  expect(JSON.parse(stdout)).toEqual([
    {
      ...{ organization, lines: 1, differences: 0, first: [], version: 2, versionsAreWhole: true },
      ...{ totalsAgree: true, unsearchableDonors: 0, paddedIds: { count: 0, first: [] }, repaired: null },
    },
  ]);
});

test('an operator is told the ids of the books that begin or end with something unseen, until a clean file replaces them', async () => {
  const organization = await files.createOrganization();
  const line = (id: string) =>
    v2Line({ deposit_id: `D${id}`, transaction_id: `T${id}`, allocation_id: `A${id}`, deposit_date: '2024-01-10' });
  const clean = toNdjson([line('1'), line('é'), line('3 b')]);
  await files.import(organization, 'lines.ndjson', clean);
  const ofOrganization = `organization_id = (SELECT id FROM organization WHERE name = $1)`;
  // Such ids are refused now, and were not always.
  for (const [id, padded] of [
    ['A1', 'A1 '],
    ['Aé', '\u200bAé\u00a0'],
  ]) {
    await files.query(`UPDATE allocation SET id = $3 WHERE ${ofOrganization} AND id = $2`, [organization, id, padded]);
  }
  await files.query(
    `INSERT INTO deposit (organization_id, id, deposit_date, status)
     SELECT organization_id, E'\\tD1', deposit_date, status FROM deposit WHERE ${ofOrganization} AND id = 'D1'`,
    [organization],
  );
  const check = (...options: string[]) => runCommand(files.environment, ['check', '--organization', organization, ...options]);
  const told =
    '  3 ids begin or end with a blank or a character that nobody sees, so that a clean file adds its lines beside theirs;' +
    ' import a clean file with --replace: allocation "A1 ", allocation "\\u200bAé\\u00a0", deposit "\\tD1"\n';
  const repaired = await check('--repair');
  expect([repaired.status, repaired.stderr]).toEqual([1, `Not in order: ${organization}\n`]);
  expect(repaired.stdout).toContain(`${organization}, repaired: 3 lines at data version 2, 0 of them different from the books\n${told}`);
  expect(JSON.parse((await check('--json')).stdout)).toMatchObject([
    {
      differences: 0,
      paddedIds: {
        count: 3,
        first: [
          { kind: 'allocation', id: 'A1 ' },
          { kind: 'allocation', id: '\u200bAé\u00a0' },
          { kind: 'deposit', id: '\tD1' },
        ],
      },
    },
  ]);
  await files.import(organization, 'lines.ndjson', clean, '--replace', '--from', '2024-01-01', '--to', '2024-01-31');
  expect(await check()).toEqual({
    ...{ status: 0, stderr: '' },
    stdout: `${organization}: 3 lines at data version 3, 0 of them different from the books\n`,
  });
});
