import { Arg, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { OrganizationRow } from '../../data/access/organization-store';
import { toNoticeLink, toNoticeTime, type OrganizationService } from '../../domain/access/organization-service';
import { formatAnchor } from '../../formats/audit-row';
import { instantForms } from '../../values/dates';
import { OperatedOrganization, OrganizationDeletion } from './operator-types';

const NAME = { description: 'Name of the organization.' };
const NEW_NAME = { description: 'Name that no other organization has.' };
const HOSTS = { description: 'Host names at which it may be reached, such as `give.example.org`; none means any.' };
const UNDER_MAINTENANCE = { description: 'True to answer its callers "Under maintenance".' };
const MONTH = { description: 'Month from 1 to 12.' };
const TIME_ZONE = { description: 'IANA name of the time zone, such as `America/New_York`.' };
const CURRENCY = { nullable: true, description: 'ISO 4217 code of the currency, such as `EUR`; null for none.' };
const DEPRECATED_AT = { nullable: true, description: `Time since which v2 is deprecated: ${instantForms.join(' or ')}.` };
const SUNSET_AT = { nullable: true, description: 'Time from which v2 may be gone, in the same forms.' };
const LINK = { nullable: true, description: 'Page that says how to leave v2.' };

/** The changes of organizations, as the command `organization` has them. */
@Resolver()
export class OrganizationOperations {
  constructor(private readonly organizations: OrganizationService) {}

  @Query(() => [OperatedOrganization], { name: 'organizations', description: 'All organizations, by name.' })
  list(): Promise<OrganizationRow[]> {
    return this.organizations.list();
  }

  @Query(() => OperatedOrganization, { name: 'organization', description: 'The organization of a name.' })
  get(@Arg('organization', () => String, NAME) name: string): Promise<OrganizationRow> {
    return this.organizations.get(name);
  }

  @Mutation(() => OperatedOrganization, { name: 'createOrganization', description: 'Creates an organization.' })
  create(
    @Arg('organization', () => String, NEW_NAME) name: string,
    @Arg('hosts', () => [String], { ...HOSTS, defaultValue: [] }) hosts: string[],
    @Arg('currency', () => String, CURRENCY) currency?: string | null,
  ): Promise<OrganizationRow> {
    return this.organizations.create(name, hosts, currency ?? null);
  }

  @Mutation(() => OperatedOrganization, { name: 'renameOrganization', description: 'Gives an organization another name.' })
  async rename(
    @Arg('organization', () => String, NAME) name: string,
    @Arg('newName', () => String, NEW_NAME) newName: string,
  ): Promise<OrganizationRow> {
    await this.organizations.rename(name, newName);
    return this.organizations.get(newName);
  }

  @Mutation(() => OperatedOrganization, { description: 'Sets the host names at which an organization may be reached.' })
  async setHosts(
    @Arg('organization', () => String, NAME) name: string,
    @Arg('hosts', () => [String], HOSTS) hosts: string[],
  ): Promise<OrganizationRow> {
    await this.organizations.setHosts(name, hosts);
    return this.organizations.get(name);
  }

  @Mutation(() => OperatedOrganization, { description: 'Answers "Under maintenance" to one organization, or no longer.' })
  async setMaintenance(
    @Arg('organization', () => String, NAME) name: string,
    @Arg('underMaintenance', () => Boolean, UNDER_MAINTENANCE) underMaintenance: boolean,
  ): Promise<OrganizationRow> {
    await this.organizations.setMaintenance(name, underMaintenance);
    return this.organizations.get(name);
  }

  @Mutation(() => OperatedOrganization, { description: 'Sets the month with which the fiscal year of an organization begins.' })
  async setFiscalYear(
    @Arg('organization', () => String, NAME) name: string,
    @Arg('month', () => Int, MONTH) month: number,
  ): Promise<OrganizationRow> {
    await this.organizations.setFiscalYear(name, month);
    return this.organizations.get(name);
  }

  @Mutation(() => OperatedOrganization, { description: 'Sets the time zone in which the days of an organization begin.' })
  async setTimeZone(
    @Arg('organization', () => String, NAME) name: string,
    @Arg('timeZone', () => String, TIME_ZONE) timeZone: string,
  ): Promise<OrganizationRow> {
    await this.organizations.setTimeZone(name, timeZone);
    return this.organizations.get(name);
  }

  @Mutation(() => OperatedOrganization, {
    description: 'Sets the currency that the amounts of an organization are shown with. No amount is converted.',
  })
  async setCurrency(
    @Arg('organization', () => String, NAME) name: string,
    @Arg('currency', () => String, CURRENCY) currency: string | null | undefined,
  ): Promise<OrganizationRow> {
    await this.organizations.setCurrency(name, currency ?? null);
    return this.organizations.get(name);
  }

  @Mutation(() => OperatedOrganization, {
    description: "Sets what an organization's callers of v2 are told of its end. What is missing takes the setting's value.",
  })
  setV2Notice(
    @Arg('organization', () => String, NAME) name: string,
    @Arg('deprecatedAt', () => String, DEPRECATED_AT) deprecatedAt: string | null | undefined,
    @Arg('sunsetAt', () => String, SUNSET_AT) sunsetAt: string | null | undefined,
    @Arg('link', () => String, LINK) link: string | null | undefined,
  ): Promise<OrganizationRow> {
    return this.organizations.setV2Notice(name, {
      v2DeprecatedAt: deprecatedAt == null ? null : toNoticeTime(deprecatedAt),
      v2SunsetAt: sunsetAt == null ? null : toNoticeTime(sunsetAt),
      v2MigrationLink: link == null ? null : toNoticeLink(link),
    });
  }

  @Mutation(() => OrganizationDeletion, {
    name: 'deleteOrganization',
    description: 'Deletes an organization for good: its books, provisions, users, saved reports and audit.',
  })
  async delete(
    @Arg('organization', () => String, NAME) name: string,
    @Arg('confirm', () => String, { description: 'The name once more.' }) confirm: string,
  ): Promise<OrganizationDeletion> {
    const { audit } = await this.organizations.delete(name, confirm);
    return { lastAnchor: audit && formatAnchor(audit) };
  }
}
