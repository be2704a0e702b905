import type { AuditEntry } from '../../data/audit/audit-store';

/** An audit entry as the caller of its file sees it. */
export type Receipt = Pick<
  AuditEntry,
  | 'id'
  | 'username'
  | 'report'
  | 'format'
  | 'startDate'
  | 'endDate'
  | 'pending'
  | 'conditions'
  | 'startedAt'
  | 'finishedAt'
  | 'outcome'
  | 'bytes'
  | 'fileSha256'
  | 'lines'
  | 'digest'
  | 'moneyDigest'
  | 'dataVersion'
  | 'provision'
>;

/** The receipt of an entry. */
export function toReceipt(entry: AuditEntry): Receipt {
  const { id, username, report, format, startDate, endDate, pending, conditions, startedAt, finishedAt } = entry;
  const { outcome, bytes, fileSha256, lines, digest, moneyDigest, dataVersion, provision } = entry;
  return {
    id,
    username,
    report,
    format,
    startDate,
    endDate,
    pending,
    conditions,
    startedAt,
    finishedAt,
    outcome,
    bytes,
    fileSha256,
    lines,
    digest,
    moneyDigest,
    dataVersion,
    provision,
  };
}
