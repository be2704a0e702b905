import { createHash } from 'node:crypto';
import type { AccessRow, AccessStore, SessionRow } from '../data/access-store';
import type { Caller } from '../data/postgres/fair-queue';
import { AppError } from '../errors';
import { isUuid } from '../values/ids';
import { REPORT_PRIVILEGE, isSecret, type Privilege } from './privileges';

/** What a request says of itself, as it was sent. */
export interface Credentials {
  /** The header `Provision`; undefined when there is none. */
  readonly provision: string | undefined;
  /** The Host that counts, port included. */
  readonly host: string;
  /** What stands after `Bearer` in the header Authorization, a token or not; it counts before the cookie. */
  readonly bearerToken: string | undefined;
  /** The session cookie's value. */
  readonly cookieToken: string | undefined;
}

/** A request whose provision, host and organization were found in order. */
export interface SystemAccess {
  /** The provision as the request sent it. */
  readonly provision: string;
  readonly provisionId: string;
  /** Whether the provision is a secret, and no part of an app. */
  readonly isServer: boolean;
  readonly organization: { readonly id: number; readonly name: string };
}

/** A request of somebody who belongs to the organization: an API provision, which is a secret, or a logged-in user. */
export interface MemberAccess extends SystemAccess {
  /** Whether the report was granted, and with it donors' personal data. */
  readonly mayReadDonors: boolean;
}

/** A request of a logged-in user. */
export interface SessionAccess extends SystemAccess {
  readonly user: SessionRow;
}

/** 256 bits in base64url. */
const TOKEN = /^[\w-]{43}$/;

export class AccessService {
  constructor(
    private readonly store: AccessStore,
    private readonly underMaintenance: boolean,
  ) {}

  /** The access of one request; the database is asked at most once for it. */
  open(credentials: Credentials): RequestAccess {
    return new RequestAccess(credentials, this.store, this.underMaintenance);
  }
}

/**
 * The checks of one request, in the order that is the same on every door: header present, service under maintenance, provision valid,
 * host, organization under maintenance, session, match, user enabled, privilege. Parameters come after them.
 */
export class RequestAccess {
  private row: Promise<AccessRow | null> | undefined;
  private member: MemberAccess | undefined;

  constructor(
    readonly credentials: Credentials,
    private readonly store: AccessStore,
    private readonly underMaintenance: boolean,
  ) {}

  /** System access: the provision must have been granted the privilege. Throws an AppError. */
  async authorizeSystem(privilege: Privilege): Promise<SystemAccess> {
    const { row, access } = await this.checkProvision();
    if (row.session instanceof AppError) throw row.session;
    assertPrivilege(row.provision.privileges, privilege);
    return access;
  }

  /** Session access: the logged-in user must have been granted the privilege. Throws an AppError. */
  async authorizeSession(privilege: Privilege): Promise<SessionAccess> {
    const access = await this.authorizeUser();
    assertPrivilege(access.user.privileges, privilege);
    return access;
  }

  /** The report, to an API provision or to a logged-in user who was granted it. Throws an AppError. */
  async authorizeReport(): Promise<SystemAccess> {
    const { row, access } = await this.checkProvision();
    if (mayReadReport(row)) return access;
    return this.authorizeSession(REPORT_PRIVILEGE);
  }

  /** What holds no personal data: to any API provision, or to any logged-in user. Throws an AppError. */
  async authorizeMember(): Promise<MemberAccess> {
    return (this.member ??= await this.findMember());
  }

  /** Whether the member may read donors' personal data. For fields below one that has authorized the member. */
  get mayReadDonors(): boolean {
    if (!this.member) throw new Error('A personal field was read before its caller was authorized');
    return this.member.mayReadDonors;
  }

  /** Donors' personal data, to a member who was granted the report. Throws an AppError. */
  async authorizeDonors(): Promise<MemberAccess> {
    const access = await this.authorizeMember();
    if (!access.mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
    return access;
  }

  /** A valid provision, whatever it was granted: what a login needs. Throws an AppError. */
  async authorizeProvision(): Promise<SystemAccess> {
    return (await this.checkProvision()).access;
  }

  /** A logged-in user, whatever was granted. Throws an AppError. */
  async authorizeUser(): Promise<SessionAccess> {
    const { row, access } = await this.checkProvision();
    const { session } = row;
    if (session instanceof AppError) throw session;
    if (session === null) throw new AppError('NOT_LOGGED_IN');
    if (session.provisionId !== row.provision.id) throw new AppError('PROVISION_MISMATCH');
    if (session.disabled) throw new AppError('UNAUTHORIZED');
    return { ...access, user: session };
  }

  /** On whose account a report is read: the user's, or the provision's. Throws an AppError. */
  async caller(): Promise<Caller> {
    const { row, access } = await this.checkProvision();
    const { session } = row;
    const isUsers = session !== null && !(session instanceof AppError) && session.provisionId === row.provision.id;
    return { organizationId: access.organization.id, credential: isUsers ? `user ${session.userId}` : access.provisionId };
  }

  private async checkProvision(): Promise<{ row: AccessRow; access: SystemAccess }> {
    const { provision, host } = this.credentials;
    if (provision === undefined || provision === '') throw new AppError('PROVISION_HEADER_MISSING');
    if (this.underMaintenance) throw new AppError('UNDER_MAINTENANCE');
    const row = isUuid(provision) ? await (this.row ??= this.find(provision)) : null;
    if (!row) throw new AppError('INVALID_PROVISION');
    const { id, name, hosts, underMaintenance } = row.organization;
    if (hosts.length > 0 && !hosts.includes(toHostName(host))) throw new AppError('INCORRECT_HOST');
    if (underMaintenance) throw new AppError('UNDER_MAINTENANCE');
    return {
      row,
      access: { provision, provisionId: row.provision.id, isServer: isSecret(row.provision.kind), organization: { id, name } },
    };
  }

  private async findMember(): Promise<MemberAccess> {
    const { row, access } = await this.checkProvision();
    if (mayReadReport(row)) return { ...access, mayReadDonors: true };
    if (row.session === null && isSecret(row.provision.kind)) return { ...access, mayReadDonors: false };
    const session = await this.authorizeUser();
    return { ...session, mayReadDonors: session.user.privileges.includes(REPORT_PRIVILEGE) };
  }

  private find(provision: string): Promise<AccessRow | null> {
    const token = sessionTokenOf(this.credentials);
    return this.store.find(provision.toLowerCase(), token === undefined ? undefined : hashToken(token));
  }
}

/** The token that counts. A bearer that is none is not made good by a cookie: the caller has said which session it means. */
export const sessionTokenOf = ({ bearerToken, cookieToken }: Credentials): string | undefined => bearerToken ?? cookieToken;

/** Only this hash is ever stored; undefined for what cannot be a token. */
export function hashToken(token: string): Buffer | undefined {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : undefined;
}

/** The name of a Host header (RFC 9110 section 7.2) in lower case, without port and without the root's dot. */
export function toHostName(host: string): string {
  return host
    .toLowerCase()
    .replace(/:[0-9]*$/, '')
    .replace(/\.$/, '');
}

const mayReadReport = ({ provision, session }: AccessRow): boolean =>
  !(session instanceof AppError) && isSecret(provision.kind) && provision.privileges.includes(REPORT_PRIVILEGE);

function assertPrivilege(granted: readonly string[], privilege: Privilege): void {
  if (!granted.includes(privilege)) throw new AppError('PRIVILEGE_NOT_FOUND');
}
