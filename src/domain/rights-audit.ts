import { toCommand, toOperator, type AuditService, type OperatorDoor } from './audit-service';

/**
 * Notes changes of rights in the audit. The row of a change is written before the change is made, so that no change is without a row. The change
 * is named by the words of its command, whichever door it came through.
 */
export class RightsAudit {
  constructor(
    private readonly audit: Pick<AuditService, 'record'>,
    private readonly door: OperatorDoor,
  ) {}

  note(organizationId: number, command: string, subject?: string, detail?: string): Promise<void> {
    return this.audit.record(toOperator(organizationId), toCommand(command, this.door), {
      kind: 'rights',
      ...(subject !== undefined && { subject }),
      ...(detail !== undefined && { detail }),
    });
  }
}
