import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, GraphQLISODateTime, InputType, Int, ObjectType } from 'type-graphql';
import type * as data from '../../data/reports/journal-account-store';

const BANK = "Account of the bank, which is debited by the deposits' amounts less their fees.";
const FEES = 'Account of the fees, which is debited by them.';

@ObjectType({ simpleResolvers: true, description: 'The account of a fund, which is credited by its shares.' })
export class FundAccount implements data.FundAccount {
  @Field(() => GraphQLSafeInt, { description: 'Number of the designation (fund).' })
  designationId!: number;

  @Field(() => String, { description: 'Account, as the accounting program knows it: a name or a code.' })
  account!: string;
}

@ObjectType({
  simpleResolvers: true,
  description: "The accounts that the organization's journal is written to. A saving is never changed; the newest one is in force.",
})
export class JournalAccounts implements data.JournalAccounts {
  @Field(() => Int, { description: 'Number of the saving, counted from 1. The parameter `accounts` of `/export/journal.csv` takes it.' })
  number!: number;

  @Field(() => GraphQLISODateTime, { description: 'Time of the saving.' })
  savedAt!: Date;

  @Field(() => String, {
    nullable: true,
    description: "User who saved them; the label of the provision where nobody was logged in, or the operator's account of a command.",
  })
  savedBy!: string | null;

  @Field(() => String, { description: BANK })
  bank!: string;

  @Field(() => String, { description: FEES })
  fees!: string;

  @Field(() => [FundAccount], { description: 'Accounts of the funds, by the numbers of the funds, at most 5000.' })
  funds!: readonly FundAccount[];
}

@InputType({ description: 'The account of a fund.' })
export class FundAccountInput implements data.FundAccount {
  @Field(() => GraphQLSafeInt, { description: 'Number of the designation (fund). It need not be there yet.' })
  designationId!: number;

  @Field(() => String, { description: 'Account, at most 100 characters.' })
  account!: string;
}

@InputType({ description: 'The accounts of a journal.' })
export class SaveJournalAccountsInput implements data.NewJournalAccounts {
  @Field(() => String, { description: `${BANK} At most 100 characters.` })
  bank!: string;

  @Field(() => String, { description: `${FEES} At most 100 characters.` })
  fees!: string;

  @Field(() => [FundAccountInput], {
    description: 'Accounts of all funds, each fund once, at most 600. The command `journal accounts` takes larger sets from a file.',
  })
  funds!: readonly FundAccountInput[];

  @Field(() => Int, {
    nullable: true,
    description:
      'The `number` of the accounts that are to be replaced; null where none were saved. Others that were saved since are not replaced.',
  })
  replaces?: number | null;
}

@ObjectType({ simpleResolvers: true, description: 'The accounts that were saved.' })
export class SaveJournalAccountsPayload {
  @Field(() => JournalAccounts, { description: 'The accounts, which are in force now.' })
  accounts!: JournalAccounts;
}
