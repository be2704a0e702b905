import type { AuditCaller, AuditService } from './audit-service';

/** A logged-in user who changes by GraphQL what others may open. */
export interface ChangingUser {
  readonly caller: AuditCaller;
  readonly address: string;
}

/**
 * Notes changes of rights in the audit. The row of a change is written before the change is made, so that no change is without a row. The
 * change is named by the words of its command, whichever door it came through.
 */
export class RightsAudit {
  constructor(private readonly audit: Pick<AuditService, 'record' | 'operator' | 'command'>) {}

  /** Notes a change that a user makes, or an operator when there is no user. */
  note(organizationId: number, command: string, subject?: string, detail?: string, user?: ChangingUser): Promise<void> {
    const operation = user ? ({ door: 'graphql', name: command, hash: null, address: user.address } as const) : this.audit.command(command);
    return this.audit.record(user?.caller ?? this.audit.operator(organizationId), operation, {
      kind: 'rights',
      ...(subject !== undefined && { subject }),
      ...(detail !== undefined && { detail }),
    });
  }
}
