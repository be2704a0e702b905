import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { parse } from 'papaparse';
import type { ScheduleRow } from '../../data/mail/schedule-store';
import type { NewJournalAccounts } from '../../data/reports/journal-account-store';
import { OperatorError } from '../../errors';
import { JsonFault, readJson } from '../../formats/json-text';
import { createSchema } from '../../graphql/schema';
import { SchemaReportDocuments } from '../../resolvers/reports/report-documents';
import type { Services } from '../../services';
import { unguardFormula } from '../../values/formula-guard';
import type { PeriodName } from '../../values/periods';
import { withServices, type CommandContext } from '../command';
import { ORGANIZATION, periodOption } from '../command-options';
import { formatTable, printResult, readCount, toPrintable, toText } from '../terminal';

interface SaveOptions {
  readonly organization: string;
  readonly variables: Record<string, unknown>;
  readonly title?: string;
  readonly period?: PeriodName;
  readonly replace?: boolean;
}

/** `report list | save | delete`: the saved reports of an organization, whose files are served at /reports/NAME. */
export function reportCommand(context: () => CommandContext): Command {
  const command = new Command('report');
  command
    .command('list')
    .description('lists the saved reports by name')
    .requiredOption('--organization <name>', 'name of the organization')
    .action(async ({ organization }: { organization: string }) => {
      const { terminal, json } = context();
      const reports = await withServices(context(), async ({ organizations, savedReports, audit }) => {
        const { id } = await organizations.get(organization);
        return audit.accompany(audit.operator(id), audit.command('report list'), () => savedReports.list(id));
      });
      const rows = reports.map(({ name, title, updatedAt, updatedBy, period, variables }) => [
        name,
        title,
        updatedAt.toISOString(),
        updatedBy ?? 'command line',
        period ?? '',
        JSON.stringify(variables),
      ]);
      printResult(terminal, json, reports, formatTable(['NAME', 'TITLE', 'SAVED', 'BY', 'PERIOD', 'VARIABLES'], rows));
    });
  command
    .command('save')
    .description('saves a query under a name')
    .argument('<name>', 'lower-case letters and digits with hyphens between them, such as january-2026')
    .argument('<file>', 'file with a GraphQL query for lines or for a summary')
    .requiredOption('--organization <name>', 'name of the organization')
    .option('--variables <json>', 'values of the query\'s variables, such as {"startDate":"2026-01-01"}', readVariables, {})
    .addOption(periodOption('gives $startDate and $endDate their values anew each time, in place of dates in --variables'))
    .option('--title <text>', 'what people call the report; its name when it is not given')
    .option('--replace', 'replaces the report of this name, if there is one')
    .action(async (name: string, file: string, { organization, variables, title, period, replace }: SaveOptions) => {
      const { terminal, json } = context();
      const query = toText(await readGiven(file), file);
      const report = await withServices(context(), async ({ organizations, savedReports }) => {
        const { id } = await organizations.get(organization);
        const earlier = replace ? await savedReports.find(id, name) : null;
        const given = { name, title, query, variables, period, updatedBy: null, replaces: earlier?.updatedAt };
        return savedReports.save(id, given, new SchemaReportDocuments(createSchema()));
      });
      printResult(terminal, json, report, `Saved report "${name}": /reports/${name}.csv`);
    });
  command
    .command('delete')
    .description('deletes a saved report with the schedules by which it is mailed')
    .argument('<name>', 'name of the report')
    .requiredOption('--organization <name>', 'name of the organization')
    .action(async (name: string, { organization }: { organization: string }) => {
      const { terminal, json } = context();
      const gone = await withServices(context(), async ({ organizations, savedReports }) =>
        savedReports.delete((await organizations.get(organization)).id, name),
      );
      const schedules = gone.map(({ id }) => id);
      const text = [`Deleted report "${name}"`, ...schedules.map((id) => `Schedule ${id} is deleted with it`)].join('\n');
      printResult(terminal, json, { name, schedules }, text);
    });
  return command;
}

/** `journal accounts`: shows or saves the accounts of the journal at /export/journal.csv. */
export function journalCommand(context: () => CommandContext): Command {
  const command = new Command('journal');
  command
    .command('accounts')
    .description('shows the accounts of the bank, the fees and the funds, or saves those of a file in their place')
    .requiredOption(...ORGANIZATION)
    .option('--file <file>', 'CSV file with the columns fund and account, a row for each fund by its id, and rows for bank and fees')
    .action(async ({ organization, file }: { organization: string; file?: string }) => {
      const { terminal, json } = context();
      const given = file === undefined ? undefined : readAccounts(toText(await readGiven(file), file), file);
      const accounts = await withServices(context(), async ({ organizations, journalAccounts, audit }) => {
        const { id } = await organizations.get(organization);
        return given ? journalAccounts.save(id, given, { name: audit.operator(id).username }) : journalAccounts.find(id);
      });
      const rows = accounts ? toAccountRows(accounts).map((row) => row.map(toPrintable)) : [];
      printResult(terminal, json, accounts, formatTable(['FUND', 'ACCOUNT'], rows));
    });
  return command;
}

const BANK = 'bank';
const FEES = 'fees';

const toAccountRows = ({ bank, fees, funds }: NewJournalAccounts): (readonly [fund: string, account: string])[] => [
  [BANK, bank],
  [FEES, fees],
  ...funds.map(({ designationId, account }) => [String(designationId), account] as const),
];

/** Reads the accounts of a CSV file. Throws an OperatorError that names the line at fault. */
function readAccounts(text: string, file: string): NewJournalAccounts {
  const { data, errors } = parse<string[]>(text.replace(/^\uFEFF/, ''), { skipEmptyLines: 'greedy' });
  const toFault = (fault: string): OperatorError => new OperatorError(`${file}: ${fault}`);
  // A file of one column has no delimiter that could be found.
  const fault = errors.find(({ type }) => type !== 'Delimiter');
  if (fault) throw toFault(`it is no CSV: ${fault.message}`);
  const [header = [], ...records] = data.map((record) => record.map((value) => unguardFormula(value.trim())));
  if (header.join() !== 'fund,account') throw toFault('its first line must be fund,account');
  const accounts = new Map<string, string>();
  for (const [at, record] of records.entries()) {
    const [fund = '', account = ''] = record;
    const place = `record ${at + 2}`;
    if (record.length !== 2) throw toFault(`${place} must have 2 values, not ${record.length}`);
    if (fund !== BANK && fund !== FEES && !/^-?[0-9]{1,16}$/.test(fund))
      throw toFault(`${place}: "${toPrintable(fund)}" must be bank, fees, or the id of a fund`);
    if (accounts.has(fund)) throw toFault(`${place}: ${fund} has an account already`);
    accounts.set(fund, account);
  }
  const [bank, fees] = [BANK, FEES].map((name) => {
    const account = accounts.get(name);
    if (account === undefined) throw toFault(`it has no row for ${name}`);
    accounts.delete(name);
    return account;
  }) as [string, string];
  return { bank, fees, funds: [...accounts].map(([id, account]) => ({ designationId: Number(id), account })) };
}

const readGiven = (file: string): Promise<Buffer> =>
  readFile(file).catch((error: unknown) => {
    throw new OperatorError(`Cannot read ${file}`, { cause: error });
  });

function readVariables(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidArgumentError('It must be a JSON object.');
  return value as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonFault) throw new InvalidArgumentError(`It ${error.message}.`);
    throw error;
  }
}

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
      const rows = list.map(({ isRequested, startDate, endDate, dataVersion, ...mail }) => [
        ...[time(mail.dueAt), isRequested ? 'send now' : 'schedule', toPrintable(mail.recipient), `${startDate} to ${endDate}`],
        ...[mail.state, mail.sentAs ?? '', dataVersion === null ? '' : String(dataVersion)],
        ...[String(mail.attempts), time(mail.nextAttemptAt), mail.failure ?? ''],
      ]);
      const header = ['DUE', 'BY', 'RECIPIENT', 'PERIOD', 'STATE', 'FORM', 'VERSION', 'ATTEMPTS', 'NEXT ATTEMPT', 'REASON'];
      printResult(terminal, json, list, formatTable(header, rows));
      if (list.length === last && !json) terminal.errors.write(`These are the newest ${last}: --last lists more\n`);
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
