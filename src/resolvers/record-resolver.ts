import { GraphQLSafeInt } from 'graphql-scalars';
import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Query, Resolver, Root } from 'type-graphql';
import type { MemberAccess } from '../domain/access-service';
import type { RecordGraph } from '../domain/record-service';
import { PageArgs, ShortPageArgs, type Page } from './connection-types';
import { links, lookAhead } from './look-ahead';
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
  Transaction,
  TransactionConnection,
} from './record-types';
import { NEEDS_REPORT, refuse, type RequestContext } from './request-context';

const enter = ({ records }: RequestContext, { organization, mayReadDonors }: MemberAccess): RecordGraph =>
  records.enter({ organizationId: organization.id, mayReadDonors });

/** What holds no personal data is for every member of the organization. */
const memberRecords = async (context: RequestContext): Promise<RecordGraph> => enter(context, await context.access.assertMember());

/** Donors are for those who were granted the report. */
const donorRecords = async (context: RequestContext): Promise<RecordGraph> => enter(context, await context.access.assertDonors());

@Resolver(() => Deposit)
export class DepositResolver {
  @Query(() => Deposit, { nullable: true, description: 'The deposit of this ID; null where there is none.' })
  async deposit(
    @Arg('id', () => ID, { description: 'ID of the deposit.' }) id: string,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await memberRecords(context)).find('deposit', id, lookAhead(info));
  }

  @Query(() => DepositConnection, { description: 'Deposits by date and ID.' })
  async deposits(
    @Args() which: DepositsArgs,
    @Args() page: PageArgs,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<Deposit>> {
    return (await memberRecords(context)).deposits(which, page, lookAhead(info));
  }

  @FieldResolver(() => TransactionConnection, { description: 'Its transactions by ID.' })
  transactions(@Root() deposit: Deposit, @Args() page: PageArgs, @Ctx() { records }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return records.graph.follow(links.Deposit.transactions, deposit, page, lookAhead(info));
  }
}

@Resolver(() => Transaction)
export class TransactionResolver {
  @Query(() => Transaction, { nullable: true, description: 'The transaction of this ID; null where there is none.' })
  async transaction(
    @Arg('id', () => ID, { description: 'ID of the transaction.' }) id: string,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await memberRecords(context)).find('transaction', id, lookAhead(info));
  }

  @FieldResolver(() => Deposit, { description: 'The deposit it arrived with.' })
  deposit(@Root() transaction: Transaction, @Ctx() { records }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return records.graph.follow(links.Transaction.deposit, transaction, {}, lookAhead(info));
  }

  @FieldResolver(() => Donor, { nullable: true, description: `Who gave; null where nobody is known. ${NEEDS_REPORT}` })
  donor(@Root() transaction: Transaction, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo) {
    if (transaction.mainMemo === null) return refuse(context, info);
    return context.records.graph.follow(links.Transaction.donor, transaction, {}, lookAhead(info));
  }

  @FieldResolver(() => String, { nullable: true, description: `Main memo; may be empty. ${NEEDS_REPORT}` })
  mainMemo(@Root() { mainMemo }: Transaction, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return mainMemo ?? refuse(context, info);
  }

  @FieldResolver(() => AllocationConnection, { description: 'What it is split into, by ID.' })
  allocations(
    @Root() transaction: Transaction,
    @Args() page: ShortPageArgs,
    @Ctx() { records }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return records.graph.follow(links.Transaction.allocations, transaction, page, lookAhead(info));
  }
}

@Resolver(() => Allocation)
export class AllocationResolver {
  @FieldResolver(() => Transaction, { description: 'The transaction it is a share of.' })
  transaction(@Root() allocation: Allocation, @Ctx() { records }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return records.graph.follow(links.Allocation.transaction, allocation, {}, lookAhead(info));
  }

  @FieldResolver(() => Designation, { description: 'The fund it goes to.' })
  designation(@Root('designationId') id: Designation['id'], @Root('designationName') name: Designation['name']): Designation {
    return { id, name };
  }

  @FieldResolver(() => String, { nullable: true, description: `Memo; may be empty. ${NEEDS_REPORT}` })
  memo(@Root() { memo }: Allocation, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return memo ?? refuse(context, info);
  }
}

@Resolver(() => Designation)
export class DesignationResolver {
  @Query(() => Designation, { nullable: true, description: 'The designation of this ID; null where there is none.' })
  async designation(
    @Arg('id', () => GraphQLSafeInt, { description: 'ID of the designation.' }) id: number,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await memberRecords(context)).find('designation', id, lookAhead(info));
  }

  @Query(() => DesignationConnection, { description: 'Designations by ID.' })
  async designations(@Args() page: PageArgs, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): Promise<Page<Designation>> {
    return (await memberRecords(context)).designations(page, lookAhead(info));
  }

  @FieldResolver(() => AllocationConnection, { description: 'The shares that go to it, by ID.' })
  allocations(
    @Root() designation: Designation,
    @Args() page: PageArgs,
    @Ctx() { records }: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return records.graph.follow(links.Designation.allocations, designation, page, lookAhead(info));
  }
}

@Resolver(() => Donor)
export class DonorResolver {
  @Query(() => Donor, { nullable: true, description: 'The donor of this ID; null where there is none. Needs the privilege of the report.' })
  async donor(
    @Arg('id', () => GraphQLSafeInt, { description: 'ID of the donor.' }) id: number,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await donorRecords(context)).find('donor', id, lookAhead(info));
  }

  @Query(() => DonorConnection, { description: 'Donors by last name, first name and ID. Needs the privilege of the report.' })
  async donors(
    @Arg('search', () => String, { nullable: true, description: 'How the last name begins, or first and last name. Case does not count.' })
    search: string | null,
    @Args() page: PageArgs,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Page<Donor>> {
    return (await donorRecords(context)).donors(search, page, lookAhead(info));
  }

  @FieldResolver(() => TransactionConnection, { description: 'The transactions of the donor by date and ID.' })
  transactions(@Root() donor: Donor, @Args() page: PageArgs, @Ctx() { records }: RequestContext, @Info() info: GraphQLResolveInfo) {
    return records.graph.follow(links.Donor.transactions, donor, page, lookAhead(info));
  }
}
