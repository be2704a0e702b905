import type { BrowserContextOptions, Page } from 'playwright-core';
import type { CamtEntry } from './bank-files';
import { createOrganization, importLines, v2Line, type TestOrganization } from './gateway';
import { logIn, type OpenPage, type openPlayground } from './playground-browser';

const MAY = '#reports/bank-tie-out?period=2026-05-01..2026-05-31';
export const gift = (id: string, day: string, amount: string, fee = '0.00') =>
  v2Line({
    ...{ deposit_id: `D${id}`, transaction_id: `T${id}`, allocation_id: `A${id}`, transaction_date: day, deposit_date: day },
    ...{ amount, fee_amount: fee, net_amount: (Number(amount) - Number(fee)).toFixed(2), allocation_amount: amount },
  });
/** One deposit of a line, two of another, one in three lines, two of equal amounts, and one that the bank does not have. */
export const BOOKS = [
  gift('1', '2026-05-04', '100.00', '2.50'),
  gift('2', '2026-05-05', '20.00'),
  gift('3', '2026-05-05', '30.00'),
  gift('4', '2026-05-12', '9.00'),
  gift('5', '2026-05-18', '40.00'),
  gift('6', '2026-05-18', '40.00'),
  gift('7', '2026-05-25', '77.00'),
];
export const credit = (bookedOn: string, amount: string, text: string, more: Partial<CamtEntry> = {}): CamtEntry => ({
  ...{ bookedOn, amount, more: `<AddtlNtryInf>${text}</AddtlNtryInf>` },
  ...more,
});
export const STATEMENT = {
  opening: '1000.00',
  closing: '1296.50',
  entries: [
    credit('2026-05-05', '97.50', 'card gifts'),
    credit('2026-05-06', '50.00', 'batch'),
    credit('2026-05-12', '4.00', 'part one'),
    credit('2026-05-13', '5.00', 'part two'),
    credit('2026-05-18', '40.00', 'check a'),
    credit('2026-05-19', '40.00', 'check b'),
    credit('2026-05-27', '70.00', 'a wrong amount'),
    credit('2026-05-29', '10.00', 'fees of the account', { direction: 'DBIT' }),
  ],
};

type Opened = OpenPage & { readonly organization: TestOrganization };

/** Opens the report of May with the place for a statement, for an organization of its own. */
export async function openTie(
  gateway: ReturnType<typeof openPlayground>,
  options: BrowserContextOptions = {},
  books = BOOKS,
): Promise<Opened> {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, books);
  const visit = await gateway.visit({ as: organization, hash: MAY, now: '2026-06-15T12:00:00Z', locale: 'en-US', ...options });
  await logIn(visit.page);
  await visit.page.getByRole('button', { name: 'Tie to a bank statement…' }).click();
  return { ...visit, organization };
}

export const chooseStatement = (page: Page, name: string, text: string): Promise<void> =>
  page.getByLabel('Statement file').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
