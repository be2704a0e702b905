import type { LastUse, UsageRow, UsageStore } from '../../data/access/usage-store';
import { OperatorError } from '../../errors';
import type { OrganizationService } from './organization-service';

/** The days that operators see unless they name others. */
export const DEFAULT_DAYS = 30;
const MAX_DAYS = 36_500;

/** Tells operators who calls v2. */
export class UsageService {
  constructor(
    private readonly store: UsageStore,
    private readonly organizations: Pick<OrganizationService, 'get'>,
  ) {}

  /** The v2 requests of the last days, today (UTC) included, of an organization by its name, or of all. Throws an OperatorError. */
  async list(organization: string | undefined, days: number): Promise<UsageRow[]> {
    if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS) throw new OperatorError(`Give a number of days from 1 to ${MAX_DAYS}`);
    return this.store.list(organization === undefined ? null : (await this.organizations.get(organization)).id, days);
  }

  /** The newest v2 request of every organization that has any. */
  listLastUses(): Promise<LastUse[]> {
    return this.store.listLastUses();
  }

  /** Deletes counts of days that are over for longer than this, until the signal is aborted. */
  async deleteOld(days: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.store.deleteOld(days)));
  }
}
