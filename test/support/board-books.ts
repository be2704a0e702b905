import { CLOSE_PRIVILEGE } from '../../src/values/privileges';
import { createOrganization, importLines, v2Line, type TestGateway, type TestOrganization } from './gateway';

/** The time by which the sheets for a board are made. */
export const BOARD_NOW = '2026-06-15T12:00:00Z';

type Fields = Readonly<Record<string, unknown>>;
let count = 0;

/** The line of a gift of its own deposit, without a fee. */
export function boardGift(date: string, amount: string, fund: number, more: Fields = {}) {
  const id = `T${++count}`;
  return v2Line({
    ...{ deposit_id: `D${id}`, transaction_id: id, allocation_id: `A${id}`, transaction_date: date, deposit_date: date },
    ...{ amount, fee_amount: '0.00', net_amount: amount, allocation_amount: amount, designation_id: fund, designation: `Fund ${fund}` },
    ...more,
  });
}

/** Makes an organization with books. Its user may close months, and so save budgets, unless that is not wanted. */
export async function openBoardBooks(
  services: TestGateway['services'],
  lines: readonly object[],
  { mayClose = true, fiscalYearStart = 7 } = {},
): Promise<TestOrganization> {
  const organization = await createOrganization(services);
  const { name, username } = organization;
  await services.organizations.setFiscalYear(name, fiscalYearStart);
  if (mayClose) await services.users.changeGrants(name, username, { verb: 'grant', privileges: [CLOSE_PRIVILEGE] });
  await importLines(services, organization, lines);
  return organization;
}
