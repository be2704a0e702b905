import type { MailRow } from '../../src/data/mail/mail-store';
import type { ScheduleRow } from '../../src/data/mail/schedule-store';
import type { ScheduleToSave } from '../../src/domain/mail/schedule-service';
import { createSchema } from '../../src/graphql/schema';
import { SchemaReportDocuments } from '../../src/resolvers/reports/report-documents';
import type { Services } from '../../src/services';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { startServe, type ServeProcess } from './command';
import { createOrganization, importLines, PASSWORD, startGateway, v2Line, type TestGateway, type TestOrganization } from './gateway';
import { MailServer } from './mail-server';
import { until } from './until';

export const DOCUMENTS = new SchemaReportDocuments(createSchema());
const LINES = `query Gifts($startDate: LocalDate!, $endDate: LocalDate!) {
  depositDetails(startDate: $startDate, endDate: $endDate) { transactionId donorLastName amount }
}`;

/** Settings by which schedules can be saved, and nothing is sent. */
export const MAIL_SETTINGS = {
  ...{ SMTP_URL: 'smtp://127.0.0.1:1?tls=none', MAIL_FROM: 'reports@example.org', PLAYGROUND_URL: 'https://gifts.example.org/playground' },
};

/** Gateways that send mails by a mail server of the test, over one database whose clock the test may put forward. */
export interface ScheduledMails {
  readonly gateway: TestGateway;
  readonly server: MailServer;
  readonly organization: TestOrganization;
  /** Starts a gateway that sends. */
  readonly serve: (settings?: Readonly<Record<string, string>>) => Promise<ServeProcess>;
  /** Saves the report `gifts` with a title. */
  readonly saveReport: (title?: string) => Promise<void>;
  readonly schedule: (given?: Partial<ScheduleToSave>) => Promise<ScheduleRow>;
  readonly addUser: (username: string, email?: string, grants?: string[]) => Promise<void>;
  /** Sends a schedule's report at once, and waits until no mail of it waits. Returns the log. */
  readonly sendNow: (schedule: Pick<ScheduleRow, 'id'>) => Promise<MailRow[]>;
  readonly logOf: (schedule: Pick<ScheduleRow, 'id'>) => Promise<MailRow[]>;
  /** Puts the clock of the database forward, for connections that are made after the first call. */
  readonly advance: (interval: string) => Promise<void>;
}

/** Opens them before the tests of a file, and stops them after. */
export function openScheduledMails(settings: Readonly<Record<string, string>> = {}): ScheduledMails {
  let gateway: TestGateway;
  let server: MailServer;
  let organization: TestOrganization;
  const serving: ServeProcess[] = [];
  beforeAll(async () => {
    server = await MailServer.start();
    gateway = await startGateway({ ...server.settings, ...settings });
    await gateway.database.client.query(CLOCK);
    organization = await createOrganization(gateway.services);
    await gateway.services.users.setEmail(organization.name, 'ada', 'ada@example.org');
  });
  afterEach(async () => {
    // The clock of a later test would make them due.
    await gateway.database.client.query('DELETE FROM report_schedule');
  });
  afterAll(async () => {
    await Promise.all(serving.map((each) => each.end('SIGKILL')));
    await gateway.stop();
    await server.stop();
  });
  const logOf: ScheduledMails['logOf'] = ({ id }) => gateway.services.schedules.listMails(null, id, 200);
  return {
    get gateway() {
      return gateway;
    },
    get server() {
      return server;
    },
    get organization() {
      return organization;
    },
    serve: async (given) => {
      const { database } = gateway;
      const each = await startServe({ DATABASE_URL: database.url, LOG_LEVEL: 'info', ...server.settings, ...settings, ...given });
      serving.push(each);
      return each;
    },
    saveReport: (title) => saveGiftsReport(gateway.services, organization, title),
    schedule: (given) => saveSchedule(gateway.services, organization, given),
    addUser: async (username, email = `${username}@example.org`, grants = [REPORT_PRIVILEGE]) => {
      await gateway.services.users.create({ organization: organization.name, username, password: PASSWORD, grants });
      await gateway.services.users.setEmail(organization.name, username, email);
    },
    sendNow: async (schedule) => {
      await gateway.services.schedules.sendNow(null, schedule.id);
      await until(async () => (await logOf(schedule)).every(({ state }) => state !== 'PENDING'));
      return logOf(schedule);
    },
    logOf,
    advance: async (interval) => {
      await gateway.database.client.query(`UPDATE clock.shift SET by = by + $1::interval`, [interval]);
    },
  };
}

/** Saves the report `gifts`, whose query takes a period, in place of an earlier one. */
export async function saveGiftsReport({ savedReports }: Services, { id }: TestOrganization, title = 'Gifts'): Promise<void> {
  const found = await savedReports.find(id, 'gifts');
  const report = { name: 'gifts', title, query: LINES, variables: {}, period: 'last-month', updatedBy: null } as const;
  await savedReports.save(id, { ...report, replaces: found?.updatedAt }, DOCUMENTS);
}

/** Saves a schedule of the report `gifts` to the organization's user, who must have an address. */
export function saveSchedule({ schedules }: Services, { id }: TestOrganization, given: Partial<ScheduleToSave> = {}): Promise<ScheduleRow> {
  const schedule = { report: 'gifts', cron: DISTANT, period: 'yesterday', format: 'FILE', recipients: ['ada'], ...given } as const;
  const caller = { organizationId: id, username: 'ada', provisionLabel: null, provisionStart: null };
  return schedules.save({ id, timeZone: 'UTC', fiscalYearStart: 1 }, schedule, DOCUMENTS, { caller, address: '127.0.0.1' });
}

/** The hour of the day that is the most distant, so that no schedule comes due before the clock is put forward. */
export const DISTANT_HOUR = (new Date().getUTCHours() + 12) % 24;
const DISTANT = `0 ${DISTANT_HOUR} * * *`;

/** Imports a gift of each of the last days, and some of the days that come. Returns the ids of the gifts by their dates. */
export async function importDailyGifts({ gateway, organization }: ScheduledMails, days: number): Promise<ReadonlyMap<string, string>> {
  const lines = Array.from({ length: days }, (_, day) => {
    const date = new Date(Date.now() + (day - 2) * 86_400_000).toISOString().slice(0, 10);
    return v2Line({
      deposit_id: `${day}`,
      transaction_id: `P${day}`,
      allocation_id: `P${day}-A`,
      transaction_date: date,
      deposit_date: date,
    });
  });
  await importLines(gateway.services, organization, lines);
  return new Map(lines.map(({ transaction_id: id, transaction_date: date }) => [String(date), String(id)]));
}

/** PostgreSQL finds the functions of a schema that stands before pg_catalog first. */
const CLOCK = `
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = clock, pg_catalog, public', current_database()); END $$;
CREATE SCHEMA clock;
CREATE TABLE clock.shift (by INTERVAL NOT NULL);
INSERT INTO clock.shift VALUES (INTERVAL '0');
CREATE FUNCTION clock.now() RETURNS TIMESTAMPTZ LANGUAGE sql STABLE AS 'SELECT pg_catalog.now() + by FROM clock.shift';
GRANT USAGE ON SCHEMA clock TO PUBLIC;
GRANT SELECT ON clock.shift TO PUBLIC;`;
