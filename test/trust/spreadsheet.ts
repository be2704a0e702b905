import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { assertInstalled, send, startTarget, type Finding } from './attack';

const NAMES = [
  ...[
    "=cmd|' /C calc'!A0",
    '=1+1',
    '+1+1',
    '-1+1',
    '@SUM(1+1)',
    '\t=1+1',
    '\r=1+1',
    '\n=1+1',
    ' =1+1',
    '"=1+1',
    '="1"&"2"',
    '=HYPERLINK("http://127.0.0.1/","x")',
  ],
  ...['a\r\n=1+1', 'a,=1+1', 'a";=1+1', '\u202E=1+1', '\uFF1D1+1', '\uFEFF=1+1', '%0A=1+1', "'=1+1", '=1+1\r\n=2+2', '\t\t@A1'],
];
const FIELDS = ['donor_first_name', 'donor_last_name', 'address1', 'city', 'main_memo', 'designation_memo', 'designation'] as const;
const SECONDS = 120;

/** Donors with names that are formulas, in a CSV file that LibreOffice opens. */
export async function run(): Promise<readonly Finding[]> {
  assertInstalled('soffice');
  const target = await startTarget();
  const directory = mkdtempSync(join(tmpdir(), 'trust-sheet-'));
  try {
    const organization = await createOrganization(target.services);
    const lines = NAMES.map((name, n) =>
      v2Line({
        ...Object.fromEntries(FIELDS.map((field) => [field, name])),
        ...{ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, donor_id: n + 1, designation_id: n + 1 },
        ...{ amount: '-1.00', fee_amount: '0.00', net_amount: '-1.00' },
      }),
    );
    await importLines(target.services, organization, lines);
    const { status, body } = await send(`${target.serve.url}/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31`, {
      headers: { Provision: organization.apiProvision },
    });
    writeFileSync(join(directory, 'lines.csv'), body);
    const words = [
      '--headless',
      `-env:UserInstallation=file://${directory}/profile`,
      '--infilter=CSV:44,34,76,1,,0,false,true,false',
      '--convert-to',
      'fods',
      '--outdir',
      directory,
      join(directory, 'lines.csv'),
    ];
    spawnSync('soffice', words, { timeout: SECONDS * 1000 });
    const sheet = readFileSync(join(directory, 'lines.fods'), 'utf8');
    const formulas = [...sheet.matchAll(/table:formula="([^"]*)"/g)].map(([, formula]) => formula!);
    const numbers = sheet.match(/office:value-type="(?:float|currency)" office:value="-1"/g)?.length ?? 0;
    return [
      {
        name: `${NAMES.length} names that are formulas, in ${FIELDS.length} columns, in LibreOffice: cells that compute`,
        figure: `${formulas.length} (goal 0)${formulas
          .slice(0, 3)
          .map((formula) => `; ${formula}`)
          .join('')}`,
        holds: status === 200 && formulas.length === 0 && sheet.includes('1+1'),
      },
      { name: 'amounts of -1.00 that are numbers', figure: `${numbers} of ${2 * NAMES.length}`, holds: numbers === 2 * NAMES.length },
    ];
  } finally {
    await target.stop();
    rmSync(directory, { recursive: true });
  }
}
