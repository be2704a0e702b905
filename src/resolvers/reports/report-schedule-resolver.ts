import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Mutation, Query, Resolver } from 'type-graphql';
import type { ChangingUser } from '../../domain/audit/rights-audit';
import type { ScheduleService } from '../../domain/mail/schedule-service';
import { AppError } from '../../errors';
import { REPORT_PRIVILEGE } from '../../values/privileges';
import type { RequestContext } from '../request/request-context';
import { SchemaReportDocuments } from './report-documents';
import { ReportMail, ReportMailing, ReportSchedulePayload, SaveReportScheduleInput } from './report-schedule-types';

/** The mails of a schedule that its log shows. */
export const MAX_SHOWN_MAILS = 200;

const FOR_READERS = 'Needs the privilege of the report.';
const FOR_USERS = 'Needs a logged-in user with the privilege of the report.';
const SCHEDULE = { description: 'ID of the schedule.' };

@Resolver()
export class ReportScheduleResolver {
  constructor(private readonly service: ScheduleService) {}

  @Query(() => ReportMailing, { description: `The schedules by which saved reports are mailed. ${FOR_READERS}` })
  async reportMailing(@Ctx() context: RequestContext): Promise<ReportMailing> {
    const organizationId = await authorizeReader(context);
    const { isOn } = this.service;
    const [recipients, schedules] = await Promise.all([this.service.listRecipients(organizationId), this.service.list(organizationId)]);
    return { isOn, recipients, schedules };
  }

  @Query(() => [ReportMail], {
    description: `The newest mails of a schedule, the newest first, at most ${MAX_SHOWN_MAILS}; NOT_FOUND when the organization has no such schedule. ${FOR_READERS}`,
  })
  async reportMails(@Arg('schedule', () => ID, SCHEDULE) schedule: string, @Ctx() context: RequestContext): Promise<ReportMail[]> {
    return this.service.listMails(await authorizeReader(context), schedule, MAX_SHOWN_MAILS);
  }

  @Mutation(() => ReportSchedulePayload, {
    description: `Saves a schedule by which a saved report is mailed. One that was paused goes on. ${FOR_USERS}`,
  })
  async saveReportSchedule(
    @Arg('input', () => SaveReportScheduleInput, { description: 'The schedule.' }) input: SaveReportScheduleInput,
    @Ctx() context: RequestContext,
    @Info() { schema }: GraphQLResolveInfo,
  ): Promise<ReportSchedulePayload> {
    const { organization } = await context.access.authorizeSession(REPORT_PRIVILEGE);
    return { schedule: await this.service.save(organization, input, new SchemaReportDocuments(schema), await toUser(context)) };
  }

  @Mutation(() => ReportSchedulePayload, {
    description: `Pauses a schedule, or lets it go on with its next time. Times between are left out. ${FOR_USERS}`,
  })
  async pauseReportSchedule(
    @Arg('id', () => ID, SCHEDULE) id: string,
    @Arg('paused', () => Boolean, { description: 'True pauses it, false lets it go on.' }) paused: boolean,
    @Ctx() context: RequestContext,
  ): Promise<ReportSchedulePayload> {
    return this.change(context, (organizationId, user) => this.service[paused ? 'pause' : 'resume'](organizationId, id, user));
  }

  @Mutation(() => ReportSchedulePayload, {
    description: `Mails the report of a schedule to all of its recipients at once, for the period of now. ${FOR_USERS}`,
  })
  async sendReportNow(@Arg('id', () => ID, SCHEDULE) id: string, @Ctx() context: RequestContext): Promise<ReportSchedulePayload> {
    return this.change(context, (organizationId, user) => this.service.sendNow(organizationId, id, user));
  }

  @Mutation(() => ReportSchedulePayload, { description: `Deletes a schedule with its log. ${FOR_USERS}` })
  async deleteReportSchedule(@Arg('id', () => ID, SCHEDULE) id: string, @Ctx() context: RequestContext): Promise<ReportSchedulePayload> {
    return this.change(context, (organizationId, user) => this.service.delete(organizationId, id, user));
  }

  private async change(
    context: RequestContext,
    work: (organizationId: number, user: ChangingUser) => Promise<ReportSchedulePayload['schedule']>,
  ): Promise<ReportSchedulePayload> {
    const { organization } = await context.access.authorizeSession(REPORT_PRIVILEGE);
    return { schedule: await work(organization.id, await toUser(context)) };
  }
}

/** A schedule is no personal data, so that its reading is not audited. */
async function authorizeReader({ access }: RequestContext): Promise<number> {
  const { organization, mayReadDonors } = await access.authorizeMember();
  if (!mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
  return organization.id;
}

const toUser = async ({ access, address }: RequestContext): Promise<ChangingUser> => ({ caller: await access.caller.forAudit(), address });
