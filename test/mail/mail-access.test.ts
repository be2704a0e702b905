import type { ScheduleRow } from '../../src/data/mail/schedule-store';
import { AUDIT_PRIVILEGE } from '../../src/values/privileges';
import { readAudit } from '../support/audit-reader';
import { failed, runCommand, succeed } from '../support/command';
import { createOrganization, graphql, login, PASSWORD, startGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { MAIL_SETTINGS, saveGiftsReport, saveSchedule } from '../support/scheduled-mails';

const gateway = openGateway({ settings: MAIL_SETTINGS });
let theirs: TestOrganization;
let foreign: ScheduleRow;

const READ = '{ reportMailing { isOn recipients schedules { report cron period format recipients pausedReason } } }';
const SAVE = `mutation ($input: SaveReportScheduleInput!) { saveReportSchedule(input: $input) { schedule { id report pausedAt } } }`;
const input = { report: 'gifts', cron: '0 8 1 * *', period: 'LAST_MONTH', format: 'FILE', recipients: ['ada'] };
const CHANGES = [
  'mutation ($id: ID!) { pauseReportSchedule(input: { id: $id, paused: true }) { schedule { id } } }',
  'mutation ($id: ID!) { sendReportNow(input: { id: $id }) { schedule { id } } }',
  'mutation ($id: ID!) { deleteReportSchedule(input: { id: $id }) { schedule { id } } }',
];

beforeAll(async () => {
  const { services } = gateway;
  theirs = await createOrganization(services);
  for (const organization of [gateway.organization, theirs]) {
    await services.users.setEmail(organization.name, 'ada', 'ada@example.org');
    await saveGiftsReport(services, organization);
  }
  foreign = await saveSchedule(services, theirs);
  await services.users.create({ organization: gateway.organization.name, username: 'clerk', password: PASSWORD, grants: [] });
});

const codesOf = ({ body }: { body: unknown }): unknown =>
  ((body as { errors?: { extensions: { code: string } }[] }).errors ?? []).map(({ extensions }) => extensions.code);
const asUser = async (username: string) => ({
  provision: gateway.organization.webProvision,
  cookie: await login(gateway.url, gateway.organization.webProvision, username),
});

test('a user with the privilege of the report saves a schedule, and the audit has it', async () => {
  const user = await asUser('ada');
  const saved = await graphql(gateway.url, SAVE, { ...user, variables: { input } });
  expect(saved.body).toEqual({
    data: { saveReportSchedule: { schedule: { id: expect.any(String) as string, report: 'gifts', pausedAt: null } } },
  });
  const [entry] = await gateway.services.audit.list({ organizationId: gateway.organization.id, isDescending: true, kinds: ['rights'] }, 1);
  expect(entry).toMatchObject({ operation: 'schedule save', username: 'ada', subject: 'report gifts', door: 'graphql' });
  expect(entry!.detail).toMatch(/^schedule .*: last-month to ada$/);
  expect((await graphql(gateway.url, READ, user)).body).toEqual({
    data: { reportMailing: { isOn: true, recipients: ['ada'], schedules: [{ ...input, pausedReason: null }] } },
  });
});

test('whoever lacks the privilege reads and changes nothing, and a server changes nothing', async () => {
  const clerk = await asUser('clerk');
  const server = { provision: gateway.organization.apiProvision };
  expect(codesOf(await graphql(gateway.url, READ, clerk))).toEqual(['PRIVILEGE_NOT_FOUND']);
  for (const [caller, code] of [
    [clerk, 'PRIVILEGE_NOT_FOUND'],
    [server, 'NOT_LOGGED_IN'],
  ] as const) {
    expect(codesOf(await graphql(gateway.url, SAVE, { ...caller, variables: { input } }))).toEqual([code]);
    for (const change of CHANGES)
      expect(codesOf(await graphql(gateway.url, change, { ...caller, variables: { id: foreign.id } }))).toEqual([code]);
  }
});

test('a change of a schedule that somebody has changed since is refused, and a paused one stays paused', async () => {
  const user = await asUser('ada');
  const { id, updatedAt } = await saveSchedule(gateway.services, gateway.organization);
  await gateway.services.schedules.pause(null, id);
  const save = (replaces: Date | null) => graphql(gateway.url, SAVE, { ...user, variables: { input: { ...input, id, replaces } } });
  expect((await save(updatedAt)).body).toEqual({
    data: { saveReportSchedule: { schedule: { id, report: 'gifts', pausedAt: expect.any(String) as string } } },
  });
  const { updatedAt: newer } = await gateway.services.schedules.get(null, id);
  for (const replaces of [updatedAt, null]) {
    expect((await save(replaces)).body).toMatchObject({
      data: null,
      errors: [
        {
          message: `The schedule is another than expected: schedule ${id} was saved by ada at ${newer.toISOString()}`,
          extensions: { code: 'SCHEDULE_CONFLICT', argument: 'input.replaces' },
        },
      ],
    });
  }
});

test('a report is not sent now to whom it is on its way already', async () => {
  const user = await asUser('ada');
  const { id } = await saveSchedule(gateway.services, gateway.organization);
  const twice = `mutation ($id: ID!) { ${['one', 'two'].map((name) => `${name}: sendReportNow(input: { id: $id }) { schedule { id } }`).join(' ')} }`;
  expect((await graphql(gateway.url, twice, { ...user, variables: { id } })).body).toMatchObject({
    errors: [
      {
        message: expect.stringContaining('the mails that were asked for before still wait to be sent') as string,
        ...{ path: ['two'], extensions: { code: 'BAD_USER_INPUT', argument: 'input.id' } },
      },
    ],
  });
  expect(await gateway.services.schedules.listMails(null, id, 10)).toMatchObject([{ isRequested: true, state: 'PENDING' }]);
  const { services, organization } = gateway;
  await services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: [AUDIT_PRIVILEGE] });
  const rights = await readAudit(gateway, organization, '{ kinds: [RIGHTS] }');
  expect(rights.filter(({ operation, detail }) => operation === 'schedule send' && String(detail).includes(id))).toHaveLength(1);
});

test('a schedule of another organization is not there', async () => {
  const user = await asUser('ada');
  for (const change of CHANGES)
    expect(codesOf(await graphql(gateway.url, change, { ...user, variables: { id: foreign.id } }))).toEqual(['NOT_FOUND']);
  const log = 'query ($id: ID!) { reportMails(id: $id) { id } }';
  expect(codesOf(await graphql(gateway.url, log, { ...user, variables: { id: foreign.id } }))).toEqual(['NOT_FOUND']);
  expect(codesOf(await graphql(gateway.url, SAVE, { ...user, variables: { input: { ...input, id: foreign.id } } }))).toEqual(['NOT_FOUND']);
  expect(await gateway.services.schedules.listMails(null, foreign.id, 10)).toEqual([]);
});

test('an operator lists, pauses, sends and deletes schedules', async () => {
  const environment = { DATABASE_URL: gateway.database.url };
  const organization = await createOrganization(gateway.services);
  await gateway.services.users.setEmail(organization.name, 'ada', 'ada@example.org');
  await saveGiftsReport(gateway.services, organization);
  const schedule = await saveSchedule(gateway.services, organization, { cron: '0 8 * * *' });
  const ask = async <Result>(...words: string[]): Promise<Result> => JSON.parse(await succeed(environment, ['--json', ...words])) as Result;
  const of = ['--organization', organization.name];
  expect(await ask('schedule', 'list', ...of)).toMatchObject([
    { id: schedule.id, report: 'gifts', period: 'yesterday', recipients: ['ada'] },
  ]);
  expect(await ask('schedule', 'pause', schedule.id)).toMatchObject({ pausedReason: 'an operator has paused it' });
  expect(await ask('schedule', 'resume', schedule.id)).toMatchObject({ pausedAt: null, pausedReason: null });
  await ask('schedule', 'send', schedule.id);
  expect(await ask('schedule', 'log', schedule.id)).toMatchObject([{ recipient: 'ada', state: 'PENDING', isRequested: true, attempts: 0 }]);
  expect(await succeed(environment, ['schedule', 'list', ...of])).toContain('0 8 * * *  yesterday  FILE');
  expect(await succeed(environment, ['schedule', 'delete', schedule.id])).toBe(`Schedule ${schedule.id} of gifts is deleted\n`);
  expect(await ask('schedule', 'list', ...of)).toEqual([]);
});

test('an operator gives a user an address, and no text that is none', async () => {
  const environment = { DATABASE_URL: gateway.database.url };
  const of = ['--organization', theirs.name, '--username', 'ada'];
  for (const address of ['ada', 'ada@example.org\nBcc: eve@example.org', 'Ada <ada@example.org>', 'a@b, c@d']) {
    expect(await runCommand(environment, ['user', 'email', address, ...of])).toEqual(
      failed('The address must be one like ada@example.org'),
    );
  }
  await succeed(environment, ['user', 'email', '', ...of]);
  expect((await gateway.services.users.get(theirs.name, 'ada')).email).toBeNull();
});

test('a gateway without a mail server offers no schedules', async () => {
  const alone = await startGateway();
  try {
    const organization = await createOrganization(alone.services);
    await alone.services.users.setEmail(organization.name, 'ada', 'ada@example.org');
    await saveGiftsReport(alone.services, organization);
    const user = { provision: organization.webProvision, cookie: await login(alone.url, organization.webProvision) };
    expect((await graphql(alone.url, READ, user)).body).toEqual({
      data: { reportMailing: { isOn: false, recipients: ['ada'], schedules: [] } },
    });
    const { body } = await graphql(alone.url, SAVE, { ...user, variables: { input } });
    expect(JSON.stringify(body)).toContain('this gateway sends no mails: its operator has set no mail server');
  } finally {
    await alone.stop();
  }
});

test('settings of a mail server that are wrong, or not whole, are told in words', async () => {
  const environment = { DATABASE_URL: gateway.database.url, PORT: '0' };
  const wrong = { ...MAIL_SETTINGS, SMTP_URL: 'mail.example.org' };
  const { status, stderr } = await runCommand({ ...environment, ...wrong }, ['serve']);
  expect([status, stderr]).toEqual([
    1,
    'SMTP_URL: expected a URL like smtps://user:password@mail.example.org or smtp://mail.example.org:587; a password has every character but letters and digits percent-encoded, such as %40 for @\n',
  ]);
  const alone = await runCommand({ ...environment, SMTP_URL: MAIL_SETTINGS.SMTP_URL }, ['serve']);
  expect(alone.stderr).toBe('SMTP_URL: expected MAIL_FROM beside it\nSMTP_URL: expected PLAYGROUND_URL beside it\n');
});
