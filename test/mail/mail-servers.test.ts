import type { SMTPServerOptions } from 'smtp-server';
import { AUDIT_PRIVILEGE } from '../../src/values/privileges';
import { readAudit } from '../support/audit-reader';
import { importLines, v2Line } from '../support/gateway';
import { MailServer } from '../support/mail-server';
import { importDailyGifts, openScheduledMails } from '../support/scheduled-mails';
import { AUTHORITY_FILE } from '../support/tls-database';
import { until } from '../support/until';

const mails = openScheduledMails();
const servers: MailServer[] = [];
const FROM = 'the mail server';

beforeAll(async () => {
  await importDailyGifts(mails, 4);
  await mails.saveReport();
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

/** Sends a mail by a server of these options, and returns the state and the reason in the log. */
async function sendBy(
  options: SMTPServerOptions,
  toUrl: (port: number) => string,
  settings = {},
): Promise<[string, string | null, number]> {
  const server = await MailServer.start(options);
  servers.push(server);
  const gateway = await mails.serve({ ...server.settings, SMTP_URL: toUrl(server.port), ...settings });
  const schedule = await mails.schedule();
  await mails.gateway.services.schedules.sendNow(null, schedule.id);
  const find = async () => (await mails.logOf(schedule))[0]!;
  await until(async () => (await find()).state !== 'PENDING' || (await find()).failure !== null);
  const { state, failure } = await find();
  await mails.gateway.services.schedules.delete(null, schedule.id);
  expect(await gateway.end('SIGTERM')).toBe(0);
  // No password and no address of a recipient gets into the log.
  expect(gateway.output()).not.toMatch(/s3cret|ada@example/);
  return [state, failure, server.mails.length];
}

const LOGIN: SMTPServerOptions = {
  disabledCommands: [],
  onAuth: ({ username, password }, _session, done) =>
    username === 'gate way' && password === 's3cret/ü' ? done(null, { user: username }) : done(new Error('Invalid login')),
};
const trusted = { NODE_EXTRA_CA_CERTS: AUTHORITY_FILE };
const login = `gate%20way:${encodeURIComponent('s3cret/ü')}`;

test('a server of TLS from the start, or of STARTTLS, takes mails after a login', async () => {
  expect(await sendBy({ ...LOGIN, secure: true }, (port) => `smtps://${login}@localhost:${port}`, trusted)).toEqual(['SENT', null, 1]);
  expect(await sendBy(LOGIN, (port) => `smtp://${login}@localhost:${port}`, trusted)).toEqual(['SENT', null, 1]);
});

test.each([
  ['whose certificate nobody knows', LOGIN, `smtp://${login}@localhost`, {}, 'the certificate of the mail server is not valid'],
  ['of another name than its certificate', LOGIN, `smtp://${login}@127.0.0.1`, trusted, 'the certificate of the mail server is not valid'],
  ['that offers no STARTTLS', { disabledCommands: ['STARTTLS'] }, 'smtp://localhost', trusted, 'the mail server offers no TLS'],
  ['that knows another password', LOGIN, 'smtp://gate%20way:s3cret@localhost', trusted, 'the mail server refuses the user or the password'],
] as const)('a server %s gets no mail, and the log says why', async (_what, options, url, settings, failure) => {
  const found = await sendBy({ ...options } as SMTPServerOptions, (port) => `${url}:${port}`, settings);
  expect(found).toEqual(['PENDING', failure, 0]);
});

test.each([
  ['a recipient for good ends the mail', 'recipient', 550, ['FAILED', `${FROM} answers 550`, 0]],
  ['a recipient whose mailbox is full ends the mail, which is not too large', 'recipient', 552, ['FAILED', `${FROM} answers 552`, 0]],
  ['the sender may take it later', 'sender', 550, ['PENDING', `${FROM} answers 550 to the sender`, 0]],
] as const)('a server that refuses %s', async (_what, step, status, expected) => {
  const server = await MailServer.start();
  servers.push(server);
  server.fail = () => ({ step, status });
  expect(await sendBy({}, () => server.settings.SMTP_URL!)).toEqual(expected);
});

test('a server that cannot be reached is tried again, and the audit says that nothing has left', async () => {
  expect(await sendBy({}, () => 'smtp://127.0.0.1:1?tls=none')).toEqual(['PENDING', `${FROM} cannot be reached`, 0]);
  const { apiProvision } = mails.organization;
  await mails.gateway.services.provisions.changeGrants(apiProvision, { verb: 'grant', privileges: [AUDIT_PRIVILEGE] });
  const [entry] = (await readAudit(mails.gateway, mails.organization, '{ kinds: [FILE] }')).slice(-1);
  expect(entry).toMatchObject({ door: 'MAIL', outcome: 'BROKEN', lines: null, bytes: 0, dataVersion: expect.any(Number) as number });
});

test('a server that takes smaller messages alone gets the mail with a link', async () => {
  const server = await MailServer.start({ size: 1500 });
  servers.push(server);
  const gateway = await mails.serve({ ...server.settings });
  const schedule = await mails.schedule({ period: 'last-12-months' });
  const [log] = await mails.sendNow(schedule);
  expect(log).toMatchObject({ state: 'SENT', sentAs: 'LINK' });
  expect(server.mails.map(({ file }) => file)).toEqual([undefined]);
  expect(server.mails[0]!.text).toContain('The file is not attached: the mail server finds it too large. The link below leads to it.');
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('a file beyond the limit leaves as a link, and the text says so', async () => {
  const server = await MailServer.start();
  servers.push(server);
  const gateway = await mails.serve({ ...server.settings, MAIL_ATTACHMENT_KILOBYTES: '1' });
  const lines = Array.from({ length: 60 }, (_, gift) =>
    v2Line({ transaction_id: `Q${gift}`, allocation_id: `Q${gift}-A`, transaction_date: '2025-06-01', deposit_date: '2025-06-02' }),
  );
  await importLines(mails.gateway.services, mails.organization, lines);
  const schedule = await mails.schedule({ period: 'last-year' });
  const [log] = await mails.sendNow(schedule);
  expect(log).toMatchObject({ state: 'SENT', sentAs: 'LINK' });
  expect(server.mails[0]!.file).toBeUndefined();
  expect(server.mails[0]!.text).toContain(
    'The file is not attached: it has more than the 1000 bytes that a mail may have. The link below leads to it.',
  );
  expect(server.mails[0]!.text).toContain('Amount by gift:');
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('a server that gives no answer holds up neither callers nor a stop, and its mails go out by another gateway', async () => {
  const server = await MailServer.start();
  servers.push(server);
  server.isStalling = true;
  const gateway = await mails.serve({ ...server.settings });
  const schedule = await mails.schedule();
  await mails.gateway.services.schedules.sendNow(null, schedule.id);
  await until(() => server.stalled > 0);
  const headers = { Provision: mails.organization.apiProvision };
  expect((await fetch(`${gateway.url}/reports/gifts.csv`, { headers })).status).toBe(200);
  expect(await gateway.end('SIGTERM')).toBe(0);
  expect((await mails.logOf(schedule))[0]).toMatchObject({ state: 'PENDING', attempts: 0, failure: null });
  const next = await mails.serve();
  await until(async () => (await mails.logOf(schedule))[0]!.state === 'SENT');
  expect(await next.end('SIGTERM')).toBe(0);
});
