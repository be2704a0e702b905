import { Client } from 'pg';
import type { AuditEntry } from '../../src/data/audit/audit-store';
import { graphql, type TestOrganization } from './gateway';
import type { OpenGateway } from './open-gateway';

/** An entry of the audit as GraphQL tells it. */
export type AuditRecord = Readonly<Record<Exclude<keyof AuditEntry, 'startedAt' | 'finishedAt' | 'report' | 'digest'>, unknown>> & {
  readonly number: number;
  readonly kind: string;
  readonly door: string;
  readonly operation: string;
};

const FIELDS = `number hash id kind door operation operationHash username provision provisionLabel address format startDate endDate pending
  conditions reads lines bytes fileSha256 dataVersion outcome subject detail tellsDonors`;

/** Reads the audit of an organization whose API provision has the privilege for it, the oldest entry first. */
export async function readAudit(
  { url }: Pick<OpenGateway, 'url'>,
  { apiProvision }: TestOrganization,
  filter = '{}',
): Promise<AuditRecord[]> {
  const query = `query Audit { auditRecords(first: 1000, filter: ${filter}, orderBy: { field: NUMBER }) { nodes { ${FIELDS} } } }`;
  const { body } = await graphql(url, query, { provision: apiProvision });
  const page = body.data?.auditRecords as { nodes: AuditRecord[] } | null | undefined;
  if (!page) throw new Error(JSON.stringify(body));
  return page.nodes;
}

/** Does something while no row can be added to the audit of an organization. */
export async function whileAuditIsHeld(databaseUrl: string, { id }: Pick<TestOrganization, 'id'>, act: () => Promise<void>): Promise<void> {
  const holder = new Client({ connectionString: databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM audit_chain WHERE organization_id = $1 FOR UPDATE', [id]);
    await act();
  } finally {
    await holder.end();
  }
}
