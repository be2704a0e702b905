import type { DeletedRows, OrganizationRow, OrganizationStore, V2Notice } from '../../data/access/organization-store';
import { OperatorError } from '../../errors';
import { isHostName, toHostName, toPageAddress } from '../../values/addresses';
import { instantForms, toInstant } from '../../values/dates';
import { isCurrency } from '../../values/currencies';
import { atSameHour } from '../../values/mail-schedules';
import { isTimeZone } from '../../values/periods';
import { assertName } from './operator-names';
import type { RightsAudit } from '../audit/rights-audit';

/** Manages organizations for operators. Its methods throw OperatorErrors. */
export class OrganizationService {
  constructor(
    private readonly organizations: OrganizationStore,
    private readonly rights: RightsAudit,
  ) {}

  async get(name: string): Promise<OrganizationRow> {
    const organization = await this.organizations.find(name);
    if (!organization) throw new OperatorError(`There is no organization "${name}"`);
    return organization;
  }

  async list(): Promise<OrganizationRow[]> {
    return this.organizations.list();
  }

  /**
   * Creates an organization. `hosts` are the names at which it may be reached; an empty list means any. `currency` is that of its amounts, or
   * null where it is not said.
   */
  async create(name: string, hosts: readonly string[], currency: string | null = null): Promise<OrganizationRow> {
    assertName('organization', name);
    assertCurrency(currency);
    const names = toHostNames(hosts);
    if (await this.organizations.find(name)) throw new OperatorError(`There is an organization "${name}" already`);
    const organization = await this.organizations.insert({ name, hosts: names, currency });
    await this.rights.note(
      organization.id,
      'organization create',
      undefined,
      [describeHosts(names), ...(currency === null ? [] : [currency])].join(', '),
    );
    return organization;
  }

  async setMaintenance(name: string, underMaintenance: boolean): Promise<void> {
    const { id } = await this.get(name);
    await this.rights.note(id, 'organization maintenance', undefined, underMaintenance ? 'on' : 'off');
    await this.organizations.updateMaintenance(id, underMaintenance);
  }

  /** Sets the month with which an organization's fiscal year begins, 1 to 12. */
  async setFiscalYear(name: string, month: number): Promise<void> {
    if (!Number.isInteger(month) || month < 1 || month > 12) throw new OperatorError(`${month} is not a month: give a number from 1 to 12`);
    const { id } = await this.get(name);
    await this.rights.note(id, 'organization fiscal-year', undefined, `month ${month}`);
    await this.organizations.updateFiscalYear(id, month);
  }

  /** Sets the time zone in which an organization's days begin, by its IANA name. Its schedules go on at the same hours of the new clock. */
  async setTimeZone(name: string, timeZone: string): Promise<void> {
    if (!isTimeZone(timeZone)) {
      throw new OperatorError(`"${timeZone}" is not a time zone: give its IANA name, such as "America/New_York" or "UTC"`);
    }
    const { id, timeZone: before } = await this.get(name);
    await this.rights.note(id, 'organization time-zone', undefined, timeZone);
    await this.organizations.updateTimeZone(id, timeZone, (nextAt) => atSameHour(nextAt, before, timeZone));
  }

  /** Sets the currency of an organization's amounts, by its ISO 4217 code; null for none. No amount is converted. */
  async setCurrency(name: string, currency: string | null): Promise<void> {
    assertCurrency(currency);
    const { id } = await this.get(name);
    await this.rights.note(id, 'organization currency', undefined, currency ?? 'none');
    await this.organizations.updateCurrency(id, currency);
  }

  /** Sets the names at which an organization may be reached, from the next request on. Returns them as they are stored; none means any. */
  async setHosts(name: string, hosts: readonly string[]): Promise<string[]> {
    const names = toHostNames(hosts);
    const { id } = await this.get(name);
    await this.rights.note(id, 'organization hosts', undefined, describeHosts(names));
    await this.organizations.updateHosts(id, names);
    return names;
  }

  /**
   * Changes what callers of v2 are told of its end, from the next request on. Null takes the setting's value, and what is left out stays.
   * Returns the organization as it is then.
   */
  async setV2Notice(name: string, change: Partial<V2Notice>): Promise<OrganizationRow> {
    const { id, ...before } = await this.get(name);
    const organization = { id, ...before, ...change };
    const { v2DeprecatedAt, v2SunsetAt } = organization;
    if (v2DeprecatedAt && v2SunsetAt && v2SunsetAt < v2DeprecatedAt)
      throw new OperatorError(`v2 cannot end at ${v2SunsetAt.toISOString()}, before it is deprecated at ${v2DeprecatedAt.toISOString()}`);
    await this.rights.note(id, 'organization v2', undefined, describeV2Notice(organization));
    return this.organizations.updateV2Notice(id, change);
  }

  async rename(name: string, newName: string): Promise<void> {
    assertName('organization', newName);
    const { id } = await this.get(name);
    if (await this.organizations.find(newName)) throw new OperatorError(`There is an organization "${newName}" already`);
    await this.rights.note(id, 'organization rename', undefined, `${name} to ${newName}`);
    await this.organizations.updateName(id, newName);
  }

  /**
   * Deletes an organization with its books, provisions, users, saved reports and audit, whose newest place is returned. `confirmedName` is
   * its name once more.
   */
  async delete(name: string, confirmedName: string): Promise<DeletedRows> {
    const { id } = await this.get(name);
    if (confirmedName !== name) throw new OperatorError(`"${confirmedName}" does not confirm the name "${name}": nothing was deleted`);
    await this.rights.note(id, 'organization delete');
    return this.organizations.delete(id);
  }
}

function assertCurrency(currency: string | null): void {
  if (currency !== null && !isCurrency(currency))
    throw new OperatorError(`"${currency}" is not the code of a currency: give its three letters of ISO 4217, such as "EUR" or "USD"`);
}

const describeHosts = (hosts: readonly string[]): string => (hosts.length > 0 ? `hosts ${hosts.join(' ')}` : 'any host');

/** An organization's own values for the end of v2, in an operator's messages. */
export const describeV2Notice = ({ v2DeprecatedAt, v2SunsetAt, v2MigrationLink }: V2Notice): string =>
  [
    ...(v2DeprecatedAt ? [`deprecated at ${v2DeprecatedAt.toISOString()}`] : []),
    ...(v2SunsetAt ? [`sunset at ${v2SunsetAt.toISOString()}`] : []),
    ...(v2MigrationLink === null ? [] : [`link ${v2MigrationLink}`]),
  ].join(', ') || 'as the settings say';

/** The time that an operator's text stands for. Throws an OperatorError for no such text. */
export function toNoticeTime(text: string): Date {
  const time = toInstant(text);
  if (time === undefined) throw new OperatorError(`"${text}" is no time: expected ${instantForms.join(' or ')}`);
  return new Date(time);
}

/** The address of a page as it is stored. Throws an OperatorError for no such address. */
export function toNoticeLink(text: string): string {
  const address = toPageAddress(text);
  if (address === undefined) throw new OperatorError(`"${text}" is no address of a page, such as https://example.org/leave-v2`);
  return address;
}

function toHostNames(hosts: readonly string[]): string[] {
  const wrong = hosts.find((host) => !isHostName(toHostName(host)));
  if (wrong !== undefined) throw new OperatorError(`"${wrong}" is not a host name`);
  return [...new Set(hosts.map(toHostName))];
}
