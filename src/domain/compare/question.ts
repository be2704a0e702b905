import { REPORT, toReportPath } from '../../source/v2-source';
import { toMonths, type PeriodDates } from '../../values/periods';
import type { LoggedRequest } from './request-log';

/** A request that both services are asked. */
export interface Question {
  /** The path below `api/v2/`. */
  readonly path: string;
  readonly query: string;
  readonly provision: keyof typeof provisions;
  /** True for a request with the session of those who have one. */
  readonly hasSession: boolean;
}

/** The provisions of questions. `given` is the one of the service that is asked. */
export const provisions = {
  given: undefined,
  none: undefined,
  malformed: 'no-provision',
  unknown: '6f1d2c3b-0000-4000-8000-000000000000',
} as const;

export const pendingChoices = ['both', 'with', 'without'] as const;
export type PendingChoice = (typeof pendingChoices)[number];

const SYSTEM = 'authenticated_test_system';
const SESSION = 'authenticated_test_session';
/** The parameters of v2, whose values are no secrets. */
const PARAMETERS = ['start_date', 'end_date', 'include_pending'];
const PLAIN = /^[-0-9A-Za-z]{0,20}$/;

export const isReport = ({ path }: Question): boolean => path === REPORT;

const toQuestion = (address: string, fields: Partial<Question> = {}): Question => {
  const [path, query = ''] = address.split('?', 2) as [string, string?];
  return { path, query, provision: 'given', hasSession: true, ...fields };
};

/** The reports of a range, month by month. */
export function reportQuestions(range: PeriodDates, pending: PendingChoice): Question[] {
  const choices = { both: [false, true], with: [true], without: [false] }[pending];
  return toMonths(range.startDate, range.endDate).flatMap((month) =>
    choices.map((includePending) => toQuestion(toReportPath({ ...month, includePending }))),
  );
}

/** The answers and the errors of the contract that a caller can bring about (sections 4.3, 5 and 7). The days are of the range. */
export function caseQuestions({ startDate, endDate }: PeriodDates): Question[] {
  const report = (query: string): string => `${REPORT}?${query}`;
  const good = `start_date=${startDate}&end_date=${startDate}`;
  const paths = [SYSTEM, SESSION, report(good)];
  const reports = [
    ...['', `start_date=${startDate}`, `end_date=${endDate}`, `start_date=&end_date=${endDate}`],
    ...[`start_date=yesterday&end_date=${endDate}`, `start_date=2023-02-29&end_date=${endDate}`, `${good}&include_pending=maybe`],
    'start_date=2001-02-03&end_date=2001-02-02',
  ];
  return [
    ...paths.map((address) => toQuestion(address)),
    ...(['none', 'malformed', 'unknown'] as const).flatMap((provision) => paths.map((address) => toQuestion(address, { provision }))),
    ...paths.map((address) => toQuestion(address, { hasSession: false })),
    ...reports.map((query) => toQuestion(report(query).replace(/\?$/, ''))),
  ];
}

/** The name of a question. A query that has what v2 lacks may have a secret, and is left out. */
export function nameQuestion({ path, query, provision, hasSession }: Question): string {
  const isKnown = [...new URLSearchParams(query)].every(([name, value]) => PARAMETERS.includes(name) && PLAIN.test(value));
  const without = [
    ...(provision === 'given' ? [] : [`${provision === 'none' ? 'no' : `a ${provision}`} provision`]),
    ...(hasSession ? [] : ['no session']),
  ];
  const shown = query === '' ? '' : `?${isKnown ? query : LEFT_OUT}`;
  return `${path === REPORT ? 'report' : path}${shown}${without.length > 0 ? ` with ${without.join(' and ')}` : ''}`;
}

/** Stands for a query in the names of questions, which several then may have. */
export const LEFT_OUT = '…';

/** What makes two questions the same request. */
export const keyOf = ({ path, query, provision, hasSession }: Question): string => JSON.stringify([path, query, provision, hasSession]);

const PREFIX = /^(?:https?:\/\/[^/?#]+)?[^?#]*\/api\/v2\/(\w+)\/?(?:\?([^#]*))?(?:#.*)?$/;

/**
 * The question of a request of real traffic; undefined for one that is no GET of the three paths. A log never has the session, which is
 * therefore the given one.
 */
export function trafficQuestion({ method, target, headers }: LoggedRequest): Question | undefined {
  const [, path, query = ''] = PREFIX.exec(target) ?? [];
  if (method !== 'GET' || path === undefined || ![SYSTEM, SESSION, REPORT].includes(path)) return undefined;
  return { path, query, provision: headers && !headers.has('provision') ? 'none' : 'given', hasSession: true };
}
