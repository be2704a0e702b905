import type { AccessRow, AccessStore, Credential, SessionRow } from '../../data/access/access-store';
import type { Caller } from '../../data/reading/report-queue';
import type { RequestTimes } from '../../data/postgres/request-times';
import { AppError } from '../../errors';
import type { LinkCaller } from '../../formats/link-address';
import { isWithin, toHostName } from '../../values/addresses';
import { isUuid } from '../../values/ids';
import type { OrganizationCalendar } from '../../values/periods';
import type { AuditCaller } from '../audit/audit-service';
import { hashProof, hashToken, sessionTokensOf, toLinkProof, type Credentials } from './credentials';
import { isSecret } from '../../values/privileges';
import type { ProvisionGuard } from './provision-guard';
import { hashUuid, toUuidProof } from './provision-uuid';

/** The access of a request whose provision, host and organization passed the checks. */
export interface SystemAccess {
  /** The provision as the request sent it; empty for a link. */
  readonly provision: string;
  readonly provisionId: number;
  /** The first characters of the UUID that was sent. */
  readonly firstCharacters: string;
  /** True when the provision is a secret, which no app ships. */
  readonly isServer: boolean;
  readonly organization: OrganizationCalendar & { readonly id: number; readonly name: string; readonly currency: string | null };
}

/** The access of a logged-in user. */
export interface SessionAccess extends SystemAccess {
  readonly user: SessionRow;
}

/** A caller by numbers and the start of its provision, for the log. */
export interface CallerIdentity {
  readonly organizationId: number;
  readonly provisionId: number;
  readonly provisionStart: string;
  /** Undefined when no user is logged in. */
  readonly userId: number | undefined;
  /** True for a logged-in user, and for a provision that is a secret. */
  readonly isMember: boolean;
}

/** The parts that the checks of all requests share. */
export interface AccessParts {
  readonly store: AccessStore;
  readonly guard: ProvisionGuard;
  /** True when the whole service is under maintenance. */
  readonly underMaintenance: boolean;
}

/**
 * The caller of one request, and the checks that find it, which ask the database at most once: provision header, service under maintenance,
 * provision, host, organization under maintenance, the provision's saved reports, session, session's provision, user enabled.
 */
export class RequestCaller {
  private row: Promise<AccessRow | null> | undefined;
  private found: AccessRow | undefined;
  /** All links of a request stand for the same caller. */
  private linked: Promise<LinkCaller> | undefined;

  constructor(
    readonly credentials: Credentials,
    private readonly parts: AccessParts,
    /** Counts the time of waiting. */
    private readonly times: RequestTimes,
    /** Takes the row once, when the provision, its host and its organization are found valid. A link has no provision of its own. */
    private onProvision?: (row: AccessRow) => void,
    /** The name of the saved report whose file was asked for; undefined for every other request. */
    private report?: string,
  ) {}

  /**
   * The token of the session that counts, once the provision was looked up. Where a request sends several and none is good, it is the last.
   */
  sessionToken: string | undefined;

  /** The caller, once the provision was found; undefined for a provision that is not valid. */
  get identity(): CallerIdentity | undefined {
    return this.found && toIdentity(this.found);
  }

  /** Says that the request asks for the file of a saved report, which provisions may be bound to. Call it before all checks. */
  openReport(name: string): void {
    this.report = name;
  }

  /** The caller of the same request, whose checks ask the database again. */
  again(): RequestCaller {
    return new RequestCaller(this.credentials, this.parts, this.times, undefined, this.report);
  }

  /** True when the provision opens saved reports alone, and those as they were saved. Throws an AppError. */
  async isBoundToReports(): Promise<boolean> {
    return (await this.checkProvision()).row.provision.reports.length > 0;
  }

  /** The names of the saved reports that the provision opens; empty for one that is not bound to reports. Throws an AppError. */
  async findBoundReports(): Promise<readonly string[]> {
    return (await this.findRow()).provision.reports;
  }

  /** Makes the checks up to that of the provision's saved reports. Throws an AppError. */
  async checkProvision(): Promise<{ readonly row: AccessRow; readonly access: SystemAccess }> {
    const { provision, link } = this.credentials;
    const row = await this.findRow();
    const { id, name, fiscalYearStart, timeZone, currency } = row.organization;
    this.assertReport(row.provision.reports);
    // The link of a session that has ended must not fall back on what the session's provision may read.
    if (link?.kind === 'session' && row.session === null) throw new AppError('NOT_LOGGED_IN');
    return {
      row,
      access: {
        provision: provision ?? '',
        provisionId: row.provision.id,
        firstCharacters: row.provision.firstCharacters,
        isServer: isSecret(row.provision.kind),
        organization: { id, name, fiscalYearStart, timeZone, currency },
      },
    };
  }

  /** Makes the checks up to that of the logged-in user. Throws an AppError. */
  async checkUser(): Promise<{ readonly row: AccessRow; readonly access: SessionAccess }> {
    const { row, access } = await this.checkProvision();
    const { session } = row;
    if (session instanceof AppError) throw session;
    if (session === null) throw new AppError('NOT_LOGGED_IN');
    if (session.provisionId !== row.provision.id) throw new AppError('PROVISION_MISMATCH');
    if (session.disabled) throw new AppError('UNAUTHORIZED');
    return { row, access: { ...access, user: session } };
  }

  /** The caller as the audit names it: the provision, and the user when one is logged in. Throws an AppError. */
  async forAudit(): Promise<AuditCaller> {
    // A provision that is bound to reports is named too when it asks for something else.
    const row = await this.findRow();
    const { provision, organization } = row;
    return {
      organizationId: organization.id,
      username: sessionOf(row)?.username ?? null,
      provisionLabel: provision.label,
      provisionStart: provision.firstCharacters,
    };
  }

  /** The caller for whom the queue gives a lane: the user when one is logged in, or else the provision. Throws an AppError. */
  async forQueue(): Promise<Caller> {
    const { row, access } = await this.checkProvision();
    const session = sessionOf(row);
    return { organizationId: access.organization.id, credential: session ? `user ${session.userId}` : `provision ${access.provisionId}` };
  }

  /** The caller as a link carries it: the user when one is logged in, or else the provision. Throws an AppError. */
  forLink(): Promise<LinkCaller> {
    return (this.linked ??= this.findLinkCaller());
  }

  private async findLinkCaller(): Promise<LinkCaller> {
    const { row } = await this.checkProvision();
    const { provision, link } = this.credentials;
    if (link) return link;
    const token = this.sessionToken;
    if (row.session === null || token === undefined) return { kind: 'provision', value: toUuidProof(provision!) };
    await this.checkUser();
    return { kind: 'session', value: toLinkProof(token) };
  }

  /** Makes the checks up to that of the organization's maintenance. */
  private async findRow(): Promise<AccessRow> {
    const { provision, host, link } = this.credentials;
    if (!link && (provision === undefined || provision === '')) throw new AppError('PROVISION_HEADER_MISSING');
    if (this.parts.underMaintenance) throw new AppError('UNDER_MAINTENANCE');
    const row = await (this.row ??= this.times.database.during(
      link ? this.findLinked(link) : this.find(provision!),
      this.parts.store.wait,
    ));
    // Nobody is told that a provision was good before.
    if (!row || row.provision.hasEnded) throw new AppError('INVALID_PROVISION');
    this.found = row;
    const { hosts, underMaintenance } = row.organization;
    if (hosts.length > 0 && !hosts.map(toHostName).includes(toHostName(host))) throw new AppError('INCORRECT_HOST');
    if (underMaintenance) throw new AppError('UNDER_MAINTENANCE');
    if (!link) this.onProvision?.(row);
    this.onProvision = undefined;
    return row;
  }

  private assertReport(reports: readonly string[]): void {
    if (reports.length === 0 || (this.report !== undefined && reports.includes(this.report))) return;
    throw new AppError('PRIVILEGE_NOT_FOUND', {
      fault: `this provision opens the files of its saved reports alone: ${reports.join(', ')}`,
    });
  }

  private async findLinked({ kind, value }: LinkCaller): Promise<AccessRow | null> {
    const found = await this.parts.store.findLinked(kind, hashProof(value));
    if (!found && kind === 'session') throw new AppError('NOT_LOGGED_IN');
    return found && this.findHere(found);
  }

  private async find(provision: string): Promise<AccessRow | null> {
    if (!isUuid(provision)) return null;
    const uuidHash = hashUuid(provision);
    return this.parts.guard.look(this.credentials.address, uuidHash, () => this.findWithSession(uuidHash));
  }

  /** The row with the first session that is good. Nearly every request has one token at most. */
  private async findWithSession(uuidHash: Buffer): Promise<AccessRow | null> {
    const [first, ...others] = sessionTokensOf(this.credentials);
    const find = async (token: string | undefined): Promise<AccessRow | null> => {
      this.sessionToken = token;
      return this.findHere({ uuidHash, tokenHash: token === undefined ? undefined : hashToken(token) });
    };
    let row = await find(first);
    for (const token of others) {
      if (!row || (row.session !== null && (row.session instanceof AppError || row.session.provisionId === row.provision.id))) break;
      row = await find(token);
    }
    return row;
  }

  /** The row of a credential. Null also for a provision that is bound to other addresses, which is as good as unknown here. */
  private async findHere(credential: Credential): Promise<AccessRow | null> {
    const row = await this.parts.store.find(credential);
    const addresses = row?.provision.addresses ?? [];
    return addresses.length === 0 || isWithin(this.credentials.address, addresses) ? row : null;
  }
}

/** The session of the request, when it was opened with the request's provision. */
function sessionOf({ session, provision }: AccessRow): SessionRow | undefined {
  return session instanceof AppError || session?.provisionId !== provision.id ? undefined : session;
}

function toIdentity(row: AccessRow): CallerIdentity {
  const { provision, organization } = row;
  const session = sessionOf(row);
  const user = session?.disabled ? undefined : session;
  return {
    organizationId: organization.id,
    provisionId: provision.id,
    provisionStart: provision.firstCharacters,
    userId: user?.userId,
    isMember: user !== undefined || isSecret(provision.kind),
  };
}
