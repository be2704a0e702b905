import type { AuditService } from './audit-service';

/**
 * Notes changes of rights in the audit. The row of a change is written before the change is made, so that no change is without a row. The
 * change is named by the words of its command, whichever door it came through.
 */
export class RightsAudit {
  constructor(private readonly audit: Pick<AuditService, 'record' | 'operator' | 'command'>) {}

  note(organizationId: number, command: string, subject?: string, detail?: string): Promise<void> {
    return this.audit.record(this.audit.operator(organizationId), this.audit.command(command), {
      kind: 'rights',
      ...(subject !== undefined && { subject }),
      ...(detail !== undefined && { detail }),
    });
  }
}
