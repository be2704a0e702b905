import { Prisma } from '../../generated/prisma/client';
import type { LineName } from '../../line/line-fields';
import type { LineSet } from '../books/line-set';
import type { ReportSnapshot } from '../reading/report-snapshot';

export type BookLine = Readonly<Record<LineName, string | number | boolean | null>>;

/**
 * Reads lines from the tables of the books by a join of its own. It names no view, no table of lines and no table of fields, so that it tells
 * when one of these is wrong.
 */
export class BookLineStore {
  batches(
    snapshot: ReportSnapshot,
    { organizationId, startDate, endDate, pending }: Pick<LineSet, 'organizationId' | 'startDate' | 'endDate' | 'pending'>,
  ): AsyncGenerator<BookLine[]> {
    return snapshot.batches<BookLine & Record<string, unknown>>(Prisma.sql`
      SELECT d.id AS deposit_id, t.transaction_date::text, d.deposit_date::text, t.id AS transaction_id, a.id AS allocation_id,
        COALESCE(o.id, 0)::float8 AS donor_id, COALESCE(o.first_name, '') AS donor_first_name, COALESCE(o.last_name, '') AS donor_last_name,
        COALESCE(o.address1, '') AS address1, COALESCE(o.address2, '') AS address2, COALESCE(o.address3, '') AS address3,
        COALESCE(o.city, '') AS city, COALESCE(o.state, '') AS state, COALESCE(o.zip, '') AS zip, COALESCE(o.phone, '') AS phone,
        COALESCE(o.email, '') AS email_address,
        t.amount::text, t.fee_amount::text, (t.amount - t.fee_amount)::text AS net_amount, t.status, t.account_type, t.payment_type,
        g.id::float8 AS designation_id, g.name AS designation, a.memo AS designation_memo, t.main_memo,
        lower(d.status::text) AS deposit_status,
        CASE WHEN a.amount IS NOT NULL THEN a.amount WHEN count(*) OVER gift = 1 AND NOT a.amount_unknown THEN t.amount END::text
          AS allocation_amount,
        CASE WHEN a.amount IS NOT NULL THEN false WHEN count(*) OVER gift = 1 AND NOT a.amount_unknown THEN true END
          AS allocation_amount_inferred
      FROM deposit d
      JOIN transaction t ON t.organization_id = d.organization_id AND t.deposit_id = d.id
      JOIN allocation a ON a.organization_id = t.organization_id AND a.transaction_id = t.id
      JOIN designation g ON g.organization_id = a.organization_id AND g.id = a.designation_id
      LEFT JOIN donor o ON o.organization_id = t.organization_id AND o.id = t.donor_id
      WHERE d.organization_id = ${organizationId}::int AND d.deposit_date BETWEEN ${startDate}::date AND ${endDate}::date
        AND (d.status = 'POSTED' OR ${pending === 'WITH'}::boolean)
      WINDOW gift AS (PARTITION BY t.organization_id, t.id)
      ORDER BY d.deposit_date, d.id, t.id, a.id`);
  }
}
