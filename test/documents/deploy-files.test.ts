import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../support/command';
import { ROOT } from '../support/documents';
import { day, gift, OLD_PROVISION, sourceOf } from '../support/old-service';
import { openSyncs } from '../support/syncs';

const syncs = openSyncs();
const { booksOf, withService, writeSecret } = syncs;
const UNIT = 'deposit-gateway-sync.service';
const readFile = (name: string): string => readFileSync(join(ROOT, 'docs/deploy', name), 'utf8');
/** The program of the unit, which is not on the machine of a test. */
const PROGRAM = '/usr/local/bin/deposit-gateway';

test('systemd takes the unit of sync, where its tool is installed', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-unit-'));
  writeFileSync(join(directory, UNIT), readFile(UNIT).replace(PROGRAM, process.execPath));
  const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', join(directory, UNIT)], { encoding: 'utf8' });
  rmSync(directory, { recursive: true });
  if (error && 'code' in error && error.code === 'ENOENT') return;
  expect([status, stderr]).toEqual([0, '']);
});

const quoted = (text: string, quote: string): string[] => text.match(new RegExp(`${quote}[^${quote}]*${quote}|[^\\s,[\\]${quote}]+`, 'g'))!;
const commands: readonly (readonly [string, () => string])[] = [
  [UNIT, () => quoted(/^ExecStart=\S+ (.*)$/m.exec(readFile(UNIT))![1]!, '"').join('\n')],
  ['sync-cronjob.yaml', () => quoted(/args: \[(.*)\]$/m.exec(readFile('sync-cronjob.yaml'))![1]!, "'").join('\n')],
];

test.each(commands)('an operator who deploys %s follows the old service', (_file, readWords) =>
  withService(async (service, organization) => {
    service.gifts.push(gift());
    const provision = await writeSecret('provision', OLD_PROVISION);
    const words = readWords()
      .split('\n')
      .map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
      .map((word) => (word === 'Hope Foundation' ? organization : word === 'https://old.example.org' ? service.url : word))
      .map((word) => (word.endsWith('/provision') ? provision : word));
    expect(words).toEqual(expect.arrayContaining([organization, service.url, provision]));
    // One round is enough here.
    const every = words.indexOf('--every');
    if (every >= 0) words.splice(every, 2);
    expect(await runCommand(syncs.environment, [...words, '--since', day(-20)])).toMatchObject({ status: 0, stderr: '' });
    expect(await booksOf(organization)).toEqual(sourceOf(service));
  }),
);
