import { createHash } from 'node:crypto';
import type { MailRow } from '../../src/data/mail/mail-store';
import type { TakenMail } from '../support/mail-server';
import { importDailyGifts, openScheduledMails } from '../support/scheduled-mails';
import { until } from '../support/until';

const mails = openScheduledMails();

let gifts: ReadonlyMap<string, string>;

beforeAll(async () => {
  gifts = await importDailyGifts(mails, 3);
  await mails.serve();
});
beforeEach(() => {
  mails.server.mails.length = 0;
});

test('a mail has the totals and the version in its text, and the whole file attached', async () => {
  await mails.saveReport('Gifts of each day');
  const schedule = await mails.schedule();
  const [log] = await mails.sendNow(schedule);
  const yesterday = log!.startDate;
  expect(mails.server.mails).toHaveLength(1);
  const [mail] = mails.server.mails;
  const content = `transaction_id,donor_last_name,amount\r\n"${gifts.get(yesterday)}","Lovelace","10.50"\r\n`;
  expect(mail).toMatchObject({ from: 'reports@example.org', to: ['ada@example.org'], id: `<${log!.id}@example.org>` });
  expect(mail!.headers.subject).toBe(`Gifts of each day: ${yesterday} to ${yesterday}`);
  expect(mail!.file).toEqual({ name: `gifts-${yesterday}-${yesterday}.csv`, content });
  expect(mail!.text.replaceAll(/igest: .*/g, 'igest: HASH')).toBe(
    [
      `Organization:             ${mails.organization.name}`,
      'Report:                   Gifts of each day',
      `Period:                   ${yesterday} to ${yesterday} (yesterday)`,
      'Data version:             1',
      '',
      'Rows of the file:         1',
      'Lines:                    1',
      'Gifts:                    1',
      'Deposits:                 1',
      'Amount by gift:           10.50',
      'Amount by share:          10.50',
      'Shares not known:         0',
      'Digest: HASH',
      'Money digest: HASH',
      '',
      `Attached file:            gifts-${yesterday}-${yesterday}.csv`,
      `Bytes:                    ${content.length}`,
      `SHA-256:                  ${createHash('sha256').update(content).digest('hex')}`,
      '',
      'The report of this period, after a login:',
      `https://gifts.example.org/playground#saved/gifts?period=${yesterday}..${yesterday}&state=1`,
    ].join('\n'),
  );
  expect(log).toMatchObject({ state: 'SENT', sentAs: 'FILE', dataVersion: 1, attempts: 1, failure: null, isRequested: true });
});

test('the file is the one that the file door gives, and the audit has it as read by the recipient', async () => {
  await mails.saveReport();
  const schedule = await mails.schedule({ period: 'last-12-months' });
  await mails.sendNow(schedule);
  const [{ startDate, endDate }] = (await mails.logOf(schedule)) as [MailRow];
  const headers = { Provision: mails.organization.apiProvision };
  const answer = await fetch(`${mails.gateway.url}/reports/gifts.csv?startDate=${startDate}&endDate=${endDate}`, { headers });
  const content = await answer.text();
  expect(content.split('\r\n')).toHaveLength(5);
  expect(mails.server.mails[0]!.file!.content).toBe(content);
  const list = () => mails.gateway.services.audit.list({ organizationId: mails.organization.id, isDescending: true, doors: ['mail'] }, 1);
  await until(async () => (await list())[0]?.outcome === 'whole');
  expect((await list())[0]).toMatchObject({
    ...{ kind: 'file', door: 'mail', operation: 'reports/gifts', username: 'ada', report: 'deposit-details', startDate, endDate },
    ...{ lines: 3, dataVersion: 1, fileSha256: createHash('sha256').update(content).digest('hex'), bytes: Buffer.byteLength(content) },
  });
});

test('neither the subject nor the text tells a donor, and a form without a file has none', async () => {
  await mails.saveReport();
  for (const format of ['TOTALS', 'LINK'] as const) {
    await mails.sendNow(await mails.schedule({ format }));
  }
  expect(mails.server.mails.map(({ file }) => file)).toEqual([undefined, undefined]);
  for (const { text, headers } of mails.server.mails) {
    expect(text).toContain('Amount by gift:           10.50\n');
    expect(text).toContain('https://gifts.example.org/playground#saved/gifts');
    expect(`${text}${JSON.stringify(headers)}`).not.toMatch(/Lovelace|attached/);
  }
});

test('a title and names add no header and no recipient', async () => {
  const { client } = mails.gateway.database;
  const evil = 'Gifts\r\nBcc: eve@example.org\r\n\r\nFree text “ü” <eve@example.org>';
  await mails.saveReport();
  const schedule = await mails.schedule({ format: 'TOTALS' });
  // No door takes such a title.
  await client.query('UPDATE saved_report SET title = $1', [evil]);
  await mails.sendNow(schedule);
  const [{ headers, to }] = mails.server.mails as [TakenMail];
  expect(to).toEqual(['ada@example.org']);
  expect(Object.keys(headers).sort()).toEqual(
    ['auto-submitted', 'content-transfer-encoding', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'].sort(),
  );
  expect([headers.from, headers.to]).toEqual(['reports@example.org', 'ada@example.org']);
});
