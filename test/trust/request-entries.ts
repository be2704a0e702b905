import type { TrustEntry } from './catalogue';

/** Requests that are proper, wrong or hostile. */
export const requestEntries: readonly TrustEntry[] = [
  {
    ...{
      id: 'T01',
      subject: 'GraphQL over HTTP',
      goal: '59 of 61 audits of graphql-http pass, by cookie, by bearer and by API provision; two want the statuses of an older edition',
    },
    tests: { 'graphql/http-audits.test.ts': ['passes an audit', 'asks in all 61'], 'graphql/http-edition.test.ts': [] },
  },
  {
    ...{
      id: 'T02',
      subject: 'clients and caches of GraphQL',
      goal: "Apollo's suite passes but for incremental delivery, one text, five statuses; Apollo Client, urql, Relay and graphql-request work as the documents show",
    },
    tests: {
      'graphql/apollo-integration.test.ts': [],
      'graphql/client-libraries.test.ts': [],
      'graphql/client-statuses.test.ts': [],
      'graphql/client-caches.test.ts': [],
      'graphql/trusted-document-clients.test.ts': [],
    },
  },
  {
    ...{
      id: 'T03',
      subject: 'ambiguous HTTP',
      goal: 'two hosts, folded lines, lengths beside chunks, too many headers: refused in JSON, none guessed',
    },
    tests: { 'http/http-hardening.test.ts': ['a request that is no proper HTTP'] },
  },
  {
    ...{
      id: 'T04',
      subject: 'bodies that cannot be taken',
      goal: 'broken, large, compressed or foreign bodies are refused in JSON, and take at most 20 MB',
    },
    tests: { 'http/http-hardening.test.ts': ['a body that cannot be taken'] },
  },
  {
    ...{
      id: 'T05',
      subject: 'provisions that are wrong',
      goal: 'missing, unknown, misspelt and repeated ones have the texts of v2; a right one comes back as it was sent',
    },
    tests: { 'access/access-order.test.ts': ['a provision'], 'access/provision-bounds.test.ts': ['a provision is echoed'] },
  },
  {
    ...{ id: 'T06', subject: 'order of the checks', goal: 'whoever has several things wrong is told of the first, the same on every door' },
    tests: {
      'access/access-order.test.ts': ['a caller with several things wrong'],
      'http/data-source-failures.test.ts': ['does not keep sessions'],
    },
  },
  {
    ...{ id: 'T07', subject: 'hosts', goal: 'the Host header alone counts, and headers of a proxy that is named; no spoof is taken' },
    tests: { 'access/access-order.test.ts': ['an organization with hosts'] },
  },
  {
    ...{ id: 'T08', subject: 'sessions that are wrong', goal: 'no, foreign, old and ended sessions open nothing' },
    tests: { 'access/access-order.test.ts': ['a session'] },
  },
  {
    ...{
      id: 'T09',
      subject: 'parameters of the report',
      goal: 'wrong ones are refused as v2 says; none of 20,000 random ones makes a failure',
    },
    tests: {
      'rest/v2-answers.test.ts': ['a report with wrong parameters'],
      'http/http-hardening.test.ts': ['as a query of the report', 'as a raw query string'],
    },
  },
  {
    ...{ id: 'T10', subject: 'other methods and paths', goal: '404 and 405 in the form of v2; HEAD as GET without a body' },
    tests: { 'rest/v2-answers.test.ts': ['a request that is no v2 request', 'gets the headers of a HEAD'] },
  },
  {
    ...{
      id: 'T11',
      subject: 'failures of the database',
      goal: 'the texts of v2 and a time to come back; no SQL, address or name of a table',
    },
    tests: { 'http/data-source-failures.test.ts': [] },
  },
  {
    ...{ id: 'T12', subject: 'operations that cost much', goal: '33 hostile operations are refused in at most 100 ms and 2 kB each' },
    ...{
      attack: 'probes',
      tests: { 'graphql/refused-operations.test.ts': ['an operation beyond the limits'], 'access/unknown-callers.test.ts': [] },
    },
  },
  {
    ...{
      id: 'T13',
      subject: 'the twelve checks of graphql-cop',
      goal: "0 without credentials; 1 with a page's provision, a GET that no other site can send",
    },
    attack: 'auditor',
  },
  {
    ...{ id: 'T14', subject: 'introspection', goal: 'closed to strangers in every form, without hints in messages; open to members' },
    tests: {
      'graphql/refused-operations.test.ts': ['introspection'],
      'graphql/partial-answers.test.ts': ['is not put right', 'is put right for nobody'],
    },
  },
  {
    ...{
      id: 'T15',
      subject: 'requests of other sites',
      goal: 'nothing that a browser sends unasked runs anything, though the cookie comes along',
    },
    tests: { 'graphql/refused-operations.test.ts': ['a request that could come from another site'], 'http/cross-origin.test.ts': [] },
  },
  {
    ...{ id: 'T16', subject: 'pages and cost', goal: 'lengths out of range and changed cursors are refused; no answer goes over its cost' },
    tests: {
      'graphql/line-pages.test.ts': ['a cursor', 'a wrong page or filter'],
      'graphql/operation-cost.test.ts': [],
      'graphql/cost-budgets.test.ts': [],
    },
  },
  {
    ...{ id: 'T17', subject: 'random operations', goal: '10,000 valid and 10,000 damaged ones: no failure, no leak' },
    tests: { 'graphql/generated-queries.test.ts': [], 'http/http-hardening.test.ts': ['as an operation brings down'] },
  },
  {
    ...{ id: 'T18', subject: 'failures inside', goal: 'no answer and no log line repeats what the database says, nor tells of the inside' },
    ...{ attack: 'masked-failures', tests: { 'http/http-hardening.test.ts': ['a failure inside is masked'] } },
  },
  {
    ...{
      id: 'T19',
      subject: 'objects in place of values',
      goal: 'arguments are typed, no condition widens a list, and SQL has parameters only',
    },
    tests: { 'graphql/entity-lists.test.ts': [], 'graphql/frontend-queries.test.ts': [], 'architecture/architecture.test.ts': [] },
  },
  {
    ...{
      id: 'T46',
      subject: 'SQL in texts',
      goal: '20 payloads in every text that a caller may send: none runs, none fails in the database',
    },
    attack: 'sql-payloads',
  },
  {
    ...{ id: 'T49', subject: 'strangers who ask much', goal: '/live has a p99 of at most 50 ms beside 50 of them' },
    ...{ attack: 'anonymous', minutes: 5 },
  },
  {
    ...{ id: 'T50', subject: 'the worst accepted operation', goal: 'a search finds none that keeps others waiting for more than 100 ms' },
    ...{ attack: 'worst-operation', minutes: 4 },
  },
];
