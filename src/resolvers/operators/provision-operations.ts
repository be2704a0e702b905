import { Arg, Mutation, Query, Resolver } from 'type-graphql';
import type { ProvisionKind } from '../../data/access/organization-store';
import { EXPIRY_FORMS, toExpiry, toSpanMs } from '../../domain/access/provision-bounds';
import type { ProvisionService } from '../../domain/access/provision-service';
import { IssuedProvision, issuedKindEnum, NewProvision, toIssued } from './operator-types';

const ORGANIZATION = { description: 'Name of the organization.' };
const PROVISION = { description: 'Its number, the first eight characters of its UUID, or the whole UUID.' };
const KIND = { description: 'WEB and MOBILE provisions are public, an API provision is a secret.' };
const LABEL = { description: 'Note on the purpose of the provision, such as `reporting`.' };
const PRIVILEGES = { description: 'Names of privileges.' };
const NEVER = 'never';
const EXPIRES = { description: `Time from which it is refused: ${EXPIRY_FORMS}, or \`${NEVER}\`.` };
const ADDRESSES = { description: 'Networks in CIDR notation that its callers come from; none means any.' };
const REPORTS = { description: 'Names of the saved reports that it opens alone; none means that it is not bound to reports.' };
const OVERLAP = {
  description: 'Time for which the earlier UUIDs stay good, such as `7d`, `12h` or `30m`; `0` ends them at once.',
  defaultValue: '7d',
};

/** The changes of provisions, as the command `provision` has them. */
@Resolver()
export class ProvisionOperations {
  constructor(private readonly provisions: ProvisionService) {}

  @Query(() => [IssuedProvision], { name: 'provisions', description: 'The provisions of an organization.' })
  async list(@Arg('organization', () => String, ORGANIZATION) organization: string): Promise<IssuedProvision[]> {
    return (await this.provisions.list(organization)).map(toIssued);
  }

  @Query(() => IssuedProvision, { name: 'provision', description: 'One provision.' })
  async get(@Arg('provision', () => String, PROVISION) provision: string): Promise<IssuedProvision> {
    return toIssued(await this.provisions.get(provision));
  }

  @Mutation(() => NewProvision, { name: 'createProvision', description: 'Issues a provision. Its UUID is in this answer alone.' })
  async create(
    @Arg('organization', () => String, ORGANIZATION) organization: string,
    @Arg('kind', () => issuedKindEnum, KIND) kind: ProvisionKind,
    @Arg('label', () => String, { ...LABEL, defaultValue: '' }) label: string,
    @Arg('privileges', () => [String], { ...PRIVILEGES, defaultValue: [] }) grants: string[],
    @Arg('expires', () => String, { ...EXPIRES, defaultValue: NEVER }) expires: string,
    @Arg('addresses', () => [String], { ...ADDRESSES, defaultValue: [] }) addresses: string[],
    @Arg('reports', () => [String], { ...REPORTS, defaultValue: [] }) reports: string[],
  ): Promise<NewProvision> {
    const bounds = { expiresAt: toTime(expires), addresses, reports };
    const uuid = await this.provisions.create({ organization, kind, label, grants, bounds });
    return { uuid, provision: await this.get(uuid), earlierExpiresAt: null };
  }

  @Mutation(() => IssuedProvision, { name: 'labelProvision', description: "Replaces the note on a provision's purpose." })
  async label(
    @Arg('provision', () => String, PROVISION) provision: string,
    @Arg('label', () => String, LABEL) label: string,
  ): Promise<IssuedProvision> {
    return toIssued(await this.provisions.label(provision, label));
  }

  @Mutation(() => IssuedProvision, { name: 'grantProvision', description: 'Adds privileges to a provision.' })
  grant(
    @Arg('provision', () => String, PROVISION) provision: string,
    @Arg('privileges', () => [String], PRIVILEGES) privileges: string[],
  ): Promise<IssuedProvision> {
    return this.changeGrants(provision, 'grant', privileges);
  }

  @Mutation(() => IssuedProvision, { name: 'revokeProvisionGrant', description: 'Takes privileges from a provision.' })
  revokeGrant(
    @Arg('provision', () => String, PROVISION) provision: string,
    @Arg('privileges', () => [String], PRIVILEGES) privileges: string[],
  ): Promise<IssuedProvision> {
    return this.changeGrants(provision, 'revoke', privileges);
  }

  @Mutation(() => IssuedProvision, { name: 'expireProvision', description: 'Sets the time from which a provision is refused.' })
  async expire(
    @Arg('provision', () => String, PROVISION) provision: string,
    @Arg('expires', () => String, EXPIRES) expires: string,
  ): Promise<IssuedProvision> {
    return toIssued(await this.provisions.expire(provision, toTime(expires)));
  }

  @Mutation(() => IssuedProvision, {
    name: 'bindProvisionToAddresses',
    description: 'Binds a provision to the networks of its callers, or frees it.',
  })
  async bindToAddresses(
    @Arg('provision', () => String, PROVISION) provision: string,
    @Arg('addresses', () => [String], ADDRESSES) addresses: string[],
  ): Promise<IssuedProvision> {
    return toIssued(await this.provisions.bindToAddresses(provision, addresses));
  }

  @Mutation(() => IssuedProvision, {
    name: 'bindProvisionToReports',
    description: 'Binds an API provision to saved reports, which it then opens alone, or frees it.',
  })
  async bindToReports(
    @Arg('provision', () => String, PROVISION) provision: string,
    @Arg('reports', () => [String], REPORTS) reports: string[],
  ): Promise<IssuedProvision> {
    return toIssued(await this.provisions.bindToReports(provision, reports));
  }

  @Mutation(() => NewProvision, {
    name: 'rotateProvision',
    description: 'Gives a provision a new UUID, which is in this answer alone. The earlier ones stay good for a while.',
  })
  async rotate(
    @Arg('provision', () => String, PROVISION) provision: string,
    @Arg('overlap', () => String, OVERLAP) overlap: string,
  ): Promise<NewProvision> {
    const { uuid, overlapEnd } = await this.provisions.rotate(provision, toSpanMs(overlap));
    return { uuid, provision: await this.get(uuid), earlierExpiresAt: overlapEnd };
  }

  @Mutation(() => IssuedProvision, { name: 'revokeProvision', description: 'Ends a provision and its sessions for good, at once.' })
  async revoke(@Arg('provision', () => String, PROVISION) provision: string): Promise<IssuedProvision> {
    const { id } = await this.provisions.revoke(provision);
    return this.get(String(id));
  }

  private async changeGrants(provision: string, verb: 'grant' | 'revoke', privileges: string[]): Promise<IssuedProvision> {
    await this.provisions.changeGrants(provision, { verb, privileges });
    return this.get(provision);
  }
}

const toTime = (expires: string): Date | null => (expires === NEVER ? null : toExpiry(expires));
