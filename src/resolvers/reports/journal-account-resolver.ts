import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { JournalAccountService } from '../../domain/reports/journal-account-service';
import { AppError } from '../../errors';
import { toCloser } from '../books/period-close-resolver';
import type { RequestContext } from '../request/request-context';
import { JournalAccounts, SaveJournalAccountsInput, SaveJournalAccountsPayload } from './journal-account-types';

@Resolver(() => JournalAccounts)
export class JournalAccountResolver {
  constructor(private readonly service: JournalAccountService) {}

  @Query(() => JournalAccounts, {
    nullable: true,
    description:
      "The accounts that the organization's journal, `/export/journal.csv`, is written to; null where none were saved. Needs the privilege of the report.",
  })
  async journalAccounts(@Ctx() { access }: RequestContext): Promise<JournalAccounts | null> {
    const { organization, mayReadDonors } = await access.authorizeMember();
    // Accounts are no personal data, so that their reading is not audited.
    if (!mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
    return this.service.find(organization.id);
  }

  @Mutation(() => SaveJournalAccountsPayload, {
    description:
      'Saves the accounts of the journal in place of those in force. Journals that were made stay as they are. Needs a logged-in user or an API provision with the privilege `close_periods`.',
  })
  async saveJournalAccounts(
    @Arg('input', () => SaveJournalAccountsInput, { description: 'The accounts to save.' }) input: SaveJournalAccountsInput,
    @Ctx() context: RequestContext,
  ): Promise<SaveJournalAccountsPayload> {
    const { organization } = await context.access.authorizeClosing();
    return { accounts: await this.service.save(organization.id, input, await toCloser(context)) };
  }
}
