import type { PeriodDates, PeriodName } from '../values/periods';

/** The facts of a mailed report. They name no donor. */
export interface MailFacts extends PeriodDates {
  readonly organization: string;
  readonly title: string;
  readonly period: PeriodName;
  readonly dataVersion: number;
  /** The totals with their names, in order. */
  readonly totals: readonly (readonly [name: string, value: string | number])[];
  /** The page of the report in this period, which asks for a login. */
  readonly link: string;
  /** The file that is attached, or the reason why it is not; undefined where none was asked for. */
  readonly file?: AttachedFile | { readonly leftOut: string } | undefined;
}

interface AttachedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

const NAME_WIDTH = 26;
const row = (name: string, value: string | number): string => `${`${name}:`.padEnd(NAME_WIDTH)}${value}`;

export const toMailSubject = ({ title, startDate, endDate }: MailFacts): string => `${title}: ${startDate} to ${endDate}`;

/** The plain text of a mail. */
export function toMailText({ organization, title, period, startDate, endDate, dataVersion, totals, link, file }: MailFacts): string {
  const heads = [
    row('Organization', organization),
    row('Report', title),
    row('Period', `${startDate} to ${endDate} (${period.replaceAll('-', ' ')})`),
    row('Data version', dataVersion),
  ];
  const files =
    file === undefined
      ? []
      : 'leftOut' in file
        ? ['', `The file is not attached: ${file.leftOut}. The link below leads to it.`]
        : ['', row('Attached file', file.name), row('Bytes', file.bytes), row('SHA-256', file.sha256)];
  const end = ['', 'The report of this period, after a login:', link, ''];
  return [...heads, '', ...totals.map(([name, value]) => row(name, value)), ...files, ...end].join('\n');
}
