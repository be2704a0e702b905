import { writeFile } from 'node:fs/promises';
import { failed, runCommand, succeed } from '../support/command';
import { openDepositFiles, type DepositFiles } from '../support/deposit-files';

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

/** Writes a file, and returns what the command says to it. */
async function save(organization: string, text: string) {
  const file = files.path('accounts.csv');
  await writeFile(file, text);
  const { status, stdout, stderr } = await runCommand(files.environment, [
    'journal',
    'accounts',
    '--organization',
    organization,
    '--file',
    file,
  ]);
  return { status, stdout, stderr: stderr.replace(file, 'FILE') };
}

test('an operator saves the accounts of a journal from a file, and sees those in force', async () => {
  const organization = await files.createOrganization();
  const show = ['journal', 'accounts', '--organization', organization];
  expect(await succeed(files.environment, show)).toBe('FUND  ACCOUNT\n');
  const saved = await save(organization, '\uFEFFfund,account\r\nbank,"Bank, current"\r\nfees,6000\r\n12, 4020 \r\n3,4010\r\n\r\n');
  const table = 'FUND  ACCOUNT\nbank  Bank, current\nfees  6000\n3     4010\n12    4020\n';
  expect(saved).toEqual({ status: 0, stdout: table, stderr: '' });
  expect(await succeed(files.environment, show)).toBe(table);
  await save(organization, 'fund,account\nbank,1001\nfees,6000\n');
  expect(JSON.parse(await succeed(files.environment, ['--json', ...show]))).toMatchObject({
    number: 2,
    bank: '1001',
    fees: '6000',
    funds: [],
  });
});

test.each([
  ['', 'FILE: its first line must be fund,account'],
  ['account,fund\n1000,bank\n', 'FILE: its first line must be fund,account'],
  ['fund,account\nbank,1000\n', 'FILE: it has no row for fees'],
  ['fund,account\nbank,1000\nfees\n', 'FILE: record 3 must have 2 values, not 1'],
  ['fund,account\nbank,1000\nfees,6000\nRoof,4010\n', 'FILE: record 4: "Roof" must be bank, fees, or the id of a fund'],
  ['fund,account\nbank,1000\nfees,6000\n3,4010\n3,4020\n', 'FILE: record 5: 3 has an account already'],
  ['fund,account\nbank,1000\nfees,6000\n3,\n', 'Invalid parameter(s): funds: the account of fund 3 is empty'],
])('the command refuses the file %j', async (text, line) => {
  expect(await save(await files.createOrganization(), text)).toEqual(failed(line));
});
