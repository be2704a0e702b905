import type { TrustEntry } from './catalogue';

/** Callers who leave, disks that fill, processes that are killed, and more work than there is room for. */
export const failureEntries: readonly TrustEntry[] = [
  {
    ...{ id: 'T29', subject: 'callers who leave', goal: 'the database stops reading within a second' },
    ...{ attack: 'left-answers', tests: { 'report/long-reports.test.ts': ['is cancelled'] } },
  },
  {
    ...{
      id: 'T30',
      subject: 'stops',
      goal: '21 stops reset no request and cut no report within the grace time; exit status 0, or 1 when one was cut',
    },
    ...{ attack: 'stop-rounds', minutes: 8, tests: { 'destructive/shutdown.test.ts': [], 'http/stopped-gateway.test.ts': [] } },
  },
  {
    ...{ id: 'T31', subject: 'kills', goal: 'of 50 kills none loses an acknowledged write; ready again within 5 s' },
    ...{ attack: 'killed-writes', minutes: 8, tests: { 'cli/killed-imports.test.ts': [] } },
  },
  {
    ...{
      id: 'T32',
      subject: 'one data directory, two gateways',
      goal: 'the second is refused with the number of the first; a lock of the dead is taken over',
    },
    tests: { 'destructive/embedded-database.test.ts': ['is refused the directory', 'takes over from one', 'runs a database for itself'] },
  },
  {
    ...{
      id: 'T33',
      subject: 'a full disk',
      goal: 'writes fail within 2 s and go on within 5 s of space; /live within 100 ms; nothing acknowledged is lost',
    },
    attack: 'full-disk',
  },
  {
    ...{
      id: 'T34',
      subject: 'restarts of PostgreSQL, and a standby that takes over',
      goal: 'good answers within 1 s of the restart, and within 5 s of the promotion',
    },
    attack: 'restarts',
  },
  {
    ...{
      id: 'T35',
      subject: 'a bad network to the database',
      goal: 'answers within 3.5 s with the texts of v2; no connection is left over',
    },
    ...{ attack: 'faulty-network', minutes: 5 },
  },
  {
    ...{
      id: 'T36',
      subject: 'more work than there is room for',
      goal: 'waits end within 3.5 s, 90 % of the peak is served, others are turned away within 50 ms, health within 100 ms',
    },
    ...{ attack: 'saturation', minutes: 4, tests: { 'report/report-queue.test.ts': [] } },
  },
  {
    ...{ id: 'T37', subject: 'slow readers', goal: '20 of them take at most 64 MB and are let go; others wait at most twice as long' },
    ...{ attack: 'slow-readers', tests: { 'report/fair-queue.test.ts': ['a reader'] } },
  },
  {
    ...{
      id: 'T38',
      subject: 'slow senders',
      goal: '500 slow headers, 500 slow bodies and 2,000 silent connections are closed within 10 s; others are served',
    },
    attack: 'slow-requests',
  },
  {
    ...{ id: 'T40', subject: 'a busy embedded database', goal: '/live has a p99 of at most 50 ms, and waits end within 3.5 s' },
    attack: 'busy-database',
  },
  {
    ...{
      id: 'T41',
      subject: 'hours of work',
      goal: 'memory ends within 50 MB of where it stood after five minutes; files and connections do not grow',
    },
    ...{ attack: 'soak', minutes: 45 },
  },
  {
    ...{
      id: 'T42',
      subject: 'starts that cannot be',
      goal: 'each is told in a line that names the setting; a database that is away is waited for',
    },
    tests: {
      'cli/settings.test.ts': [],
      'cli/database-commands.test.ts': [],
      'http/data-source-failures.test.ts': ['that cannot be reached', 'that was not migrated'],
    },
  },
  {
    ...{
      id: 'T47',
      subject: 'an organization that asks for years',
      goal: 'none of the day reports of another is refused; p99 at most twice the time of a year',
    },
    attack: 'starvation',
  },
  {
    ...{ id: 'T48', subject: 'an organization whose readers sip', goal: 'as T47' },
    attack: 'trickle',
  },
  {
    ...{ id: 'T52', subject: 'stops under clients that do not care', goal: '0 of their requests are reset' },
    attack: 'stop',
  },
];
