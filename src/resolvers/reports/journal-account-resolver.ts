import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { JournalAccountService } from '../../domain/reports/journal-account-service';
import { AppError, InputError } from '../../errors';
import { MAX_SENT_FUNDS } from '../../values/journal-layouts';
import { toChanger, type RequestContext } from '../request/request-context';
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
      'Saves the accounts of the journal in place of those in force, which keep their number. Fails with ACCOUNTS_CONFLICT, which says who saved others and when, unless `replaces` is the number in force. Needs a logged-in user or an API provision with the privilege `close_periods`.',
  })
  async saveJournalAccounts(
    @Arg('input', () => SaveJournalAccountsInput, { description: 'The accounts to save.' }) input: SaveJournalAccountsInput,
    @Ctx() context: RequestContext,
  ): Promise<SaveJournalAccountsPayload> {
    const { organization } = await context.access.authorizeClosing();
    const { replaces = null, ...accounts } = input;
    if (accounts.funds.length > MAX_SENT_FUNDS) {
      const fault = `funds has ${accounts.funds.length} funds; the limit is ${MAX_SENT_FUNDS}: the command \`journal accounts\` takes larger sets from a file`;
      throw new InputError(fault, 'funds');
    }
    return { accounts: await this.service.save(organization.id, accounts, { ...(await toChanger(context)), replaces }) };
  }
}
