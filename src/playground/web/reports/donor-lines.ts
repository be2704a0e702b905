import { lineFields, type LineName } from '../../../line/line-fields';
import type { TableClient } from '../rows/table-client';
import type { LoadedTable } from '../values/table-types';
import { definitionOf } from '../choices/report-definitions';
import type { ReportPlan } from './use-report';

/** The columns of the organization's own costs, which a sheet for a donor leaves out. */
export const OWN_COSTS: readonly string[] = [lineFields.fee_amount.field, lineFields.net_amount.field];

/** True for a report of one donor, whose sheet may become a letter. */
export const isOfDonor = ({ choices }: Pick<ReportPlan, 'choices'>): boolean => definitionOf(choices.report).needs === 'donor';

/** The donor of a report as the head of a letter says it: the name and the number, and the address; a line each. All rows have them. */
export async function readDonorLines(
  plan: Pick<ReportPlan, 'choices' | 'columns'>,
  table: LoadedTable,
  client: TableClient,
): Promise<readonly string[]> {
  if (!isOfDonor(plan) || table.count === 0) return [];
  const [row = []] = await client.loadedRows(table.id, 0, 1);
  const valueOf = (name: LineName): string => {
    const place = plan.columns.findIndex(({ id }) => id === lineFields[name].field);
    return String(row[place] ?? '');
  };
  const together = (...names: readonly LineName[]): string =>
    names
      .map(valueOf)
      .filter((text) => text !== '')
      .join(' ');
  const [name, region] = [together('donor_first_name', 'donor_last_name'), together('state', 'zip')];
  return [
    [name, `No. ${valueOf('donor_id')}`],
    [valueOf('address1')],
    [valueOf('address2')],
    [valueOf('address3')],
    [valueOf('city'), region],
  ]
    .map((parts) => parts.filter((text) => text !== '').join(', '))
    .filter((line) => line !== '');
}
