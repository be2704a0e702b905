import type { AccessProvision, AccessRow, AccessStore, SessionRow } from '../data/access-store';
import type { BookState } from '../data/postgres/replica';
import type { Caller } from '../data/postgres/report-queue';
import { RequestTimes } from '../data/postgres/request-times';
import type { VersionStamp } from '../data/postgres/version-stamp';
import { AppError } from '../errors';
import type { LinkCaller } from '../formats/link-address';
import { isWithin } from '../values/addresses';
import { isUuid } from '../values/ids';
import type { AuditCaller } from './audit-service';
import { hashProof, hashToken, sessionTokenOf, toHostName, toLinkProof, type Credentials } from './credentials';
import { assertNewEnough } from './least-version';
import { AUDIT_PRIVILEGE, REPORT_PRIVILEGE, isSecret, type Privilege } from './privileges';
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
  readonly organization: { readonly id: number; readonly name: string; readonly fiscalYearStart: number };
}

/** The access of a member: a logged-in user, or an API provision, which is a secret. */
export interface MemberAccess extends SystemAccess {
  /** True when the member was granted the report, and with it donors' personal data. */
  readonly mayReadDonors: boolean;
}

/** The access of a logged-in user. */
export interface SessionAccess extends SystemAccess {
  readonly user: SessionRow;
}

/** A caller by numbers and the start of its provision, for the log. */
export interface CallerIdentity {
  readonly organizationId: number;
  readonly provisionStart: string;
  /** Undefined when no user is logged in. */
  readonly userId: number | undefined;
  /** True for a logged-in user, and for a provision that is a secret. */
  readonly isMember: boolean;
}

/** The parts that the checks of all requests share. */
interface AccessParts {
  readonly store: AccessStore;
  readonly guard: ProvisionGuard;
  /** True when the whole service is under maintenance. */
  readonly underMaintenance: boolean;
}

export class AccessService {
  constructor(private readonly parts: AccessParts) {}

  /** Opens the checks of one request, which may ask for a least version of the books. They ask the database at most once. */
  open(credentials: Credentials, times = new RequestTimes(), leastVersion = 0): RequestAccess {
    return new RequestAccess(credentials, this.parts, times, leastVersion);
  }
}

/**
 * The checks of one request. Their order is the same for every door: provision header, service under maintenance, provision, host,
 * organization under maintenance, the provision's saved reports, session, session's provision, user enabled, privilege, version of the books.
 * Parameters are checked after them, and a malformed header of the least version before them.
 */
export class RequestAccess {
  private row: Promise<AccessRow | null> | undefined;
  private member: MemberAccess | undefined;
  private version: VersionStamp | undefined;
  private personal = false;
  private found: AccessRow | undefined;
  /** All links of a request stand for the same caller. */
  private linked: Promise<LinkCaller> | undefined;
  /** The name of the saved report whose file was asked for; undefined for every other request. */
  private report: string | undefined;
  /** The checks that let the request in. */
  private readonly passed = new Set<(access: RequestAccess) => Promise<unknown>>();

  constructor(
    readonly credentials: Credentials,
    private readonly parts: AccessParts,
    /** Counts the time of waiting. */
    private readonly times: RequestTimes,
    /** The number of the oldest version of the books that the request may be answered from, or make a change beside. */
    readonly leastVersion = 0,
  ) {}

  /** The caller, once the provision was found; undefined for a provision that is not valid. */
  get identity(): CallerIdentity | undefined {
    return this.found && toIdentity(this.found);
  }

  /** Says that the request asks for the file of a saved report, which provisions may be bound to. Call it before all checks. */
  openReport(name: string): void {
    this.report = name;
  }

  /** True when the provision opens saved reports alone, and those as they were saved. Throws an AppError. */
  async isBoundToReports(): Promise<boolean> {
    return (await this.provision()).reports.length > 0;
  }

  /** Makes the checks again that let the request in, with what holds now. Throws the AppError of the first that fails. */
  async recheck(): Promise<void> {
    const again = new RequestAccess(this.credentials, this.parts, this.times);
    again.report = this.report;
    for (const check of this.passed) await check(again);
  }

  /** Authorizes a system call: the provision must have been granted the privilege. Throws an AppError. */
  async authorizeSystem(privilege: Privilege): Promise<SystemAccess> {
    const { row, access } = await this.checkProvision();
    if (row.session instanceof AppError) throw row.session;
    assertPrivilege(row.provision.privileges, privilege);
    this.assertVersion(row);
    return access;
  }

  /** Authorizes a session call: the logged-in user must have been granted the privilege. Throws an AppError. */
  async authorizeSession(privilege: Privilege): Promise<SessionAccess> {
    const { row, access } = await this.checkUser();
    assertPrivilege(access.user.privileges, privilege);
    this.assertVersion(row);
    this.personal ||= privilege === REPORT_PRIVILEGE;
    return access;
  }

  /** Authorizes the report for an API provision or a logged-in user that was granted it. Throws an AppError. */
  async authorizeReport(): Promise<SystemAccess> {
    const { row, access } = await this.checkProvision();
    const granted = this.mayReadReport(row) ? access : await this.authorizeSession(REPORT_PRIVILEGE);
    this.assertVersion(row);
    this.member = { ...granted, mayReadDonors: true };
    this.personal = true;
    this.passed.add(CHECK_REPORT);
    return granted;
  }

  /** Authorizes the audit for an API provision or a logged-in user that was granted it. Throws an AppError. */
  async authorizeAudit(): Promise<SystemAccess> {
    const { row, access } = await this.checkProvision();
    const isServers = row.session === null && isSecret(row.provision.kind) && row.provision.privileges.includes(AUDIT_PRIVILEGE);
    const granted = isServers ? access : await this.authorizeSession(AUDIT_PRIVILEGE);
    this.passed.add(CHECK_AUDIT);
    return granted;
  }

  /** Authorizes data that is not personal, for any API provision and any logged-in user. Throws an AppError. */
  async authorizeMember(): Promise<MemberAccess> {
    this.member ??= await this.findMember();
    this.passed.add(this.member.mayReadDonors ? CHECK_DONORS : CHECK_MEMBER);
    return this.member;
  }

  /** True for a member, false for a caller whom a check refuses. Throws an AppError when the checks cannot be made. */
  isMember(): Promise<boolean> {
    return this.authorizeMember().then(
      () => true,
      (error: unknown) => {
        // A refusal has no cause; a failure has one.
        if (error instanceof AppError && error.cause === undefined) return false;
        throw error;
      },
    );
  }

  /** The version of the organization's books when the access was checked; undefined for callers who may read nothing. */
  get dataVersion(): VersionStamp | undefined {
    return this.version;
  }

  /** The organization and the version of its books when the access was checked; undefined for callers who may read nothing. */
  get bookState(): BookState | undefined {
    return this.version === undefined || !this.found ? undefined : { organizationId: this.found.organization.id, version: this.version };
  }

  /** True when the request was let in to personal data, or to a condition on donors. */
  get readsPersonal(): boolean {
    return this.personal;
  }

  /** The caller as the audit names it: the provision, and the user when one is logged in. Throws an AppError. */
  async auditCaller(): Promise<AuditCaller> {
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

  /**
   * Opens donors' personal data, which counts as read from then on, to a member who may read it. Returns false for any other. Throws an
   * Error when no field above has called `authorizeMember`.
   */
  openDonorData(): boolean {
    if (!this.member) throw new Error('A personal field was read before its caller was authorized');
    this.personal ||= this.member.mayReadDonors;
    return this.member.mayReadDonors;
  }

  /** Authorizes donors' personal data for a member who was granted the report. Throws an AppError. */
  async authorizeDonors(): Promise<MemberAccess> {
    const access = await this.authorizeMember();
    if (!access.mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
    this.personal = true;
    return access;
  }

  /** Authorizes a login: the provision must be valid and needs no privilege. Throws an AppError. */
  async authorizeProvision(): Promise<SystemAccess> {
    return (await this.checkProvision()).access;
  }

  /** The caller of the request as a link carries it: the user when one is logged in, or else the provision. Throws an AppError. */
  linkCaller(): Promise<LinkCaller> {
    return (this.linked ??= this.findLinkCaller());
  }

  private async findLinkCaller(): Promise<LinkCaller> {
    const { row } = await this.checkProvision();
    const { provision, link } = this.credentials;
    if (link) return link;
    const token = sessionTokenOf(this.credentials);
    if (row.session === null || token === undefined) return { kind: 'provision', value: toUuidProof(provision!) };
    const { user } = await this.authorizeUser();
    const value = toLinkProof(token);
    if (!user.mayLink) await this.parts.store.addLinkHash(hashToken(token)!, hashProof(value));
    return { kind: 'session', value };
  }

  /** The provision of the request, when it is valid. Throws an AppError. */
  async provision(): Promise<AccessProvision> {
    return (await this.checkProvision()).row.provision;
  }

  /** Authorizes a logged-in user, who needs no privilege. Throws an AppError. */
  async authorizeUser(): Promise<SessionAccess> {
    const { row, access } = await this.checkUser();
    this.assertVersion(row);
    return access;
  }

  /** The logged-in user; null when nobody is logged in. Throws an AppError for any other reason to refuse a session. */
  async findUser(): Promise<SessionAccess | null> {
    const { row } = await this.checkProvision();
    return row.session === null ? null : this.authorizeUser();
  }

  /** The caller for whom a report is read: the user when one is logged in, or else the provision. Throws an AppError. */
  async caller(): Promise<Caller> {
    const { row, access } = await this.checkProvision();
    const session = sessionOf(row);
    return { organizationId: access.organization.id, credential: session ? `user ${session.userId}` : `provision ${access.provisionId}` };
  }

  private async checkUser(): Promise<{ row: AccessRow; access: SessionAccess }> {
    const { row, access } = await this.checkProvision();
    const { session } = row;
    if (session instanceof AppError) throw session;
    if (session === null) throw new AppError('NOT_LOGGED_IN');
    if (session.provisionId !== row.provision.id) throw new AppError('PROVISION_MISMATCH');
    if (session.disabled) throw new AppError('UNAUTHORIZED');
    this.version = row.organization.dataVersion;
    return { row, access: { ...access, user: session } };
  }

  /** Notes the version of the books. Throws INVALID_PARAMETERS when it is older than asked for, before anything is read or changed. */
  private assertVersion({ organization }: AccessRow): void {
    this.version = organization.dataVersion;
    assertNewEnough(this.version, this.leastVersion);
  }

  private async checkProvision(): Promise<{ row: AccessRow; access: SystemAccess }> {
    const { provision, link } = this.credentials;
    const row = await this.findRow();
    const { id, name, fiscalYearStart } = row.organization;
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
        organization: { id, name, fiscalYearStart },
      },
    };
  }

  /** Makes the checks up to that of the organization's maintenance. */
  private async findRow(): Promise<AccessRow> {
    const { provision, host, link, address } = this.credentials;
    if (!link && (provision === undefined || provision === '')) throw new AppError('PROVISION_HEADER_MISSING');
    if (this.parts.underMaintenance) throw new AppError('UNDER_MAINTENANCE');
    const row = await (this.row ??= this.times.database.during(
      link ? this.findLinked(link) : this.find(provision!),
      this.parts.store.wait,
    ));
    // Nobody is told that a provision is good at another address, or was good before.
    if (!row || row.provision.hasEnded || !isAt(address, row.provision)) throw new AppError('INVALID_PROVISION');
    this.found = row;
    const { hosts, underMaintenance } = row.organization;
    if (hosts.length > 0 && !hosts.includes(toHostName(host))) throw new AppError('INCORRECT_HOST');
    if (underMaintenance) throw new AppError('UNDER_MAINTENANCE');
    return row;
  }

  private assertReport(reports: readonly string[]): void {
    if (reports.length === 0 || (this.report !== undefined && reports.includes(this.report))) return;
    throw new AppError('PRIVILEGE_NOT_FOUND', {
      fault: `this provision opens the files of its saved reports alone: ${reports.join(', ')}`,
    });
  }

  private async findMember(): Promise<MemberAccess> {
    const { row, access } = await this.checkProvision();
    const isServer = row.session === null && isSecret(row.provision.kind);
    if (this.mayReadReport(row) || isServer) {
      this.assertVersion(row);
      return { ...access, mayReadDonors: this.mayReadReport(row) };
    }
    const session = await this.authorizeUser();
    return { ...session, mayReadDonors: session.user.privileges.includes(REPORT_PRIVILEGE) };
  }

  /** True for a provision that may read the report by itself. The link of a user has the user's own rights. */
  private mayReadReport(row: AccessRow): boolean {
    return this.credentials.link?.kind !== 'session' && mayReadReport(row);
  }

  private async findLinked({ kind, value }: LinkCaller): Promise<AccessRow | null> {
    const found = await this.parts.store.findLinked(kind, hashProof(value));
    if (!found && kind === 'session') throw new AppError('NOT_LOGGED_IN');
    return found && this.parts.store.find(found);
  }

  private async find(provision: string): Promise<AccessRow | null> {
    if (!isUuid(provision)) return null;
    const { guard, store } = this.parts;
    const uuidHash = hashUuid(provision);
    const token = sessionTokenOf(this.credentials);
    const credential = { uuidHash, tokenHash: token === undefined ? undefined : hashToken(token) };
    return guard.look(this.credentials.address, uuidHash, () => store.find(credential));
  }
}

const CHECK_REPORT = (access: RequestAccess): Promise<unknown> => access.authorizeReport();
const CHECK_AUDIT = (access: RequestAccess): Promise<unknown> => access.authorizeAudit();
const CHECK_MEMBER = (access: RequestAccess): Promise<unknown> => access.authorizeMember();
const CHECK_DONORS = (access: RequestAccess): Promise<unknown> => access.authorizeDonors();

const isAt = (address: string, { addresses }: AccessProvision): boolean => addresses.length === 0 || isWithin(address, addresses);

/** The session of the request, when it was opened with the request's provision. */
function sessionOf({ session, provision }: AccessRow): SessionRow | undefined {
  return session instanceof AppError || session?.provisionId !== provision.id ? undefined : session;
}

function toIdentity(row: AccessRow): CallerIdentity {
  const { provision, organization } = row;
  const session = sessionOf(row);
  const user = session?.disabled ? undefined : session;
  const { firstCharacters: provisionStart } = provision;
  return {
    organizationId: organization.id,
    provisionStart,
    userId: user?.userId,
    isMember: user !== undefined || isSecret(provision.kind),
  };
}

const mayReadReport = ({ provision, session }: AccessRow): boolean =>
  !(session instanceof AppError) && isSecret(provision.kind) && provision.privileges.includes(REPORT_PRIVILEGE);

function assertPrivilege(granted: readonly string[], privilege: Privilege): void {
  if (!granted.includes(privilege)) throw new AppError('PRIVILEGE_NOT_FOUND');
}
