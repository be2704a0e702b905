import type {
  MailFormat,
  MailState,
  ReportMailingQuery,
  ReportMailsQuery,
  SaveReportScheduleInput,
} from '../../../generated/operations/graphql';
import { askGateway } from '../session/gateway-client';
import deleteMutation from '../queries/delete-report-schedule.graphql?raw';
import mailingQuery from '../queries/report-mailing.graphql?raw';
import mailsQuery from '../queries/report-mails.graphql?raw';
import pauseMutation from '../queries/pause-report-schedule.graphql?raw';
import saveMutation from '../queries/save-report-schedule.graphql?raw';
import sendMutation from '../queries/send-report-now.graphql?raw';

export type Mailing = NonNullable<ReportMailingQuery['reportMailing']>;
export type Schedule = Mailing['schedules'][number];
export type Mail = NonNullable<ReportMailsQuery['reportMails']>[number];
export type NewSchedule = SaveReportScheduleInput;

export const formatTitles: Readonly<Record<MailFormat, string>> = {
  FILE: 'Totals, and the file attached',
  TOTALS: 'Totals alone',
  LINK: 'Totals, and a link to the report',
};

export const stateTitles: Readonly<Record<MailState, string>> = {
  PENDING: 'waits',
  SENT: 'sent',
  FAILED: 'given up',
  REFUSED: 'not sent',
};

/** The days on which a schedule may be due, in words, and as the last three fields of cron. */
export const dayChoices = {
  '* * *': 'Each day',
  '* * 1-5': 'Monday to Friday',
  '* * 1': 'Each Monday',
  '1 * *': 'The first of each month',
  '1 1,4,7,10 *': 'The first of each quarter',
} as const satisfies Readonly<Record<string, string>>;

export interface Times {
  /** A key of `dayChoices`; undefined for times that only cron can tell. */
  readonly days: string | undefined;
  /** Such as `08:00`. */
  readonly time: string;
}

/** The days and the time of a cron expression. */
export function readTimes(cron: string): Times {
  const [, minute = '0', hour = '8', days = ''] = /^(\d{1,2}) (\d{1,2}) (.*)$/.exec(cron) ?? [];
  return { days: days in dayChoices ? days : undefined, time: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` };
}

export const toCron = (days: string, time: string): string => `${Number(time.slice(3))} ${Number(time.slice(0, 2))} ${days}`;

/** Each of these throws an Error whose message the page shows. */
export async function fetchMailing(provision: string): Promise<Mailing> {
  const { reportMailing } = await askGateway<ReportMailingQuery>(provision, { query: mailingQuery });
  return reportMailing ?? { isOn: false, recipients: [], schedules: [] };
}

export async function fetchMails(provision: string, { id }: Schedule): Promise<readonly Mail[]> {
  return (await askGateway<ReportMailsQuery>(provision, { query: mailsQuery, variables: { id } })).reportMails ?? [];
}

export async function saveSchedule(provision: string, input: NewSchedule): Promise<void> {
  await askGateway(provision, { query: saveMutation, variables: { input } });
}

export async function pauseSchedule(provision: string, { id, pausedAt }: Schedule): Promise<void> {
  await askGateway(provision, { query: pauseMutation, variables: { input: { id, paused: pausedAt === null } } });
}

export async function sendNow(provision: string, { id }: Schedule): Promise<void> {
  await askGateway(provision, { query: sendMutation, variables: { input: { id } } });
}

export async function deleteSchedule(provision: string, { id }: Schedule): Promise<void> {
  await askGateway(provision, { query: deleteMutation, variables: { input: { id } } });
}
