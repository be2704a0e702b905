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
        ...{ number: 1, recordedAt: expect.any(String) as string, cause: 'import' },
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
      ...{ totalsAgree: true, unsearchableDonors: 0, repaired: null },
    },
  ]);
});
