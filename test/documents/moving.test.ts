import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { databaseSettings } from '../support/database';
import { blocksOf, MOVING_SECTIONS, readDocument, sectionOf } from '../support/documents';
import { MAIN } from '../support/gateway-package';
import { gift, OLD_PROVISION, OldService } from '../support/old-service';
import { openGateway } from '../support/open-gateway';

jest.setTimeout(300_000);

const gateway = openGateway();
let old: OldService;
let directory: string;

beforeAll(async () => {
  old = await OldService.start();
  old.isSorted = true;
  old.gifts.push(...Array.from({ length: 30 }, (_, number) => gift({ depositDate: `2026-10-${String(number + 1).padStart(2, '0')}` })));
  directory = mkdtempSync(join(tmpdir(), 'gateway-moving-'));
  mkdirSync(join(directory, 'bin'));
  writeFileSync(join(directory, 'bin/deposit-gateway'), `#!/bin/sh\nexec node ${MAIN} "$@"\n`, { mode: 0o755 });
  writeFileSync(join(directory, 'old-provision'), OLD_PROVISION, { mode: 0o600 });
  const report = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2026-10-01&end_date=2026-10-31';
  writeFileSync(join(directory, 'access.log'), `::1 - - [01/Nov/2026:00:00:00 +0000] "GET ${report} HTTP/1.1" 200 9 "-" "curl"\n`);
});

afterAll(async () => {
  await old.stop();
  rmSync(directory, { recursive: true });
});

/** What the documents say and a test cannot wait for, with what it does in its place. */
const quicker = (commands: string): string =>
  commands
    .replaceAll('https://old.example.org', old.url)
    .replaceAll('https://gateway.example.org', gateway.url)
    .replaceAll('--every 15m', '--once')
    .replaceAll('2015-01-01', '2026-09-01')
    .replaceAll(' compare ', ' compare --rate 1000 ');

// The first section makes the organization and the provision that the others use.
test.each(MOVING_SECTIONS)('an operator who follows "%s" as it is written has equal answers', async (section) => {
  const commands = blocksOf(sectionOf(readDocument('docs/v2.md'), section)).flatMap(({ language, body }) =>
    language === 'sh' ? body : [],
  );
  expect(commands.length).toBeGreaterThan(0);
  const child = spawn(
    'sh',
    ['-e', '-c', quicker(commands.join('\n')).replace('--verdict verdict.json\n', `--verdict verdict.json --force\n`)],
    {
      cwd: directory,
      env: {
        ...{ PATH: `${join(directory, 'bin')}:${process.env.PATH ?? ''}`, HOME: process.env.HOME, LOG_LEVEL: 'fatal' },
        ...{ ...databaseSettings(), DATABASE_URL: gateway.database.url },
      },
    },
  );
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  expect([status, stderr.replace(/^(Database: .*|\{"database":.*)\n/gm, '')]).toEqual([0, '']);
  // Every comparison of the sections ends so.
  const count = (part: string, words: string): number => words.split(part).length - 1;
  expect(count('Equal: the new service answers as the old one does.', stdout)).toBe(count(' compare ', commands.join('\n')));
});
