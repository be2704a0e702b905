import { useRef, useState, type FocusEvent, type KeyboardEvent } from 'react';
import { parseDate } from '@internationalized/date';
import {
  Button,
  CalendarCell,
  CalendarGrid,
  DateInput,
  DateRangePicker,
  DateSegment,
  Dialog,
  FieldError,
  Group,
  Heading,
  Label,
  Popover,
  RangeCalendar,
  Text,
  type DateRange,
} from 'react-aria-components';
import { isPeriodName, toPeriodDates, type PeriodName, type Today } from '../../../values/periods';
import { useFieldFocus } from '../look/field-focus';
import { ChoiceField } from './choice-field';
import { FIRST_DAY, findPeriod, presets, type Period } from '../values/periods';

interface PeriodPickerProps {
  /** The name of a preset, or two dates. */
  readonly period: string;
  readonly now: Today;
  readonly onChange: (period: string) => void;
}

const CUSTOM = 'custom';
const titles = {
  ...Object.fromEntries(Object.entries(presets).map(([name, { title }]) => [name, title])),
  [CUSTOM]: 'Other dates',
} as Readonly<Record<PeriodName | typeof CUSTOM, string>>;

/** Chooses a period by its name, or by two dates that can be typed or taken from a calendar. */
export function PeriodPicker({ period, now, onChange }: PeriodPickerProps) {
  const { startDate, endDate } = findPeriod(period, now) ?? {};
  const { part, focusField } = useFieldFocus<HTMLDivElement>();
  const setName = (name: PeriodName | typeof CUSTOM): void => {
    const month = toPeriodDates('month-to-date', now);
    onChange(name === CUSTOM ? toText(startDate ?? month.startDate, endDate ?? month.endDate) : name);
    if (name === CUSTOM) focusField();
  };
  return (
    <div ref={part} className="period">
      <ChoiceField label="Period" choices={titles} value={isPeriodName(period) ? period : CUSTOM} onChange={setName} />
      <DatesField label="Dates" startDate={startDate} endDate={endDate} onChange={(dates) => onChange(dates)} />
    </div>
  );
}

const toText = (start: string, end: string): string => `${start}..${end}`;

interface DatesFieldProps extends Period {
  readonly label: string;
  readonly onChange: (dates: string) => void;
}

const firstDay = parseDate(FIRST_DAY);

const BACKWARDS = 'The first date comes after the last one.';
const TOO_EARLY = 'Write a year of four digits, from 1900 on.';

/** Asks for two dates. They count when both are there: at Enter, on leaving the field, or with the calendar. */
export function DatesField({ label, startDate, endDate, onChange }: DatesFieldProps) {
  const before: DateRange | null = startDate && endDate ? { start: parseDate(startDate), end: parseDate(endDate) } : null;
  const [typed, setTyped] = useState({ startDate, endDate, range: before });
  // Dates that were typed give way to another period, and the field keeps the focus.
  const isCurrent = typed.startDate === startDate && typed.endDate === endDate;
  const range = isCurrent ? typed.range : before;
  /** The calendar gives its dates and closes in one event, between two renders. */
  const latest = useRef(range);
  latest.current = range;
  const setRange = (next: DateRange | null): void => {
    latest.current = next;
    setTyped({ startDate, endDate, range: next });
  };
  /** The dates that the report is not of yet; undefined for none, and for ones that cannot be taken. */
  const toNext = (dates: DateRange | null): string | undefined => {
    if (dates === null || dates.start.compare(dates.end) > 0 || dates.start.compare(firstDay) < 0) return undefined;
    const text = toText(dates.start.toString(), dates.end.toString());
    return before && text === toText(before.start.toString(), before.end.toString()) ? undefined : text;
  };
  const commit = (): void => {
    const next = toNext(latest.current);
    if (next !== undefined) onChange(next);
  };
  const leave = (event: FocusEvent): void => {
    if (!event.currentTarget.contains(event.relatedTarget)) commit();
  };
  const type = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') commit();
  };
  return (
    <div onBlur={leave} onKeyUp={type}>
      <DateRangePicker
        className="date-range"
        value={range}
        onChange={setRange}
        minValue={firstDay}
        // Otherwise dates that cannot be taken are told of only when the field is left, and Enter seems to do nothing.
        validationBehavior="aria"
        onOpenChange={(isOpen) => isOpen || commit()}
        shouldForceLeadingZeros
        firstDayOfWeek="mon"
      >
        <div className="date-head">
          <Label>{label}</Label>
          {toNext(range) !== undefined && <Text slot="description">Press Enter to see these</Text>}
        </div>
        <Group className="date-fields">
          {/* The parts of a date say how to type one, to whoever is about to. */}
          {range === null && before === null && (
            <span className="open-dates" aria-hidden="true">
              all dates
            </span>
          )}
          <DateInput slot="start">{(segment) => <DateSegment segment={segment} className="date-segment" />}</DateInput>
          <span aria-hidden="true">–</span>
          <DateInput slot="end">{(segment) => <DateSegment segment={segment} className="date-segment" />}</DateInput>
          <Button className="small-button" aria-label="Open the calendar">
            ▾
          </Button>
        </Group>
        <FieldError className="problem">{range && range.start.compare(range.end) > 0 ? BACKWARDS : TOO_EARLY}</FieldError>
        <Popover className="popover">
          <Dialog className="calendar" aria-label={label}>
            <RangeCalendar>
              <header>
                <Button slot="previous" className="small-button">
                  ◀
                </Button>
                <Heading />
                <Button slot="next" className="small-button">
                  ▶
                </Button>
              </header>
              <CalendarGrid>{(date) => <CalendarCell date={date} className="calendar-day" />}</CalendarGrid>
            </RangeCalendar>
          </Dialog>
        </Popover>
      </DateRangePicker>
    </div>
  );
}
