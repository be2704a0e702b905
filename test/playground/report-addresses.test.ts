import {
  chooseDonors,
  defaultChoices,
  findLack,
  findUnread,
  readAddress,
  toAddress,
  type ReportChoices,
} from '../../src/playground/web/choices/report-choices';
import { reportDefinitions, type ReportId } from '../../src/playground/web/choices/report-definitions';
import {
  findUnreadSaved,
  readSavedChoices,
  toSavedChoices,
  toSavedContent,
  toSavedQuery,
} from '../../src/playground/web/reports/saved-choices';

const ids = Object.keys(reportDefinitions) as ReportId[];

const full: ReportChoices = {
  ...defaultChoices('designations'),
  ...{ period: '2024-01-01..2024-02-29', pending: 'WITHOUT', compare: 'last-year', splitBy: 'MONTH' },
  ...{
    funds: [3, 12],
    donor: 7,
    giftDateFrom: '2023-12-30',
    giftDateTo: '2024-02-29',
    amountMin: '10.00',
    amountMax: '-1.50',
    deposit: 'A/B & C=1#?',
    state: '2026-10-31',
  },
  ...{ paymentTypes: ['ACH', 'Überweisung, eilig'], accountTypes: ['a b'], statuses: ['100%'] },
};

test.each(ids)('a link to the report %s leads to it', (id) => {
  expect(toAddress(defaultChoices(id))).toBe(`#reports/${id}`);
  expect(readAddress(`#reports/${id}`)).toEqual(defaultChoices(id));
});

test('a link holds all choices, and reads back as they were', () => {
  expect(readAddress(toAddress(full))).toEqual(full);
  expect(readSavedChoices({ query: toSavedQuery(full, { query: '{ viewer { username } }', variables: {}, list: '' }) })).toEqual(full);
});

test('a saved report has the period that programs get', () => {
  const query = toSavedQuery(defaultChoices('deposits'), { query: '{ viewer { username } }', variables: {}, list: '' });
  const variables = { startDate: '2026-03-01', endDate: '2026-03-31' };
  expect(readSavedChoices({ query, variables, period: 'LAST_WEEK' })?.period).toBe('last-week');
  expect(readSavedChoices({ query, variables, period: null })?.period).toBe('2026-03-01..2026-03-31');
  expect(readSavedChoices({ query })?.period).toBe('last-month');
});

test('a link and a saved report have the largest ids', () => {
  const largest = { ...defaultChoices('gifts'), funds: [1, Number.MAX_SAFE_INTEGER], donor: Number.MAX_SAFE_INTEGER };
  expect(readAddress(toAddress(largest))).toEqual(largest);
  const query = toSavedQuery(largest, { query: '{ viewer { username } }', variables: {}, list: '' });
  expect(readSavedChoices({ query })).toEqual(largest);
  expect([...findUnreadSaved(query)]).toEqual([]);
});

test('a saved report tells which of its choices cannot be read, and its address keeps them', () => {
  const query = '# Reports mode: #reports/gifts?fund=12&fund=9007199254740993&donor=x\n{ viewer { username } }';
  const choices = { ...defaultChoices('gifts'), funds: [12] };
  expect(readSavedChoices({ query })).toEqual(choices);
  const unread = findUnreadSaved(query);
  expect([...unread]).toEqual([
    ['fund', '9007199254740993'],
    ['donor', 'x'],
  ]);
  const address = toAddress(choices, unread);
  expect(readAddress(address)).toEqual(choices);
  expect(findUnread(address, choices).toString()).toBe(unread.toString());
  expect([...findUnreadSaved('{ viewer { username } }')]).toEqual([]);
});

test('a link holds the donors of a report, with the comparison that they need', () => {
  const donors = { ...defaultChoices('donors'), addresses: 'WITH' } as const;
  for (const [who, address] of [
    ['first-time', '#reports/donors?who=first-time&addresses=WITH'],
    ['lapsed', '#reports/donors?compare=last-year&who=lapsed&addresses=WITH'],
    ['both', '#reports/donors?compare=last-year&who=both&addresses=WITH'],
  ] as const) {
    const choices = chooseDonors(donors, who);
    expect(toAddress(choices)).toBe(address);
    expect(readAddress(address)).toEqual(choices);
    expect(findUnread(address, choices).toString()).toBe('');
  }
  const least: ReportChoices = { ...donors, who: 'at-least', givenMin: '250.00', compare: 'before' };
  expect(readAddress(toAddress(least))).toEqual(least);
  expect(readAddress('#reports/donors?who=lapsed')?.compare).toBe('last-year');
  const first = readAddress('#reports/donors?who=first-time&compare=before')!;
  expect([first.compare, findUnread('#reports/donors?who=first-time&compare=before', first).toString()]).toEqual(['off', 'compare=before']);
  // Other reports have no such choice.
  for (const id of ['donor', 'designations'] as const)
    expect(readAddress(`#reports/${id}?who=lapsed&givenMin=250.00&addresses=WITH`)).toEqual(defaultChoices(id));
  for (const wrong of ['who=toString', 'givenMin=250.00', 'addresses=yes'])
    expect(readAddress(`#reports/donors?${wrong}`)).toEqual(defaultChoices('donors'));
});

test('donors of two periods bring a comparison, and take it with them', () => {
  const lapsed = chooseDonors(defaultChoices('donors'), 'lapsed');
  expect(chooseDonors(lapsed, 'everybody')).toEqual(defaultChoices('donors'));
  const before = chooseDonors({ ...lapsed, compare: 'before' }, 'both');
  expect([before.compare, chooseDonors(before, 'first-time').compare]).toEqual(['before', 'off']);
  const compared: ReportChoices = { ...defaultChoices('donors'), compare: 'before' };
  const least: ReportChoices = { ...chooseDonors(compared, 'at-least'), givenMin: '250.00' };
  expect([least.compare, chooseDonors(least, 'everybody')]).toEqual(['before', compared]);
  expect(readAddress('#reports/donors?who=at-least&givenMin=250')).toEqual(chooseDonors(defaultChoices('donors'), 'at-least'));
});

test('a report of donors waits for what they are found by', () => {
  const donors = defaultChoices('donors');
  expect(findLack(donors)).toBeUndefined();
  expect(findLack(chooseDonors(donors, 'at-least'))).toBe('givenMin');
  expect(findLack({ ...chooseDonors(donors, 'at-least'), givenMin: '0.00', period: 'all-time' })).toBeUndefined();
  for (const who of ['first-time', 'lapsed', 'both'] as const) {
    expect(findLack(chooseDonors(donors, who))).toBeUndefined();
    expect(findLack({ ...chooseDonors(donors, who), period: 'all-time' })).toBe('period');
  }
});

test('donors of two periods are saved with the dates of both', () => {
  const lapsed = chooseDonors(defaultChoices('donors'), 'lapsed');
  const year = { startDate: '2026-01-01', endDate: '2026-12-31' };
  const before = { startDate: '2025-01-01', endDate: '2025-12-31', isByMonths: true };
  const saved = { ...lapsed, period: '2026-01-01..2026-12-31' };
  expect(toSavedChoices({ choices: lapsed, period: year, compared: before })).toEqual(saved);
  const document = { query: '{ viewer { username } }', variables: { ...year, compareWith: before }, list: '' };
  expect(toSavedContent(saved, document)).toEqual({ query: toSavedQuery(saved, document), variables: document.variables });
  expect(readSavedChoices(toSavedContent(saved, document))).toEqual(saved);
  // The same days of a quarter before are no quarter before, once the two have their dates alone.
  const toDate: ReportChoices = { ...lapsed, period: 'quarter-to-date', compare: 'before' };
  const quarters = {
    period: { startDate: '2026-10-01', endDate: '2026-11-22' },
    compared: { ...before, startDate: '2026-07-01', endDate: '2026-08-22' },
  };
  expect(toSavedChoices({ choices: toDate, ...quarters })).toEqual({
    ...toDate,
    period: '2026-10-01..2026-11-22',
    compare: '2026-07-01..2026-08-22',
  });
  // A named period moves the beginning by which first gifts are found.
  const first = chooseDonors(defaultChoices('donors'), 'first-time');
  expect(toSavedChoices({ choices: first, period: year, compared: undefined })).toBe(first);
  expect(toSavedContent(first, { ...document, variables: year })).toEqual({
    ...{ query: toSavedQuery(first, document), variables: {}, period: 'THIS_YEAR' },
  });
});

test('a link to no report leads nowhere', () => {
  for (const hash of ['', '#', '#graphql', '#reports', '#reports/', '#reports/constructor', '#query=x'])
    expect(readAddress(hash)).toBeUndefined();
});

test('a link with values that are not there leaves the defaults', () => {
  const wrong =
    '#reports/largest?period=2024-13-01..x&pending=ALL&compare=toString&splitBy=DONOR&limit=7&fund=x&donor=-1&amountMin=1&amountMax=1e9&state=0';
  expect(readAddress(wrong)).toEqual(defaultChoices('largest'));
  expect(readAddress('#reports/gifts?giftDateFrom=2024-02-30&giftDateTo=24-01-01')).toEqual(defaultChoices('gifts'));
  // A condition would leave parts of deposits, which no bank statement has.
  expect(readAddress('#reports/bank-tie-out?giftDateFrom=2024-02-01')).toEqual(defaultChoices('bank-tie-out'));
  expect(readAddress('#reports/bank-tie-out?amountMin=100.00&donor=5')).toEqual(defaultChoices('bank-tie-out'));
  expect(readAddress('#reports/year-end?donor=5&amountMin=500.00')).toEqual({ ...defaultChoices('year-end'), donor: 5 });
  for (const amount of ['007.00', '-0.00']) expect(readAddress(`#reports/gifts?amountMin=${amount}`)).toEqual(defaultChoices('gifts'));
  // Pending money is always pending.
  expect(readAddress('#reports/pending?pending=WITH')).toEqual(defaultChoices('pending'));
});
