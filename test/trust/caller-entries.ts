import type { TrustEntry } from './catalogue';

/** The promises on access, and on the secrets that prove it. */
export const callerEntries: readonly TrustEntry[] = [
  {
    ...{ id: 'T20', subject: 'the session cookie', goal: 'HttpOnly, SameSite, and over https Secure and __Host-' },
    tests: { 'access/logins.test.ts': ['sets a cookie'], 'http/cross-origin.test.ts': ['the session cookie'] },
  },
  {
    ...{ id: 'T21', subject: 'ends of sessions', goal: 'a new login, a logout, the time and a disabled user end them; none survives' },
    tests: {
      'access/access-order.test.ts': [
        'ends when idle',
        'ends at its absolute time',
        'ends at logout',
        'ends when its',
        'of a disabled user',
      ],
      'access/ended-rights.test.ts': [],
    },
  },
  {
    ...{ id: 'T22', subject: 'credentials at rest', goal: 'none of those of a day is in the database or the log, in any form' },
    ...{
      attack: 'leaked-dump',
      tests: { 'access/logins.test.ts': ['leaves nothing in the database but hashes', 'is written into no log'] },
    },
  },
  {
    ...{
      id: 'T23',
      subject: 'time of answers',
      goal: "Welch's t below 4.5 for provisions, tokens and users; a planted difference of 20 µs is found",
    },
    ...{ attack: 'timing', minutes: 6 },
  },
  {
    ...{
      id: 'T24',
      subject: 'guesses',
      goal: '60 provisions in a minute and 10 passwords of an address are tried; an application beside it has a p99 of 100 ms',
    },
    ...{ attack: 'guessing', tests: { 'access/provision-guesses.test.ts': [], 'access/login-lockout.test.ts': [] } },
  },
  {
    ...{
      id: 'T25',
      subject: 'headers of every answer',
      goal: 'every path, method and caller: not stored, not sniffed, not framed; a cache before the gateway gives nobody the answer of another',
    },
    ...{ attack: 'every-answer', tests: { 'http/http-hardening.test.ts': ['every answer'], 'http/playground-page.test.ts': [] } },
  },
  {
    ...{ id: 'T26', subject: 'donors in the log', goal: 'no text of a donor is in a log line, whatever is asked and fails' },
    ...{
      attack: 'leaked-dump',
      tests: {
        'http/http-hardening.test.ts': ['an operator finds no donor in the log'],
        'export/download-links.test.ts': ['is in no line of the log'],
      },
    },
  },
  {
    ...{ id: 'T27', subject: 'formulas in names', goal: 'no cell of a CSV file computes, and amounts stay numbers' },
    ...{
      attack: 'spreadsheet',
      tests: { 'rows/rendered-rows.test.ts': ['reach a reader of CSV'], 'cli/export-command.test.ts': ['finds no formula'] },
    },
  },
  {
    ...{
      id: 'T28',
      subject: 'who may read what',
      goal: 'every way through the schema by every kind of caller: no value outside its grants',
    },
    tests: { 'access/access-matrix.test.ts': [] },
  },
  {
    ...{ id: 'T51', subject: 'lockouts', goal: 'guessers shut nobody else out' },
    attack: 'lockout',
  },
  {
    ...{ id: 'T56', subject: 'a dump of the database', goal: 'nothing in it opens anything, and donors stand in the books alone' },
    attack: 'leaked-dump',
  },
  {
    ...{ id: 'T57', subject: 'the audit', goal: 'every reading has a row; one that is changed, added or missing is named' },
    tests: {
      'access/audited-reads.test.ts': [],
      'access/audit-chain.test.ts': [],
      'destructive/audit-durability.test.ts': [],
      'destructive/audit-writer.test.ts': [],
    },
  },
];
