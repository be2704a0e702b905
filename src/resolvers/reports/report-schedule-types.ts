import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, GraphQLISODateTime, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { MailRow, MailState } from '../../data/mail/mail-store';
import type { ScheduleRow } from '../../data/mail/schedule-store';
import type { ScheduleToSave } from '../../domain/mail/schedule-service';
import type { LocalDate } from '../../values/dates';
import type { MailFormat } from '../../values/mail-schedules';
import type { PeriodName } from '../../values/periods';
import { namedPeriodEnum } from '../request/period-types';
import { LocalDateScalar } from '../request/scalars';

const mailFormatEnum = { TOTALS: 'TOTALS', FILE: 'FILE', LINK: 'LINK' } as const satisfies { [Format in MailFormat]: Format };
registerEnumType(mailFormatEnum, {
  name: 'MailFormat',
  description: 'Form of a mailed report. Every form has the totals and the data version in its text.',
  valuesConfig: {
    TOTALS: { description: 'The totals alone, and the page of the report.' },
    FILE: { description: 'The CSV file is attached. One that is too long is not: the text says so, and has the link.' },
    LINK: { description: 'A link to the page of the report, which asks for a login.' },
  },
});

const mailStateEnum = {
  ...{ PENDING: 'PENDING', SENT: 'SENT', FAILED: 'FAILED', REFUSED: 'REFUSED' },
} as const satisfies { [State in MailState]: State };
registerEnumType(mailStateEnum, {
  name: 'MailState',
  description: 'State of a mail.',
  valuesConfig: {
    PENDING: { description: 'It waits to be sent, or to be tried again.' },
    SENT: { description: 'The mail server has taken it.' },
    FAILED: { description: 'It was given up.' },
    REFUSED: { description: 'Nothing was sent, because the user may not have the report any more.' },
  },
});

const SCHEDULE = { description: 'ID of the schedule.' };
const CRON =
  'The times in the five fields of cron (minute, hour, day of the month, month, day of the week) by the clock of the organization, such as `"0 8 1 * *"`.';
const PERIOD = 'Period of each mail, counted from the day on which it is due. A recipient gets each period once.';
const FORMAT = 'Form of the mails.';

@ObjectType({ simpleResolvers: true, description: 'A schedule by which a saved report is mailed.' })
export class ReportSchedule implements Omit<ScheduleRow, 'organizationId' | 'organization'> {
  @Field(() => ID, SCHEDULE)
  id!: string;

  @Field(() => String, { description: 'Name of the saved report.' })
  report!: string;

  @Field(() => String, { description: CRON })
  cron!: string;

  @Field(() => namedPeriodEnum, { description: PERIOD })
  period!: PeriodName;

  @Field(() => mailFormatEnum, { description: FORMAT })
  format!: MailFormat;

  @Field(() => [String], { description: 'Usernames of the recipients.' })
  recipients!: readonly string[];

  @Field(() => GraphQLISODateTime, { description: 'The next time at which it is due, unless it is paused.' })
  nextAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time since which it is paused; null where it is not.' })
  pausedAt!: Date | null;

  @Field(() => String, { nullable: true, description: 'Reason why it is paused.' })
  pausedReason!: string | null;

  @Field(() => GraphQLISODateTime, { description: 'Time at which it was last saved.' })
  updatedAt!: Date;

  @Field(() => String, { nullable: true, description: 'User who saved it.' })
  updatedBy!: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'The schedules by which reports are mailed, and the users to whom they may go.' })
export class ReportMailing {
  @Field(() => Boolean, { description: 'True where the gateway has a mail server. Otherwise nothing is sent.' })
  isOn!: boolean;

  @Field(() => [String], {
    description: 'Usernames of those who may get mails: they hold the privilege of the report and have an address.',
  })
  recipients!: readonly string[];

  @Field(() => [ReportSchedule], { description: 'The schedules, by report, at most 200.' })
  schedules!: readonly ReportSchedule[];
}

@ObjectType({ simpleResolvers: true, description: 'A mail to one recipient, in the log of its schedule.' })
export class ReportMail implements MailRow {
  @Field(() => ID, { description: 'ID of the mail, which its header Message-ID begins with.' })
  id!: string;

  @Field(() => String, { description: 'Username of the recipient.' })
  recipient!: string;

  @Field(() => Boolean, { description: 'True for a mail that somebody asked for, beside the schedule.' })
  isRequested!: boolean;

  @Field(() => LocalDateScalar, { description: 'First date of its period.' })
  startDate!: LocalDate;

  @Field(() => LocalDateScalar, { description: 'Last date of its period.' })
  endDate!: LocalDate;

  @Field(() => GraphQLISODateTime, { description: 'Time at which it was due.' })
  dueAt!: Date;

  @Field(() => mailStateEnum, { description: 'State of the mail.' })
  state!: MailState;

  @Field(() => Int, { description: 'Number of the attempts so far.' })
  attempts!: number;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time of the next attempt; null where there is none.' })
  nextAttemptAt!: Date | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time at which the mail server took it; null before.' })
  sentAt!: Date | null;

  @Field(() => mailFormatEnum, {
    nullable: true,
    description: 'Form in which it left; null before. A file that is too long leaves as a link.',
  })
  sentAs!: MailFormat | null;

  @Field(() => String, { nullable: true, description: 'Reason why the newest attempt failed, or why nothing is sent.' })
  failure!: string | null;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'Number of the data version that it was of; null before it was sent.' })
  dataVersion!: number | null;
}

@InputType({ description: 'A schedule to save.' })
export class SaveReportScheduleInput implements ScheduleToSave {
  @Field(() => ID, { nullable: true, description: 'ID of the schedule that it takes the place of; null for a new one.' })
  id?: string | null;

  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description: 'The `updatedAt` of the schedule of this ID. One that was saved again since is not replaced.',
  })
  replaces?: Date | null;

  @Field(() => String, { description: 'Name of the saved report. Its query must have the variables `startDate` and `endDate`.' })
  report!: string;

  @Field(() => String, { description: CRON })
  cron!: string;

  @Field(() => namedPeriodEnum, { description: PERIOD })
  period!: PeriodName;

  @Field(() => mailFormatEnum, { description: FORMAT })
  format!: MailFormat;

  @Field(() => [String], { description: 'Usernames of the recipients, from 1 to 50.' })
  recipients!: string[];
}

@InputType({ description: 'A schedule to pause, or to let go on.' })
export class PauseReportScheduleInput {
  @Field(() => ID, SCHEDULE)
  id!: string;

  @Field(() => Boolean, { description: 'True pauses it, false lets it go on.' })
  paused!: boolean;
}

@InputType({ description: 'A schedule whose report is mailed now.' })
export class SendReportNowInput {
  @Field(() => ID, SCHEDULE)
  id!: string;
}

@InputType({ description: 'A schedule to delete.' })
export class DeleteReportScheduleInput {
  @Field(() => ID, SCHEDULE)
  id!: string;
}

@ObjectType({ simpleResolvers: true, description: 'The change of a schedule.' })
export class ReportSchedulePayload {
  @Field(() => ReportSchedule, { description: 'The schedule as it is now; as it was, where it was deleted.' })
  schedule!: ReportSchedule;
}
