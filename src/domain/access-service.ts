import { createHash } from 'node:crypto';
import type { AccessRecord, AccessStore, SessionRecord } from '../data/access-store';
import type { Caller } from '../data/fair-queue';
import { AppError } from '../errors';
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
  readonly user: SessionRecord;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
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
  private record: Promise<AccessRecord | null> | undefined;

  constructor(
    readonly credentials: Credentials,
    private readonly store: AccessStore,
    private readonly underMaintenance: boolean,
  ) {}

  /** System access: the provision must have been granted the privilege. Throws an AppError. */
  async assertSystem(privilege: Privilege): Promise<SystemAccess> {
    const { record, access } = await this.checkProvision();
    if (record.session instanceof AppError) throw record.session;
    assertPrivilege(record.provision.privileges, privilege);
    return access;
  }

  /** Session access: the logged-in user must have been granted the privilege. Throws an AppError. */
  async assertSession(privilege: Privilege): Promise<SessionAccess> {
    const access = await this.assertLoggedIn();
    assertPrivilege(access.user.privileges, privilege);
    return access;
  }

  /** The report, to an API provision or to a logged-in user who was granted it. Throws an AppError. */
  async assertReport(): Promise<SystemAccess> {
    const { record, access } = await this.checkProvision();
    if (mayReadReport(record)) return access;
    return this.assertSession(REPORT_PRIVILEGE);
  }

  /** What holds no personal data: to any API provision, or to any logged-in user. Throws an AppError. */
  async assertMember(): Promise<MemberAccess> {
    const { record, access } = await this.checkProvision();
    if (mayReadReport(record)) return { ...access, mayReadDonors: true };
    if (record.session === null && isSecret(record.provision.kind)) return { ...access, mayReadDonors: false };
    const session = await this.assertLoggedIn();
    return { ...session, mayReadDonors: session.user.privileges.includes(REPORT_PRIVILEGE) };
  }

  /** Donors' personal data, to a member who was granted the report. Throws an AppError. */
  async assertDonors(): Promise<MemberAccess> {
    const access = await this.assertMember();
    if (!access.mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
    return access;
  }

  /** A valid provision, whatever it was granted: what a login needs. Throws an AppError. */
  async assertProvision(): Promise<SystemAccess> {
    return (await this.checkProvision()).access;
  }

  /** A logged-in user, whatever was granted. Throws an AppError. */
  async assertLoggedIn(): Promise<SessionAccess> {
    const { record, access } = await this.checkProvision();
    const { session } = record;
    if (session instanceof AppError) throw session;
    if (session === null) throw new AppError('NOT_LOGGED_IN');
    if (session.provisionId !== record.provision.id) throw new AppError('PROVISION_MISMATCH');
    if (session.disabled) throw new AppError('UNAUTHORIZED');
    return { ...access, user: session };
  }

  /** On whose account a report is read: the user's, or the provision's. Throws an AppError. */
  async caller(): Promise<Caller> {
    const { record, access } = await this.checkProvision();
    const { session } = record;
    const isUsers = session !== null && !(session instanceof AppError) && session.provisionId === record.provision.id;
    return { organizationId: access.organization.id, credential: isUsers ? `user ${session.userId}` : access.provisionId };
  }

  private async checkProvision(): Promise<{ record: AccessRecord; access: SystemAccess }> {
    const { provision, host } = this.credentials;
    if (provision === undefined || provision === '') throw new AppError('PROVISION_HEADER_MISSING');
    if (this.underMaintenance) throw new AppError('UNDER_MAINTENANCE');
    const record = UUID.test(provision) ? await (this.record ??= this.find(provision)) : null;
    if (!record) throw new AppError('INVALID_PROVISION');
    const { id, name, hosts, underMaintenance } = record.organization;
    if (hosts.length > 0 && !hosts.includes(toHostName(host))) throw new AppError('INCORRECT_HOST');
    if (underMaintenance) throw new AppError('UNDER_MAINTENANCE');
    return {
      record,
      access: { provision, provisionId: record.provision.id, isServer: isSecret(record.provision.kind), organization: { id, name } },
    };
  }

  private find(provision: string): Promise<AccessRecord | null> {
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

const mayReadReport = ({ provision, session }: AccessRecord): boolean =>
  !(session instanceof AppError) && isSecret(provision.kind) && provision.privileges.includes(REPORT_PRIVILEGE);

function assertPrivilege(granted: readonly string[], privilege: Privilege): void {
  if (!granted.includes(privilege)) throw new AppError('PRIVILEGE_NOT_FOUND');
}
