import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { BookModel } from '../support/book-model';
import { compare, toCents, toMoney, type BookLine } from '../support/book-entities';
import { Chance, KEEPING, USUAL } from '../support/book-steps';
import { createExportReader } from '../support/export-reader';
import { openGateway } from '../support/open-gateway';
import { takeStep, type History } from '../support/step-runner';
import { historySeeds } from '../support/tries';

const gateway = openGateway();
const reader = createExportReader(gateway);

interface Accounts {
  readonly bank: string;
  readonly fees: string;
  readonly funds: Readonly<Record<number, string>>;
}
/** The savings of accounts, by their numbers. Two funds have one account; the second saving moves the bank and funds to other accounts. */
const SAVINGS: readonly Accounts[] = [
  { bank: '1000', fees: '6000', funds: { 1: '4010', 2: '4020', 3: '4010' } },
  { bank: '1001', fees: '6000', funds: { 1: '4010', 2: '4010', 3: '4030' } },
  { bank: '6000', fees: '4020', funds: { 1: '4020', 2: '4020', 3: '1000' } },
];
const QUESTIONS = 20;
const TIMEOUT_MS = 600_000;

interface Period {
  readonly startDate: string;
  readonly endDate: string;
}
/** The dates and the accounts of a journal, by their number. */
interface Books {
  readonly period: Period;
  readonly accounts: number;
}
/** The cents of a deposit by account: debits are positive. */
interface Deposit {
  readonly accounts: Map<string, number>;
  /** The order of the accounts: the bank, the fees, the funds. */
  readonly ranks: Map<string, number>;
  amount: number;
  shares: number;
}

async function createHistory(): Promise<History> {
  const { organizations, provisions, journalAccounts } = gateway.services;
  const { id, name } = await organizations.create(`Journal ${++created}`, []);
  const apiProvision = await provisions.create({ organization: name, kind: 'API', label: '', grants: [REPORT_PRIVILEGE] });
  for (const saving of SAVINGS) {
    const funds = Object.entries(saving.funds).map(([fund, account]) => ({ designationId: Number(fund), account }));
    await journalAccounts.save(id, { ...saving, funds }, { name: null });
  }
  return { services: gateway.services, organization: { id, name, apiProvision, webProvision: '', username: '' }, model: new BookModel() };
}
let created = 0;

/** The posted deposits of a journal, by their dates and ids. */
function depositsOf(lines: readonly BookLine[], { period: { startDate, endDate }, accounts: number }: Books): Map<string, Deposit> {
  const { bank, fees, funds } = SAVINGS[number - 1]!;
  const deposits = new Map<string, Deposit>();
  const gifts = new Set<string>();
  for (const line of lines) {
    const { deposit_date: date, deposit_id, deposit_status, transaction_id } = line;
    if (deposit_status !== 'posted' || date < startDate || date > endDate) continue;
    const key = JSON.stringify([date, deposit_id]);
    const deposit = deposits.get(key) ?? { accounts: new Map<string, number>(), ranks: new Map<string, number>(), amount: 0, shares: 0 };
    deposits.set(key, deposit);
    const add = (rank: number, account: string, cents: number) => {
      deposit.accounts.set(account, (deposit.accounts.get(account) ?? 0) + cents);
      deposit.ranks.set(account, Math.min(rank, deposit.ranks.get(account) ?? rank));
    };
    if (!gifts.has(transaction_id)) {
      deposit.amount += toCents(line.amount);
      add(0, bank, toCents(line.amount) - toCents(line.fee_amount));
      add(1, fees, toCents(line.fee_amount));
    }
    gifts.add(transaction_id);
    const share = line.allocation_amount === null ? 0 : toCents(line.allocation_amount);
    deposit.shares += share;
    add(2, funds[line.designation_id]!, -share);
  }
  return deposits;
}

/** A period from one day of two states to the same or another one. Long ones often have a deposit that does not add up. */
function pickPeriod(chance: Chance, lines: readonly BookLine[]): Period {
  if (lines.length === 0 || chance.is(10)) return { startDate: '0001-01-01', endDate: '9999-12-31' };
  const dates = [0, 0].map(() => chance.pick(lines).deposit_date).sort() as [string, string];
  return { startDate: dates[0], endDate: chance.is(60) ? dates[0] : dates[1] };
}

type Row = readonly [id: string, date: string, account: string, debit: string, credit: string];

/** The journal that the model says: its rows, or the deposits that do not add up. */
function foretell(then: ReadonlyMap<string, Deposit>, now: ReadonlyMap<string, Deposit>, suffix: string) {
  const rows: Row[] = [];
  const faulty: string[] = [];
  const keys = [...new Set([...then.keys(), ...now.keys()])].map((key) => JSON.parse(key) as [date: string, id: string]);
  keys.sort(([date, id], [otherDate, otherId]) => compare(date, otherDate) || compare(id, otherId));
  for (const [date, id] of keys) {
    const [before, after] = [then, now].map((deposits) => deposits.get(JSON.stringify([date, id])));
    const accounts = [...new Set([...(before?.accounts.keys() ?? []), ...(after?.accounts.keys() ?? [])])];
    const rankOf = (account: string): number => Math.min(...[before, after].map((deposit) => deposit?.ranks.get(account) ?? 2));
    const parts = accounts.map((account) => [account, (after?.accounts.get(account) ?? 0) - (before?.accounts.get(account) ?? 0)] as const);
    const changed = parts.filter(([, cents]) => cents !== 0);
    if (changed.length === 0) continue;
    if ([before, after].some((deposit) => deposit && deposit.amount !== deposit.shares)) faulty.push(id);
    const isReversal = suffix !== '' && !after;
    const entry = `deposit-${id}-${date.replaceAll('-', '')}${suffix}${isReversal ? '-reversal' : ''}`;
    const ranked = changed.sort(([one], [other]) => rankOf(one) - rankOf(other) || compare(one, other));
    for (const [account, cents] of ranked)
      rows.push([entry, date, account, cents > 0 ? toMoney(cents) : '', cents < 0 ? toMoney(-cents) : '']);
  }
  return { rows, faulty };
}

const formatBooked = ({ period: { startDate, endDate }, accounts }: Books): string =>
  `&since_start_date=${startDate}&since_end_date=${endDate}&since_accounts=${accounts}`;

async function ask({ organization }: History, { period: { startDate, endDate }, accounts }: Books, more: string) {
  const columns = 'columns=entry_id,date,account,debit,credit';
  const path = `/export/journal.csv?start_date=${startDate}&end_date=${endDate}&accounts=${accounts}&${columns}${more}`;
  const { status, body, headers } = await reader.get(path, { Provision: organization.apiProvision });
  if (status !== 200) return { status, text: body.toString(), rows: undefined, headers };
  const [, ...lines] = body.toString().split('\r\n').slice(0, -1);
  return { status, text: '', headers, rows: lines.map((line) => line.replaceAll('"', '').split(',') as unknown as Row) };
}

/** The cents by deposit, date and account of some journals together. */
function addUp(...journals: (readonly Row[])[]): object {
  const sums = new Map<string, number>();
  for (const [entry, date, account, debit, credit] of journals.flat()) {
    const key = `${entry.replace(/@.*/, '')} ${date} ${account}`;
    sums.set(key, (sums.get(key) ?? 0) + toCents(debit || '0') - toCents(credit || '0'));
  }
  return Object.fromEntries([...sums].filter(([, cents]) => cents !== 0).sort(([one], [other]) => compare(one, other)));
}

test(
  'a journal and its difference to another journal are that journal, in random histories, periods and accounts',
  async () => {
    let differences = 0;
    for (const seed of historySeeds(6)) {
      const chance = new Chance(seed);
      const history = await createHistory();
      const { model } = history;
      const choice = chance.pick([KEEPING, USUAL]);
      while (model.version < 5) await takeStep(history, chance, choice);
      for (let question = 0; question < QUESTIONS; question++) {
        const [one, other] = [0, 0].map(() => model.earliest + chance.below(model.version - model.earliest + 1));
        const [from, to] = [Math.min(one!, other!), Math.max(one!, other!)];
        const pick = (): Books => ({
          period: pickPeriod(chance, [...model.linesAt(from), ...model.linesAt(to)]),
          accounts: 1 + chance.below(SAVINGS.length),
        });
        const asked = pick();
        const booked = chance.is(30) ? asked : pick();
        const then = depositsOf(model.linesAt(from), booked);
        const now = depositsOf(model.linesAt(to), asked);
        const isOther = booked !== asked;
        const since = `&since=${from}${isOther ? formatBooked(booked) : ''}`;
        const state = to === model.version && chance.is(50) ? '' : `&as_of=${to}`;
        const cases = [
          [booked, `&as_of=${from}`, foretell(new Map(), then, '')],
          [asked, state, foretell(new Map(), now, '')],
          [
            asked,
            `${since}${state}`,
            foretell(then, now, `@${to}${booked.accounts === asked.accounts ? '' : `-accounts-${asked.accounts}`}`),
          ],
        ] as const;
        const found: (readonly Row[] | undefined)[] = [];
        for (const [books, more, { rows, faulty }] of cases) {
          const journal = await ask(history, books, more);
          found.push(journal.rows);
          if (faulty.length > 0)
            expect([seed, more, journal]).toMatchObject([
              seed,
              more,
              { status: 409, text: expect.stringContaining(`deposit ${faulty[0]} `) as unknown },
            ]);
          else expect([seed, more, journal.rows ?? journal.text]).toEqual([seed, more, rows]);
        }
        const [whole, later, difference] = found;
        if (!whole || !later || !difference) continue;
        differences += difference.length;
        expect([seed, addUp(whole, difference)]).toEqual([seed, addUp(later)]);
      }
    }
    expect(differences).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
