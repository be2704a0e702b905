import { useState, type SubmitEvent } from 'react';
import { Button } from 'react-aria-components';
import { fromPeriodEnum, periodNames, toPeriodEnum, type PeriodName } from '../../../values/periods';
import type { MailFormat, NamedPeriod } from '../../../generated/operations/graphql';
import { presets } from '../values/periods';
import type { SavedReport } from './saved-reports';
import { dayChoices, formatTitles, readTimes, toCron, type NewSchedule, type Schedule } from './schedules';

interface ScheduleFormProps {
  readonly report: SavedReport;
  /** The schedule that is changed; undefined for a new one. */
  readonly schedule: Schedule | undefined;
  /** The users to whom mails may go. */
  readonly recipients: readonly string[];
  readonly isBusy: boolean;
  readonly onSave: (schedule: NewSchedule) => void;
  readonly onCancel: () => void;
}

const CRON = 'cron';
const periods: readonly PeriodName[] = periodNames.filter((name) => name !== 'all-time');

/** The times, the period, the form and the recipients of a schedule. */
export function ScheduleForm({ report, schedule, recipients, isBusy, onSave, onCancel }: ScheduleFormProps) {
  const begun = readTimes(schedule?.cron ?? '0 8 1 * *');
  const [days, setDays] = useState(begun.days ?? CRON);
  const [time, setTime] = useState(begun.time);
  const [cron, setCron] = useState(schedule?.cron ?? '0 8 1 * *');
  const [period, setPeriod] = useState(periods.find((name) => name === fromPeriodEnum(schedule?.period ?? report.period)) ?? 'last-month');
  const [format, setFormat] = useState<MailFormat>(schedule?.format ?? 'FILE');
  const [chosen, setChosen] = useState<readonly string[]>(schedule?.recipients ?? []);
  // Whoever has lost the right is named, so that somebody takes the name out.
  const listed = [...new Set([...recipients, ...chosen])].sort();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onSave({
      ...{
        id: schedule?.id ?? null,
        replaces: schedule?.updatedAt ?? null,
        report: report.name,
        cron: days === CRON ? cron.trim() : toCron(days, time),
      },
      ...{ period: toPeriodEnum(period) as NamedPeriod, format, recipients: [...chosen] },
    });
  };
  return (
    <form onSubmit={submit} aria-label={schedule ? 'Change the schedule' : 'New schedule'}>
      <div className="journal-choices">
        <label>
          When
          <select value={days} autoFocus onChange={({ target }) => setDays(target.value)}>
            {Object.entries({ ...dayChoices, [CRON]: 'Other times (cron)' }).map(([key, title]) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {days === CRON ? (
          <label>
            Minute, hour, day, month, weekday
            <input value={cron} required maxLength={100} autoComplete="off" onChange={({ target }) => setCron(target.value)} />
          </label>
        ) : (
          <label>
            At
            <input type="time" value={time} required onChange={({ target }) => setTime(target.value)} />
          </label>
        )}
        <label>
          Period
          <select value={period} onChange={({ target }) => setPeriod(target.value as PeriodName)}>
            {periods.map((name) => (
              <option key={name} value={name}>
                {presets[name].title}
              </option>
            ))}
          </select>
        </label>
        <label>
          Contents
          <select value={format} onChange={({ target }) => setFormat(target.value as MailFormat)}>
            {Object.entries(formatTitles).map(([key, title]) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <fieldset className="schedule-recipients">
        <legend>Recipients</legend>
        {listed.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ target }) => setChosen(target.checked ? [...chosen, name] : chosen.filter((each) => each !== name))}
            />
            {name}
            {!recipients.includes(name) && ' (may not get it)'}
          </label>
        ))}
        {listed.length === 0 && <p>Nobody has an address yet. An operator gives them to users who may read reports.</p>}
      </fieldset>
      <p>Times are those of your organization. A recipient gets each period once.</p>
      <div className="dialog-buttons">
        <Button type="submit" className="main-button" isPending={isBusy} isDisabled={chosen.length === 0}>
          Save schedule
        </Button>
        <Button onPress={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
