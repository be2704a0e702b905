import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Mutation, Query, Resolver } from 'type-graphql';
import type { ChangingUser } from '../../domain/audit/rights-audit';
import type { ScheduleService } from '../../domain/mail/schedule-service';
import { AppError } from '../../errors';
import { MAX_SHOWN_MAILS } from '../../values/saved-report-limits';
import { REPORT_PRIVILEGE } from '../../values/privileges';
import { toUser, type RequestContext } from '../request/request-context';
import { SchemaReportDocuments } from './report-documents';
import {
  DeleteReportScheduleInput,
  PauseReportScheduleInput,
  ReportMail,
  ReportMailing,
  ReportSchedulePayload,
  SaveReportScheduleInput,
  SendReportNowInput,
} from './report-schedule-types';

const FOR_READERS = 'Needs the privilege of the report.';
const FOR_USERS = 'Needs a logged-in user with the privilege of the report.';
const SCHEDULE = { description: 'The schedule.' };

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
  async reportMails(
    @Arg('id', () => ID, { description: 'ID of the schedule.' }) id: string,
    @Ctx() context: RequestContext,
  ): Promise<ReportMail[]> {
    return this.service.listMails(await authorizeReader(context), id, MAX_SHOWN_MAILS);
  }

  @Mutation(() => ReportSchedulePayload, {
    description: `Saves a schedule by which a saved report is mailed. One that is paused stays so. Fails with SCHEDULE_CONFLICT, which says who saved the schedule and when, unless \`replaces\` is the time at which it was last saved. ${FOR_USERS}`,
  })
  async saveReportSchedule(
    @Arg('input', () => SaveReportScheduleInput, SCHEDULE) input: SaveReportScheduleInput,
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
    @Arg('input', () => PauseReportScheduleInput, SCHEDULE) { id, paused }: PauseReportScheduleInput,
    @Ctx() context: RequestContext,
  ): Promise<ReportSchedulePayload> {
    return this.change(context, (organizationId, user) => this.service[paused ? 'pause' : 'resume'](organizationId, id, user));
  }

  @Mutation(() => ReportSchedulePayload, {
    description: `Mails the report of a schedule to its recipients at once, for the period of now, except to those for whom a mail that was asked for is not sent yet. ${FOR_USERS}`,
  })
  async sendReportNow(
    @Arg('input', () => SendReportNowInput, SCHEDULE) { id }: SendReportNowInput,
    @Ctx() context: RequestContext,
  ): Promise<ReportSchedulePayload> {
    return this.change(context, (organizationId, user) => this.service.sendNow(organizationId, id, user));
  }

  @Mutation(() => ReportSchedulePayload, { description: `Deletes a schedule with its log. ${FOR_USERS}` })
  async deleteReportSchedule(
    @Arg('input', () => DeleteReportScheduleInput, SCHEDULE) { id }: DeleteReportScheduleInput,
    @Ctx() context: RequestContext,
  ): Promise<ReportSchedulePayload> {
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
