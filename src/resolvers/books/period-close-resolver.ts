import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { BookService } from '../../domain/books/book-service';
import type { Closer, PeriodService } from '../../domain/reports/period-service';
import type { SystemAccess } from '../../domain/access/request-caller';
import type { Page } from '../../domain/paging/keyset-page';
import type { LocalDate } from '../../values/dates';
import { AsOfInput, toAsOf } from '../request/as-of-types';
import { PageArgs } from '../request/connection-types';
import { NEEDS_REPORT, refuse, toChanger, type RequestContext } from '../request/request-context';
import { LocalDateScalar } from '../request/scalars';
import {
  ClosedMonth,
  ClosePeriodInput,
  ClosePeriodPayload,
  PeriodClose,
  PeriodCloseConnection,
  ReopenPeriodInput,
  ReopenPeriodPayload,
} from './period-close-types';

const NEEDS_CLOSING = 'Needs a logged-in user or an API provision with the privilege `close_periods`.';

@Resolver(() => PeriodClose)
export class PeriodCloseResolver {
  constructor(
    private readonly service: PeriodService,
    private readonly books: BookService,
  ) {}

  @Query(() => LocalDateScalar, {
    nullable: true,
    description:
      'Last deposit date that is closed; null where none is. The money of lines up to it changes only by late changes, which an operator lets in. Files tell it in the header `X-Closed-Through`. For every logged-in user and every API provision.',
  })
  async closedThrough(
    @Arg('asOf', () => AsOfInput, {
      nullable: true,
      description: 'State of the books whose closes are meant; without it the newest one.',
    })
    asOf: AsOfInput | null,
    @Ctx() { access, books }: RequestContext,
  ): Promise<LocalDate | null> {
    const { organization } = await access.authorizeMember();
    const given = toAsOf(asOf);
    const state = given && (await this.books.findState(organization.id, given, books, { name: 'asOf', argument: 'asOf' }));
    return this.service.closedThrough(organization.id, state, books);
  }

  @Query(() => PeriodCloseConnection, {
    description:
      "The closes of the organization's months, the newest first, those that were reopened too. For every logged-in user and every API provision.",
  })
  async periodCloses(@Args() page: PageArgs, @Ctx() { access, books }: RequestContext): Promise<Page<PeriodClose>> {
    const { organization } = await access.authorizeMember();
    return this.service.closes(organization.id, page, books);
  }

  @FieldResolver(() => String, { nullable: true, description: `Note that was kept with the close. ${NEEDS_REPORT}` })
  note(@Root() { note }: PeriodClose, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.openDonorData() ? note : refuse(context, info);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: `Reason of the reopening; null while the close is in force. ${NEEDS_REPORT}`,
  })
  reopenReason(@Root() { reopenReason }: PeriodClose, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.openDonorData() ? reopenReason : refuse(context, info);
  }

  @Mutation(() => ClosePeriodPayload, {
    description: `Closes all months up to a date, and keeps their figures. From then on an import that would change their money is refused, unless it is told to accept late changes. Fails with PERIOD_CLOSED for a date that is closed already, and with BOOKS_CHANGING while imports run. ${NEEDS_CLOSING}`,
  })
  async closePeriod(
    @Arg('input', () => ClosePeriodInput, { description: 'The months to close.' }) { through, note }: ClosePeriodInput,
    @Ctx() context: RequestContext,
  ): Promise<ClosePeriodPayload> {
    const { organization } = await authorizeClosing(context);
    return { close: await this.service.close(organization, through, note ?? undefined, await toCloser(context)) };
  }

  @Mutation(() => ReopenPeriodPayload, {
    description: `Reopens the close of a date and every later one; their rows and figures stay. Fails with INVALID_PARAMETERS when no close of that date is in force, and with BOOKS_CHANGING while an import runs. ${NEEDS_CLOSING}`,
  })
  async reopenPeriod(
    @Arg('input', () => ReopenPeriodInput, { description: 'The close to reopen.' }) { through, reason }: ReopenPeriodInput,
    @Ctx() context: RequestContext,
  ): Promise<ReopenPeriodPayload> {
    const { organization } = await authorizeClosing(context);
    return this.service.reopen(organization.id, through, reason, await toCloser(context));
  }
}

@Resolver(() => ClosedMonth)
export class ClosedMonthResolver {
  @FieldResolver(() => String, {
    nullable: true,
    description: `SHA-256, in hex, of the lines as a summary has it. ${NEEDS_REPORT}`,
  })
  digest(@Root() { digest }: ClosedMonth, @Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): string | null {
    return context.access.openDonorData() ? digest : refuse(context, info);
  }
}

async function authorizeClosing({ access }: RequestContext): Promise<SystemAccess> {
  const granted = await access.authorizeClosing();
  // The fields of a close need to know what the member may read.
  await access.authorizeMember();
  return granted;
}

async function toCloser(context: RequestContext): Promise<Closer> {
  const { name, user } = await toChanger(context);
  const { access, books } = context;
  return { name, request: { user, reader: books.reader, recheck: () => access.recheck() } };
}
