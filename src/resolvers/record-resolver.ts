import { GraphQLSafeInt } from 'graphql-scalars';
import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import type { MemberAccess } from '../domain/access-service';
import type { RecordScope } from '../domain/record-service';
import { PageArgs, ShortPageArgs, type ConnectionSource } from './connection-types';
import {
  Allocation,
  AllocationConnection,
  Deposit,
  DepositConnection,
  DepositsArgs,
  Designation,
  DesignationConnection,
  Donor,
  DonorConnection,
  DonorsArgs,
  Transaction,
  TransactionConnection,
} from './record-types';
import type { RequestContext } from './request-context';

const toScope = ({ organization, mayReadDonors }: MemberAccess): RecordScope => ({ organizationId: organization.id, mayReadDonors });

/** What holds no personal data is for every member of the organization. */
const memberScope = async ({ access }: RequestContext): Promise<RecordScope> => toScope(await access.assertMember());

/** Donors, and what people wrote of their gifts, are for those who were granted the report. */
const donorScope = async ({ access }: RequestContext): Promise<RecordScope> => toScope(await access.assertDonors());

@Resolver(() => Deposit)
export class DepositResolver {
  @Query(() => Deposit, { nullable: true, description: 'The deposit of this ID; null where there is none.' })
  async deposit(@Arg('id', () => ID, { description: 'ID of the deposit.' }) id: string, @Ctx() context: RequestContext) {
    return context.records.find('deposit', await memberScope(context), id);
  }

  @Query(() => DepositConnection, { description: 'Deposits by date and ID.' })
  async deposits(@Args() args: DepositsArgs, @Ctx() context: RequestContext): Promise<ConnectionSource<Deposit>> {
    return context.records.deposits(await memberScope(context), args, args);
  }

  @FieldResolver(() => TransactionConnection, { description: 'Its transactions by ID.' })
  async transactions(@Root() { id }: Deposit, @Args() page: PageArgs, @Ctx() context: RequestContext) {
    return context.records.children('depositTransactions', await memberScope(context), id, page);
  }
}

@Resolver(() => Transaction)
export class TransactionResolver {
  @Query(() => Transaction, { nullable: true, description: 'The transaction of this ID; null where there is none.' })
  async transaction(@Arg('id', () => ID, { description: 'ID of the transaction.' }) id: string, @Ctx() context: RequestContext) {
    return context.records.find('transaction', await memberScope(context), id);
  }

  @FieldResolver(() => Deposit, { description: 'The deposit it arrived with.' })
  async deposit(@Root() { depositId }: Transaction, @Ctx() context: RequestContext) {
    return context.records.find('deposit', await memberScope(context), depositId);
  }

  @FieldResolver(() => Donor, { nullable: true, description: 'Who gave; null where nobody is known. Needs the privilege of the report.' })
  async donor(@Root() { donorId }: Transaction, @Ctx() context: RequestContext) {
    const scope = await donorScope(context);
    return donorId === null ? null : context.records.find('donor', scope, donorId);
  }

  @FieldResolver(() => String, { nullable: true, description: 'Main memo; may be empty. Needs the privilege of the report.' })
  async mainMemo(@Root() { mainMemo }: Transaction, @Ctx() context: RequestContext): Promise<string | null> {
    await donorScope(context);
    return mainMemo;
  }

  @FieldResolver(() => AllocationConnection, { description: 'What it is split into, by ID.' })
  async allocations(@Root() { id }: Transaction, @Args() page: ShortPageArgs, @Ctx() context: RequestContext) {
    return context.records.children('transactionAllocations', await memberScope(context), id, page);
  }
}

@Resolver(() => Allocation)
export class AllocationResolver {
  @FieldResolver(() => Transaction, { description: 'The transaction it is a share of.' })
  async transaction(@Root() { transactionId }: Allocation, @Ctx() context: RequestContext) {
    return context.records.find('transaction', await memberScope(context), transactionId);
  }

  @FieldResolver(() => Designation, { description: 'The fund it goes to.' })
  async designation(@Root() { designationId }: Allocation, @Ctx() context: RequestContext) {
    return context.records.find('designation', await memberScope(context), designationId);
  }

  @FieldResolver(() => String, { nullable: true, description: 'Memo; may be empty. Needs the privilege of the report.' })
  async memo(@Root() { memo }: Allocation, @Ctx() context: RequestContext): Promise<string | null> {
    await donorScope(context);
    return memo;
  }
}

@Resolver(() => Designation)
export class DesignationResolver {
  @Query(() => Designation, { nullable: true, description: 'The designation of this ID; null where there is none.' })
  async designation(
    @Arg('id', () => GraphQLSafeInt, { description: 'ID of the designation.' }) id: number,
    @Ctx() context: RequestContext,
  ) {
    return context.records.find('designation', await memberScope(context), id);
  }

  @Query(() => DesignationConnection, { description: 'Designations by ID.' })
  async designations(@Args() page: PageArgs, @Ctx() context: RequestContext): Promise<ConnectionSource<Designation>> {
    return context.records.designations(await memberScope(context), page);
  }

  @FieldResolver(() => AllocationConnection, { description: 'The shares that go to it, by ID.' })
  async allocations(@Root() { id }: Designation, @Args() page: PageArgs, @Ctx() context: RequestContext) {
    return context.records.children('designationAllocations', await memberScope(context), id, page);
  }
}

@Resolver(() => Donor)
export class DonorResolver {
  @Query(() => Donor, { nullable: true, description: 'The donor of this ID; null where there is none. Needs the privilege of the report.' })
  async donor(@Arg('id', () => GraphQLSafeInt, { description: 'ID of the donor.' }) id: number, @Ctx() context: RequestContext) {
    return context.records.find('donor', await donorScope(context), id);
  }

  @Query(() => DonorConnection, { description: 'Donors by last name, first name and ID. Needs the privilege of the report.' })
  async donors(@Args() args: DonorsArgs, @Ctx() context: RequestContext): Promise<ConnectionSource<Donor>> {
    return context.records.donors(await donorScope(context), args.search, args);
  }

  @FieldResolver(() => TransactionConnection, { description: 'The transactions of the donor by date and ID.' })
  async transactions(@Root() { id }: Donor, @Args() page: PageArgs, @Ctx() context: RequestContext) {
    return context.records.children('donorTransactions', await donorScope(context), id, page);
  }
}
