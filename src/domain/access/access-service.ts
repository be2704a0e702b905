import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessProvision, AccessRow } from '../../data/access/access-store';
import type { BookState } from '../../data/reading/replica';
import { RequestTimes } from '../../data/postgres/request-times';
import type { VersionStamp } from '../../data/postgres/version-stamp';
import { AppError } from '../../errors';
import type { Credentials } from './credentials';
import { assertNewEnough, parseLeastVersion } from '../books/least-version';
import { AGENT_PRIVILEGE, AUDIT_PRIVILEGE, CLOSE_PRIVILEGE, REPORT_PRIVILEGE, isSecret, type Privilege } from '../../values/privileges';
import { RequestCaller, type AccessParts, type SessionAccess, type SystemAccess } from './request-caller';

/** The access of a member: a logged-in user, or an API provision, which is a secret. */
export interface MemberAccess extends SystemAccess {
  /** True when the member was granted the report, and with it donors' personal data. */
  readonly mayReadDonors: boolean;
}

/** A member who was not let in yet. */
export interface ForeseenMember {
  readonly access: MemberAccess;
  /** The version of the books when the access was checked. */
  readonly version: VersionStamp;
}

/** Milliseconds between two looks at the version of the books, on average. */
const LOOK_MS = 500;

export class AccessService {
  constructor(private readonly parts: AccessParts) {}

  /** Opens the checks of one request, which may ask for a least version of the books by a header. They ask the database at most once. */
  open(credentials: Credentials, times = new RequestTimes(), leastVersion?: string, onProvision?: (row: AccessRow) => void): RequestAccess {
    return new RequestAccess(new RequestCaller(credentials, this.parts, times, onProvision), leastVersion);
  }
}

/**
 * The rights of one request. Every door checks them in the same order: the caller, the privilege, the version of the books. Parameters are
 * checked after them. GraphQL alone looks at the number of the version once the provision is valid, as it does at all of a request's form.
 */
export class RequestAccess {
  private member: MemberAccess | undefined;
  private state: BookState | undefined;
  private personal = false;
  /** The checks that let the request in. */
  private readonly passed = new Set<(access: RequestAccess) => Promise<unknown>>();

  constructor(
    readonly caller: RequestCaller,
    private readonly leastVersion?: string,
  ) {}

  /**
   * The number of the oldest version of the books that the request may be answered from, or make a change beside. Throws INVALID_PARAMETERS
   * where the caller has written no number, which callers without a valid provision must not learn.
   */
  readLeastVersion(): number {
    return parseLeastVersion(this.leastVersion);
  }

  /** The organization and the version of its books when the access was checked; undefined for callers who may read nothing. */
  get bookState(): BookState | undefined {
    return this.state;
  }

  /** True when the request was let in to personal data, or to a condition on donors. */
  get readsPersonal(): boolean {
    return this.personal;
  }

  /**
   * Makes the checks again that let the request in, with what holds now. Returns the state of the books that they saw. Throws the AppError of
   * the first that fails.
   */
  async recheck(): Promise<BookState | undefined> {
    const again = new RequestAccess(this.caller.again());
    for (const check of this.passed) await check(again);
    return again.state;
  }

  /**
   * Looks in a moment whether the books have changed; the request is then of the newest version. Callers who wait share the statements of the
   * checks. Throws as `recheck`, and the abort reason when the reader has left.
   */
  async lookAgain(signal: AbortSignal): Promise<void> {
    // Callers who wait for the same change must not all ask at once.
    await sleep(LOOK_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => signal.throwIfAborted());
    this.state = await this.recheck();
  }

  /** Authorizes a login: the provision must be valid and needs no privilege. Throws an AppError. */
  async authorizeProvision(): Promise<SystemAccess> {
    return (await this.caller.checkProvision()).access;
  }

  /** The provision of the request, when it is valid. Throws an AppError. */
  async provision(): Promise<AccessProvision> {
    return (await this.caller.checkProvision()).row.provision;
  }

  /** Authorizes a system call: the provision must have been granted the privilege. Throws an AppError. */
  async authorizeSystem(privilege: Privilege): Promise<SystemAccess> {
    const { row, access } = await this.caller.checkProvision();
    if (row.session instanceof AppError) throw row.session;
    assertPrivilege(row.provision.privileges, privilege);
    this.assertVersion(row);
    return access;
  }

  /** Authorizes a logged-in user, who needs no privilege. Throws an AppError. */
  async authorizeUser(): Promise<SessionAccess> {
    const { row, access } = await this.checkUser();
    this.assertVersion(row);
    return access;
  }

  /** The logged-in user; null when nobody is logged in. Throws an AppError for any other reason to refuse a session. */
  async findUser(): Promise<SessionAccess | null> {
    const { row } = await this.caller.checkProvision();
    return row.session === null ? null : this.authorizeUser();
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
    const { row, access } = await this.caller.checkProvision();
    const granted = this.mayReadReport(row) ? access : await this.authorizeSession(REPORT_PRIVILEGE);
    this.assertVersion(row);
    this.member = { ...granted, mayReadDonors: true };
    this.personal = true;
    this.passed.add(CHECK_REPORT);
    return granted;
  }

  /** Authorizes the audit for an API provision or a logged-in user that was granted it. Throws an AppError. */
  async authorizeAudit(): Promise<SystemAccess> {
    const { granted } = await this.checkGranted(AUDIT_PRIVILEGE);
    this.passed.add(CHECK_AUDIT);
    return granted;
  }

  /** Authorizes an API provision or a logged-in user that was granted it to close months and reopen them. Throws an AppError. */
  async authorizeClosing(): Promise<SystemAccess> {
    const { row, granted } = await this.checkGranted(CLOSE_PRIVILEGE);
    this.assertVersion(row);
    this.passed.add(CHECK_CLOSING);
    return granted;
  }

  /** Authorizes an agent: an API provision without a session that was granted the privilege. Throws an AppError. */
  async authorizeAgent(): Promise<SystemAccess> {
    const { row, access } = await this.caller.checkProvision();
    if (row.session instanceof AppError) throw row.session;
    if (!isServers(row) || !mayRead(row, AGENT_PRIVILEGE)) throw new AppError('AGENT_PRIVILEGE_MISSING');
    this.passed.add(CHECK_AGENT);
    return access;
  }

  /** Authorizes data that is not personal, for any API provision and any logged-in user. Throws an AppError. */
  async authorizeMember(): Promise<MemberAccess> {
    if (!this.member) {
      const { row, access } = await this.checkMember();
      this.assertVersion(row);
      this.member ??= access;
    }
    this.passed.add(this.member.mayReadDonors ? CHECK_DONORS : CHECK_MEMBER);
    return this.member;
  }

  /** Tells as whom `authorizeMember` would let the request in, and the version of the books; undefined when it would throw. */
  async foreseeMember(): Promise<ForeseenMember | undefined> {
    try {
      const { row, access } = await this.checkMember();
      const { dataVersion: version } = row.organization;
      assertNewEnough(version, this.readLeastVersion());
      return { access, version };
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
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

  /** Authorizes donors' personal data for a member who was granted the report. Throws an AppError. */
  async authorizeDonors(): Promise<MemberAccess> {
    const access = await this.authorizeMember();
    if (!access.mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
    this.personal = true;
    return access;
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

  private async checkGranted(privilege: Privilege): Promise<{ readonly row: AccessRow; readonly granted: SystemAccess }> {
    const { row, access } = await this.caller.checkProvision();
    return { row, granted: isServers(row) && mayRead(row, privilege) ? access : await this.authorizeSession(privilege) };
  }

  private async checkMember(): Promise<{ readonly row: AccessRow; readonly access: MemberAccess }> {
    const { row, access } = await this.caller.checkProvision();
    const mayReadDonors = this.mayReadReport(row);
    if (mayReadDonors || isServers(row)) return { row, access: { ...access, mayReadDonors } };
    const { access: session } = await this.caller.checkUser();
    return { row, access: { ...session, mayReadDonors: session.user.privileges.includes(REPORT_PRIVILEGE) } };
  }

  private async checkUser(): ReturnType<RequestCaller['checkUser']> {
    const checked = await this.caller.checkUser();
    this.noteVersion(checked.row);
    return checked;
  }

  /** Notes the version of the books. Throws INVALID_PARAMETERS when it is older than asked for, before anything is read or changed. */
  private assertVersion(row: AccessRow): void {
    this.noteVersion(row);
    assertNewEnough(row.organization.dataVersion, this.readLeastVersion());
  }

  private noteVersion({ organization: { id, dataVersion } }: AccessRow): void {
    this.state = { organizationId: id, version: dataVersion };
  }

  /** True for a provision that may read the report by itself. The link of a user has the user's own rights. */
  private mayReadReport(row: AccessRow): boolean {
    if (this.caller.credentials.link?.kind === 'session' || row.session instanceof AppError) return false;
    return isSecret(row.provision.kind) && mayRead(row, REPORT_PRIVILEGE);
  }
}

const CHECK_REPORT = (access: RequestAccess): Promise<unknown> => access.authorizeReport();
const CHECK_AGENT = (access: RequestAccess): Promise<unknown> => access.authorizeAgent();
const CHECK_AUDIT = (access: RequestAccess): Promise<unknown> => access.authorizeAudit();
const CHECK_CLOSING = (access: RequestAccess): Promise<unknown> => access.authorizeClosing();
const CHECK_MEMBER = (access: RequestAccess): Promise<unknown> => access.authorizeMember();
const CHECK_DONORS = (access: RequestAccess): Promise<unknown> => access.authorizeDonors();

/** True for a provision that is a secret and comes without a session. */
const isServers = ({ session, provision }: AccessRow): boolean => session === null && isSecret(provision.kind);

const mayRead = ({ provision }: AccessRow, privilege: Privilege): boolean => provision.privileges.includes(privilege);

function assertPrivilege(granted: readonly string[], privilege: Privilege): void {
  if (!granted.includes(privilege)) throw new AppError('PRIVILEGE_NOT_FOUND');
}
