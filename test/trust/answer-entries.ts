import type { TrustEntry } from './catalogue';

/** The truth of answers: one moment, exact values, nothing taken for whole that is not. */
export const answerEntries: readonly TrustEntry[] = [
  {
    ...{ id: 'T39', subject: 'one moment', goal: 'an answer is of one state of the books, while others change them' },
    tests: {
      'report/deposit-summary.test.ts': ['all parts of an answer'],
      'report/long-reports.test.ts': ['all lines of an answer'],
      'graphql/data-versions.test.ts': [],
    },
  },
  {
    ...{ id: 'T43', subject: 'days', goal: 'in five time zones, from the year 1 to 9999, no date moves' },
    attack: 'time-zones',
  },
  {
    ...{ id: 'T44', subject: 'amounts and ids', goal: 'exact to the cent and to the last digit, or refused; never rounded' },
    tests: {
      'rows/line-totals.test.ts': [],
      'report/deposit-summary.test.ts': ['adds up exactly'],
      'cli/import-faults.test.ts': [],
      'cli/import-reading.test.ts': [],
    },
  },
  {
    ...{ id: 'T45', subject: 'what is not there', goal: 'v2 has every field, empty texts and donor 0; no null leaves it' },
    tests: {
      'rest/v2-answers.test.ts': ['gets the lines of a range byte for byte'],
      'report/random-histories.test.ts': ['what a model in memory tells'],
      'cli/import-and-export.test.ts': [],
    },
  },
  {
    ...{ id: 'T53', subject: 'answers that are cut', goal: 'every client sees that they are' },
    tests: { 'destructive/cut-answers.test.ts': [], 'http/content-coding.test.ts': ['breaks off'] },
  },
  {
    ...{ id: 'T54', subject: 'versions of the books', goal: 'each answer beside imports is of the version that it names' },
    attack: 'histories',
  },
  {
    ...{ id: 'T55', subject: 'sequences of imports', goal: 'they end with the lines of one import of the final books' },
    ...{ attack: 'histories', tests: { 'report/line-history.test.ts': [], 'report/random-histories.test.ts': [] } },
  },
  {
    ...{ id: 'T58', subject: 'states that the books had' },
    goal: 'each is answered again as it was then, on every door; the figures before and the changes add up to those after',
    tests: { 'report/past-states.test.ts': [], 'report/random-histories.test.ts': [], 'report/change-classes.test.ts': [] },
  },
  {
    ...{ id: 'T59', subject: 'copies that follow the books' },
    goal: '1,000 of them that crash, beside imports and prunes, end as the books are, byte for byte',
    ...{ attack: 'followers', tests: { 'export/followers.test.ts': [], 'export/pruned-states.test.ts': [] } },
    minutes: 5,
  },
  {
    ...{ id: 'T60', subject: 'webhooks whose receivers fail' },
    goal: 'of 100, half of them failing, none misses a version; the others are told within 2 s of the commit (p99)',
    ...{ attack: 'failing-receivers', tests: { 'webhooks/webhook-troubles.test.ts': [], 'webhooks/webhook-gateways.test.ts': [] } },
  },
  {
    ...{ id: 'T61', subject: 'donors who are erased' },
    goal: 'their texts are in no file, state, log, replica or restored backup',
    tests: { 'destructive/erased-files.test.ts': [], 'cli/erased-donors.test.ts': [] },
  },
  {
    ...{ id: 'T62', subject: 'agents' },
    goal: 'their tools read alone, tell no donor without the privilege, give at most 100 rows and have each answered call in the audit, equal ones of a minute as one entry',
    tests: {
      ...{ 'agents/agent-tools.test.ts': [], 'agents/agent-faults.test.ts': [] },
      ...{ 'agents/agent-files.test.ts': [], 'agents/agent-endings.test.ts': [] },
    },
  },
  {
    ...{ id: 'T63', subject: 'reports by mail' },
    goal: 'each recipient gets a period once, and nothing without the right; one mail comes twice where the server took it unheard, with the same id; no donor outside the file',
    tests: {
      ...{ 'mail/mail-contents.test.ts': [], 'mail/mail-recipients.test.ts': [] },
      ...{ 'mail/mail-servers.test.ts': [], 'mail/mail-turns.test.ts': [], 'mail/mail-twins.test.ts': [] },
    },
  },
  {
    ...{ id: 'T64', subject: 'feeds of OData' },
    goal: 'all pages are of one state and have the digest of the file; they tell no donor without the privilege, take no credential but the password, and a hostile filter is refused at once',
    tests: {
      ...{
        'odata/odata-feeds.test.ts': [],
        'odata/odata-rights.test.ts': [],
        'odata/odata-protocol.test.ts': [],
        'odata/odata-refusals.test.ts': [],
      },
    },
  },
];
