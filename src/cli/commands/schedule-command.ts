import { Command } from 'commander';
import type { ScheduleRow } from '../../data/mail/schedule-store';
import type { Services } from '../../services';
import { withServices, type CommandContext } from '../command';
import { formatTable, printResult, readCount, toPrintable } from '../terminal';

const SCHEDULE = ['<schedule>', 'id of the schedule, as `schedule list` names it'] as const;
const LISTED = 50;

const time = (date: Date | null): string => date?.toISOString().replace(/\.\d+Z$/, 'Z') ?? '';

/** A schedule in the form of JSON. */
const toResult = ({ organizationId: _number, ...schedule }: ScheduleRow) => schedule;

/** `schedule list | log | pause | resume | send | delete`: manages the schedules that users save on the page. */
export function scheduleCommand(context: () => CommandContext): Command {
  const command = new Command('schedule');
  command
    .command('list')
    .description('lists the schedules, when each is due next, and why it is paused')
    .option('--organization <name>', 'name of the organization; all of them when it is missing')
    .action(async ({ organization }: { organization?: string }) => {
      const { terminal, json } = context();
      const list = await withServices(context(), async ({ schedules, organizations }) =>
        schedules.list(organization === undefined ? null : (await organizations.get(organization)).id),
      );
      const rows = list.map(({ id, organization: of, report, cron, period, format, recipients, nextAt, pausedAt, pausedReason }) => [
        ...[id, of, report, cron, period, format, recipients.map(toPrintable).join(' '), pausedAt ? '' : time(nextAt), pausedReason ?? ''],
      ]);
      const header = ['SCHEDULE', 'ORGANIZATION', 'REPORT', 'CRON', 'PERIOD', 'FORMAT', 'RECIPIENTS', 'NEXT', 'PAUSED BECAUSE'];
      printResult(terminal, json, list.map(toResult), formatTable(header, rows));
    });
  command
    .command('log')
    .description('lists the newest mails of a schedule, the newest first')
    .argument(...SCHEDULE)
    .option('--last <count>', 'number of mails', readCount, LISTED)
    .action(async (id: string, { last }: { last: number }) => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ schedules }) => schedules.listMails(null, id, last));
      const rows = list.map(({ dueAt, recipient, startDate, endDate, state, attempts, nextAttemptAt, sentAs, dataVersion, failure }) => [
        ...[
          time(dueAt),
          toPrintable(recipient),
          `${startDate} to ${endDate}`,
          state,
          sentAs ?? '',
          dataVersion === null ? '' : String(dataVersion),
        ],
        ...[String(attempts), time(nextAttemptAt), failure ?? ''],
      ]);
      const header = ['DUE', 'RECIPIENT', 'PERIOD', 'STATE', 'FORM', 'VERSION', 'ATTEMPTS', 'NEXT ATTEMPT', 'REASON'];
      printResult(terminal, json, list, formatTable(header, rows));
    });
  const changes = {
    pause: ['pauses a schedule', 'is paused'],
    resume: ['lets a paused schedule go on with its next time', 'goes on'],
    sendNow: [
      'sends the period of now to all recipients, also where it was sent already',
      'is sent by a gateway that serves this database',
    ],
    delete: ['deletes a schedule with its log', 'is deleted'],
  } as const satisfies Partial<Record<keyof Services['schedules'], readonly [description: string, done: string]>>;
  for (const [method, [description, done]] of Object.entries(changes) as [keyof typeof changes, (typeof changes)[keyof typeof changes]][]) {
    command
      .command(method === 'sendNow' ? 'send' : method)
      .description(description)
      .argument(...SCHEDULE)
      .action(async (id: string) => {
        const { terminal, json } = context();
        const schedule = await withServices(context(), ({ schedules }) => schedules[method](null, id));
        printResult(terminal, json, toResult(schedule), `Schedule ${id} of ${schedule.report} ${done}`);
      });
  }
  return command;
}
