import { useCallback, useEffect, useRef, useState } from 'react';
import { Button, DialogTrigger } from 'react-aria-components';
import { fromPeriodEnum } from '../../../values/periods';
import { MAX_SHOWN_MAILS } from '../../../values/saved-report-limits';
import { GatewayError } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import { presets } from '../values/periods';
import { DeleteQuestion } from './delete-question';
import { ModalDialog } from './modal-dialog';
import { ScrolledRows } from './scrolled-rows';
import type { SavedReport } from './saved-reports';
import { ScheduleForm } from './schedule-form';
import {
  dayChoices,
  deleteSchedule,
  fetchMailing,
  fetchMails,
  formatTitles,
  pauseSchedule,
  readTimes,
  saveSchedule,
  sendNow,
  stateTitles,
  type Mail,
  type Mailing,
  type Schedule,
} from './schedules';

interface ScheduleProps {
  readonly provision: string;
  readonly report: SavedReport;
  readonly timeZone: string;
}

/** A button, and the dialog in which a saved report gets schedules by which it is mailed. */
export function ScheduleDialog(props: ScheduleProps) {
  return (
    <DialogTrigger>
      <Button aria-label={`Send on a schedule: ${props.report.name}`}>Send on a schedule…</Button>
      <ModalDialog title={`Send “${props.report.title}” on a schedule`} isWide>
        {(close) => <Schedules {...props} onDone={close} />}
      </ModalDialog>
    </DialogTrigger>
  );
}

interface Outcome {
  readonly text: string;
  readonly isFault: boolean;
}

const toFault = (error: unknown): Outcome => {
  const isConflict = error instanceof GatewayError && error.code === 'SCHEDULE_CONFLICT';
  return { text: (error as Error).message + (isConflict ? '. Cancel, and change it as it is now.' : ''), isFault: true };
};

function Schedules({ provision, report, timeZone, onDone }: ScheduleProps & { readonly onDone: () => void }) {
  const [mailing, setMailing] = useState<Mailing>();
  /** The schedule in the form; `new` for one that is not there yet. */
  const [edited, setEdited] = useState<Schedule | 'new'>();
  const [doomed, setDoomed] = useState<Schedule>();
  const [log, setLog] = useState<{ readonly of: string; readonly mails: readonly Mail[] }>();
  const [outcome, setOutcome] = useState<Outcome>({ text: '', isFault: false });
  const [isBusy, setIsBusy] = useState(false);
  const { format } = createCellFormat(navigator.languages);
  const instant = (time: string): string => format(time, 'instant', timeZone);
  const section = useRef<HTMLElement>(null);
  /** Takes the focus from a button that goes. */
  const focus = (): void => section.current?.focus();
  const read = useCallback(async () => setMailing(await fetchMailing(provision)), [provision]);
  /** Does some work, reads the schedules again, and shows the text or the fault. */
  const run = useCallback(
    async (text: string, work: () => Promise<unknown>): Promise<void> => {
      setIsBusy(true);
      try {
        await work();
        await read();
        setOutcome({ text, isFault: false });
      } catch (error) {
        setOutcome(toFault(error));
        // A colleague may have changed the schedules meanwhile.
        await read().catch(() => undefined);
      }
      setIsBusy(false);
    },
    [read],
  );
  useEffect(() => void run('', () => Promise.resolve()), [run]);
  const schedules = mailing?.schedules.filter((schedule) => schedule.report === report.name) ?? [];
  const showLog = (schedule: Schedule) => async (): Promise<void> =>
    setLog({ of: schedule.id, mails: await fetchMails(provision, schedule) });
  const describe = ({ cron, period, format: form }: Schedule): string => {
    const { days, time } = readTimes(cron);
    const when = days === undefined ? cron : `${dayChoices[days as keyof typeof dayChoices]} at ${time}`;
    return `${when}: ${presets[fromPeriodEnum(period)!].title}. ${formatTitles[form]}.`;
  };
  const button = (schedule: Schedule, title: string, onPress: () => void, className?: string) => (
    <Button {...{ className, onPress }} aria-label={`${title}: ${describe(schedule)}`} isPending={isBusy}>
      {title}
    </Button>
  );
  const leaveForm = (): void => {
    focus();
    setEdited(undefined);
  };
  const remove = (schedule: Schedule): void => {
    setDoomed(undefined);
    void run('Deleted.', async () => {
      await deleteSchedule(provision, schedule);
      if (edited !== 'new' && edited?.id === schedule.id) setEdited(undefined);
      focus();
    });
  };
  return (
    <section ref={section} aria-label="Schedules" tabIndex={-1}>
      {mailing?.schedules && schedules.length === 0 && !edited && <p>It is not sent yet.</p>}
      <ul className="schedules">
        {schedules.map((schedule) => (
          <li key={schedule.id}>
            <strong>{describe(schedule)}</strong>
            <span>To {schedule.recipients.join(', ') || 'nobody'}.</span>
            {schedule.pausedAt === null ? (
              <span>Next on {instant(schedule.nextAt)}.</span>
            ) : (
              <span className="problem">
                Paused on {instant(schedule.pausedAt)}: {schedule.pausedReason}.
              </span>
            )}
            <div className="dialog-buttons">
              {button(schedule, 'Send now', () => void run('It is on its way to all recipients.', () => sendNow(provision, schedule)))}
              {button(schedule, 'Log', () => void run('', showLog(schedule)))}
              {button(schedule, 'Change', () => setEdited(schedule))}
              {schedule.pausedAt === null
                ? button(schedule, 'Pause', () => void run('Paused.', () => pauseSchedule(provision, schedule)))
                : button(schedule, 'Resume', () => void run('It goes on.', () => pauseSchedule(provision, schedule)))}
              {button(schedule, 'Delete', () => setDoomed(schedule), 'delete-button')}
            </div>
            {log?.of === schedule.id && <MailLog mails={log.mails} toText={instant} />}
          </li>
        ))}
      </ul>
      {mailing && edited && (
        <ScheduleForm
          key={edited === 'new' ? edited : edited.id}
          {...{ report, isBusy }}
          schedule={edited === 'new' ? undefined : edited}
          recipients={mailing.recipients}
          onCancel={leaveForm}
          onSave={(schedule) =>
            void run('Saved.', async () => {
              await saveSchedule(provision, schedule);
              leaveForm();
            })
          }
        />
      )}
      <p role={outcome.isFault ? 'alert' : 'status'}>{isBusy ? 'One moment…' : outcome.text}</p>
      {!edited && (
        <div className="dialog-buttons">
          <Button className="main-button" isDisabled={!mailing} onPress={() => setEdited('new')}>
            New schedule
          </Button>
          <Button onPress={onDone}>Done</Button>
        </div>
      )}
      <DeleteQuestion
        title="Delete the schedule?"
        isOpen={doomed !== undefined}
        onKeep={() => setDoomed(undefined)}
        onDelete={() => doomed && remove(doomed)}
      >
        {doomed && describe(doomed)} Nothing of it is mailed any more, and its log is deleted.
      </DeleteQuestion>
    </section>
  );
}

interface MailLogProps {
  readonly mails: readonly Mail[];
  readonly toText: (time: string) => string;
}

function MailLog({ mails, toText }: MailLogProps) {
  if (mails.length === 0) return <p>Nothing was due yet.</p>;
  return (
    <>
      <ScrolledRows label="Log" hasFields={false}>
        <table aria-label="Log">
          <thead>
            <tr>
              {['Due', 'By', 'Period', 'To', 'State', 'Version'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {mails.map(({ id, dueAt, isRequested, startDate, endDate, recipient, state, nextAttemptAt, sentAs, failure, dataVersion }) => (
              <tr key={id}>
                <td>{toText(dueAt)}</td>
                <td>{isRequested ? 'Send now' : 'Schedule'}</td>
                <td>
                  {startDate} to {endDate}
                </td>
                <td>{recipient}</td>
                <td>
                  {stateTitles[state]}
                  {sentAs === 'LINK' && ' as a link'}
                  {nextAttemptAt !== null && ` until ${toText(nextAttemptAt)}`}
                  {failure !== null && `: ${failure}`}
                </td>
                <td>{dataVersion}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrolledRows>
      {mails.length === MAX_SHOWN_MAILS && <p>These are the newest {MAX_SHOWN_MAILS} mails. Earlier ones are not shown.</p>}
    </>
  );
}
