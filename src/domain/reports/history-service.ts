import type { HistoryStore, MadePrune } from '../../data/books/history-store';
import { InputError } from '../../errors';
import type { LocalDate } from '../../values/dates';
import { findToday, startOfDay, type OrganizationCalendar } from '../../values/periods';
import type { RightsAudit } from '../audit/rights-audit';

/** The organization whose history is pruned. */
interface PrunedOrganization extends OrganizationCalendar {
  readonly id: number;
}

/** The history of the books: the states that can be asked for. */
export class HistoryService {
  constructor(
    private readonly store: HistoryStore,
    private readonly rights: RightsAudit,
  ) {}

  /**
   * Takes the states out of the history that no moment from a date or an instant on had; a trial only tells them. A date begins by the clock
   * of the organization. Throws INVALID_PARAMETERS for the future, whose first state is not there yet.
   */
  async prune(organization: PrunedOrganization, before: LocalDate | Date, isTrial: boolean): Promise<MadePrune> {
    const { id } = organization;
    const instant = toInstant(organization, before);
    if (isTrial) return { ...(await this.store.find(id, instant)), version: null };
    return this.store.prune(id, instant, ({ earliest }) => this.rights.note(id, 'history prune', `versions before ${earliest!.number}`));
  }
}

function toInstant(organization: PrunedOrganization, before: LocalDate | Date): Date {
  const instant = typeof before === 'string' ? startOfDay(before, organization) : before;
  if (instant.getTime() <= Date.now()) return instant;
  if (typeof before !== 'string') throw new InputError(`before: ${before.toISOString()} is in the future`);
  const { today } = findToday(organization);
  throw new InputError(`before: ${before} is in the future: it is ${today} in ${organization.timeZone}`);
}
