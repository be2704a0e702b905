import { lineFields, lineNames } from '../../src/line/line-fields';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { digestOf, BookModel, moneyDigestOf } from '../support/book-model';
import { toMoney, type BookLine } from '../support/book-entities';
import { Chance, type StepChoice } from '../support/book-steps';
import { ask, numbersOf, readChanges, type Summary } from '../support/changes';
import { createExportReader, sha256 } from '../support/export-reader';
import { Follower } from '../support/follower';
import { type TestOrganization } from '../support/gateway';
import { add, changesOf, CLASSES, effectsOf, figuresOf, type Compared, type Figures, type LineChange } from '../support/line-changes';
import { openGateway } from '../support/open-gateway';
import { takeStep, type History } from '../support/step-runner';
import { historySeeds, tries } from '../support/tries';

const gateway = openGateway();
const reader = createExportReader(gateway);

const EVER = 'start_date=0001-01-01&end_date=9999-12-31&pending=WITH';
const AT_ONCE = 4;
const PAIRS = 3;

/** The sets of lines, each as arguments and as a condition. */
const SETS: readonly (readonly [args: string, isInside: (line: BookLine) => boolean])[] = [
  ['pending: WITH', () => true],
  ['pending: WITHOUT', ({ deposit_status }) => deposit_status === 'posted'],
  [
    'pending: WITH, startDate: "2024-01-31", endDate: "2024-02-20"',
    ({ deposit_date: date }) => date >= '2024-01-31' && date <= '2024-02-20',
  ],
  [
    'pending: ONLY, dateBasis: TRANSACTION_DATE, startDate: "2024-01-05"',
    ({ deposit_status, transaction_date }) => deposit_status === 'pending' && transaction_date >= '2024-01-05',
  ],
  ['pending: WITH, filter: { designationIds: [1] }', ({ designation_id }) => designation_id === 1],
  ['pending: WITH, filter: { donorName: "müller" }', ({ donor_last_name }) => donor_last_name.startsWith('Müller')],
  ['pending: WITH, filter: { paymentTypes: ["Check"] }', ({ payment_type }) => payment_type === 'Check'],
  [
    'pending: WITH, filter: { depositIds: ["D1", "D2"], amount: { min: "0.01" } }',
    ({ deposit_id, amount }) => ['D1', 'D2'].includes(deposit_id) && Number(amount) > 0,
  ],
];

/** A history, with the bytes of each state as they were when it was the newest. */
interface Lived extends History {
  readonly chance: Chance;
  readonly texts: Map<number, string>;
}

async function createBooks(): Promise<TestOrganization> {
  const { organizations, provisions } = gateway.services;
  const { id, name } = await organizations.create(`History ${++created}`, []);
  const apiProvision = await provisions.create({ organization: name, kind: 'API', label: '', grants: [REPORT_PRIVILEGE] });
  return { id, name, apiProvision, webProvision: '', username: '' };
}
let created = 0;

const get = ({ organization }: History, path: string) => reader.get(`/export/${path}`, { Provision: organization.apiProvision });

/** Lives through a history: after each step the newest state is what the model says, and a follower has it. */
async function live(chance: Chance): Promise<Lived> {
  const history = { services: gateway.services, organization: await createBooks(), model: new BookModel() };
  const { model } = history;
  const texts = new Map<number, string>();
  const follower = new Follower(reader, history.organization);
  for (let steps = 4 + chance.below(5); steps > 0; steps--) {
    const before = model.version;
    await takeStep(history, chance);
    // The texts of a donor leave the states before, too.
    if (model.forgotten.size > 0) for (const version of texts.keys()) texts.set(version, model.fileAt(version));
    if (model.version === 0 || (model.version === before && chance.is(70))) continue;
    const { body, headers } = await get(history, `deposit-details.ndjson?${EVER}&columns=all,late`);
    expect([headers['x-data-version'], body.toString()]).toEqual([String(model.version), model.fileAt(model.version)]);
    texts.set(model.version, body.toString());
    if (follower.place === '') await follower.begin();
    else if (chance.is(50)) await follower.follow();
  }
  if (follower.place !== '') await follower.follow();
  expect(follower.text).toEqual(model.version === 0 ? [] : await follower.books());
  return { ...history, chance, texts };
}

async function checkStates(lived: Lived): Promise<void> {
  const { model, texts, chance } = lived;
  for (const [version, text] of texts) {
    const { status, body, trailers } = await get(lived, `deposit-details.ndjson?${EVER}&columns=all,late&as_of=${version}`);
    if (version < model.earliest) expect([version, status]).toEqual([version, 410]);
    else {
      expect([version, body.toString()]).toEqual([version, text]);
      expect([version, trailers['x-closed-through'] ?? null]).toEqual([version, model.closedThrough(version)]);
    }
  }
  const version = model.earliest + chance.below(model.version - model.earliest + 1);
  const late = await get(lived, `deposit-details.ndjson?${EVER}&columns=allocation_id&late=true&as_of=${version}`);
  const expected = model.linesAt(version).filter((line) => model.isLate(line, version));
  expect(late.body.toString()).toBe(expected.map(({ allocation_id }) => `{"allocation_id":"${allocation_id}"}\n`).join(''));
}

/** Checks what no door tells: the gifts and deposits without a line, the versions of the money of lines, and those that emptied texts. */
async function checkBooks({ model, organization: { id }, services, chance }: Lived): Promise<void> {
  expect(await services.books.check(id)).toMatchObject({
    ...{ differences: 0, first: [], versionsAreWhole: true, totalsAgree: true, unsearchableDonors: 0 },
  });
  const version = model.earliest + chance.below(model.version - model.earliest + 1);
  const { rows } = await gateway.database.client.query<
    Record<'lines' | 'erased', object | null> & Record<'gifts' | 'deposits', string[] | null>
  >(
    `SELECT (SELECT json_object_agg(allocation_id, money_since) FROM deposit_line WHERE organization_id = $1 AND until = $2) AS lines,
       (SELECT json_object_agg(allocation_id, erased_version) FROM deposit_line
        WHERE organization_id = $1 AND since <= $3 AND until > $3 AND erased_version IS NOT NULL) AS erased,
       (SELECT json_agg(id ORDER BY id) FROM transaction WHERE organization_id = $1) AS gifts,
       (SELECT json_agg(id ORDER BY id) FROM deposit WHERE organization_id = $1) AS deposits`,
    [id, Number.MAX_SAFE_INTEGER, version],
  );
  expect([rows[0]!.lines ?? {}, rows[0]!.erased ?? {}, rows[0]!.gifts ?? [], rows[0]!.deposits ?? []]).toEqual([
    Object.fromEntries(model.states.at(-1)!.moneySince),
    Object.fromEntries(model.states[version - 1]?.erased ?? []),
    [...model.books.gifts.keys()].sort(),
    [...model.books.deposits.keys()].sort(),
  ]);
}

interface Month {
  readonly startDate: string;
  readonly endDate: string;
  readonly lines: number;
  readonly digest: string;
  readonly moneyDigest: string;
}

/** Checks the figures that each close has kept: they are those of its state, and its lines have them today. */
async function checkCloses({ model, organization, ...lived }: Lived): Promise<void> {
  if (model.closes.length === 0) return;
  const { body } = await ask(
    gateway,
    organization,
    '{ periodCloses(first: 50) { nodes { version through months { startDate endDate lines digest moneyDigest } } } }',
  );
  const { nodes } = body.data!.periodCloses as { nodes: { version: number; through: string; months: Month[] }[] };
  expect(nodes.map(({ version, through }) => [version, through])).toEqual(
    model.closes.map(({ version, through }) => [version, through]).reverse(),
  );
  for (const { version, months } of nodes) {
    for (const { startDate, endDate, ...figures } of months) {
      const isInside = ({ deposit_date: date, deposit_status }: BookLine): boolean =>
        date >= startDate && date <= endDate && deposit_status === 'posted';
      const lines = model.linesAt(version).filter(isInside);
      const digests = { moneyDigest: moneyDigestOf(lines), ...(model.forgotten.size === 0 && { digest: digestOf(lines) }) };
      expect(figures).toMatchObject({ lines: lines.length, ...digests });
      if (version < model.earliest || lived.chance.is(50)) continue;
      const range = `start_date=${startDate}&end_date=${endDate}&pending=WITHOUT&as_of=${version}`;
      const money = await get({ model, organization, ...lived }, `deposit-details.csv?${range}&columns=money`);
      expect(sha256(money.body)).toBe(figures.moneyDigest);
    }
  }
}

const comparedOf = ({ model }: Lived, from: number, to: number, isInside: Compared['isInside']): Compared => ({
  ...{ before: model.linesAt(from), after: model.linesAt(to), isInside },
  isErased: (before, after) =>
    (model.states[from - 1]!.erased.get(before.allocation_id) ?? 0) > from && model.states[to - 1]!.since.get(after.allocation_id)! > from,
});

/** Checks what GraphQL tells of the changes of a set between two states, and that it adds up. */
async function checkSet(lived: Lived, from: number, to: number): Promise<void> {
  const { model, organization, chance } = lived;
  const [args, isInside] = chance.pick(SETS);
  const compared = comparedOf(lived, from, to, isInside);
  const changes = changesOf(compared);
  const effects = effectsOf(changes, compared);
  const range = `from: { version: ${from} }${to === model.version && chance.is(50) ? '' : `, to: { version: ${to} }`}`;
  const found = await readChanges(gateway, organization, `${range}, ${args}`);
  expect(
    found.nodes.map(({ before, after, effect, ...told }) => ({
      ...{ ...told, effect: numbersOf(effect) },
      ids: [before, after].map((line) => line?.allocationId),
    })),
  ).toEqual(
    changes.map((change, at) => ({
      ...{ class: change.class, wasInside: change.wasInside, isInside: change.isInside, effect: effects[at] },
      columns: change.columns.map((name) => lineFields[name].field),
      ids: [change.before, change.after].map((line) => line?.allocation_id),
    })),
  );
  expect(found.classes.map(({ effect, ...told }) => ({ ...told, effect: numbersOf(effect) }))).toEqual(classesOf(changes, effects));
  const [before, after] = [compared.before, compared.after].map((lines) => lines.filter(isInside)) as [BookLine[], BookLine[]];
  expect([found.summaryBefore.all, found.summaryAfter.all].map(numbersOf)).toEqual([figuresOf(before), figuresOf(after)]);
  expect(add(numbersOf(found.summaryBefore.all), ...found.classes.map(({ effect }) => numbersOf(effect)))).toEqual(
    numbersOf(found.summaryAfter.all),
  );
  checkFunds(found, compared);
}

/** The totals of each class. */
function classesOf(changes: readonly LineChange[], effects: readonly Figures[]): object[] {
  return CLASSES.flatMap((name) => {
    const of = effects.filter((_effect, at) => changes[at]!.class === name);
    return of.length === 0 ? [] : [{ class: name, changes: of.length, effect: add(...of) }];
  });
}

/** Checks the totals of each fund: its lines are a set of their own, but that a change has the class that it has in the whole set. */
function checkFunds({ designations, summaryBefore, summaryAfter }: Awaited<ReturnType<typeof readChanges>>, compared: Compared): void {
  const changes = changesOf(compared);
  const told = new Map(designations.nodes.map(({ designationId, classes }) => [designationId, classes]));
  for (const fund of [1, 2, 3]) {
    const isInside = (line: BookLine): boolean => compared.isInside(line) && line.designation_id === fund;
    const of = changes.filter(({ before, after }) => (before && isInside(before)) || (after && isInside(after)));
    const classes = (told.get(fund) ?? []).map(({ effect, ...each }) => ({ ...each, effect: numbersOf(effect) }));
    expect([fund, classes]).toEqual([fund, classesOf(of, effectsOf(of, { ...compared, isInside }))]);
    const groupOf = ({ groups }: Summary): Figures => {
      const group = groups.nodes.find(({ key }) => key.designationId === fund);
      return group ? numbersOf(group.all) : figuresOf([]);
    };
    expect(groupOf(summaryBefore)).toEqual(figuresOf(compared.before.filter(isInside)));
    expect(add(groupOf(summaryBefore), ...classes.map(({ effect }) => effect))).toEqual(groupOf(summaryAfter));
  }
}

/** Checks the file of all changes between two states, byte for byte. */
async function checkFile(lived: Lived, from: number, to: number): Promise<void> {
  const compared = comparedOf(lived, from, to, () => true);
  const changes = changesOf(compared);
  const effects = effectsOf(changes, compared);
  const { body } = await get(lived, `deposit-changes.ndjson?${EVER}&from=${from}&to=${to}`);
  expect(body.toString()).toBe(changes.map((change, at) => `${toRow(change, effects[at]!)}\n`).join(''));
}

function toRow({ class: name, columns, wasInside, isInside, before, after }: LineChange, effect: Figures): string {
  const [lines, transactions, deposits, ...amounts] = effect;
  const unknown_allocations = amounts.pop();
  const ordered = (line: BookLine | undefined): object | null =>
    line ? Object.fromEntries(lineNames.map((column) => [column, line[column]])) : null;
  const grains = ['line', 'transaction'].flatMap((grain) => ['amount', 'fee_amount', 'net_amount'].map((amount) => `${grain}_${amount}`));
  return JSON.stringify({
    ...{ class: name, changed_columns: columns.join(','), was_inside: wasInside, is_inside: isInside },
    ...{ before: ordered(before), after: ordered(after) },
    effect: {
      ...{ lines, transactions, deposits, unknown_allocations },
      ...Object.fromEntries([...grains, 'allocation_amount'].map((column, at) => [column, toMoney(amounts[at]!)])),
    },
  });
}

async function tryHistory(seed: number): Promise<void> {
  const lived = await live(new Chance(seed));
  const { model, chance } = lived;
  if (model.version === 0) return;
  await checkStates(lived);
  await checkBooks(lived);
  await checkCloses(lived);
  for (let pair = 0; pair < PAIRS; pair++) {
    const from = model.earliest + chance.below(model.version - model.earliest + 1);
    const to = from + chance.below(model.version - from + 1);
    await (pair === 0 ? checkFile(lived, from, to) : checkSet(lived, from, to));
  }
}

/** Tries histories of several organizations at once. They share a database and have the same ids. */
async function tryAll(seeds: readonly number[], tryOne: (seed: number) => Promise<void>): Promise<void> {
  const left = [...seeds];
  const work = async (): Promise<void> => {
    for (let seed = left.pop(); seed !== undefined; seed = left.pop()) {
      await tryOne(seed).catch((error: unknown) => {
        left.length = 0;
        throw new Error(`HISTORY_SEED=${seed}: ${(error as Error).message}`, { cause: error });
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

// A run of many tries takes as many times longer.
const TIMEOUT_MS = tries(600_000);

test(
  'whoever asks for any state of books with any history, and for what changed, is told what a model in memory tells',
  async () => {
    await tryAll(historySeeds(10), tryHistory);
  },
  TIMEOUT_MS,
);

const CAREFUL: StepChoice = { kinds: [...Array<'import'>(9).fill('import'), 'close'], latePercent: 0 };
const WITH_ERASURES: StepChoice = { ...CAREFUL, kinds: [...CAREFUL.kinds, 'erase'] };
const THROUGH = '2024-02-29';

test(
  'a closed month is exported again with the same money digest after any change that was let in, and its state with the same bytes',
  async () => {
    await tryAll(historySeeds(2).slice(0, 2), async (seed) => {
      const chance = new Chance(seed);
      const choice = chance.is(50) ? CAREFUL : WITH_ERASURES;
      const history = { services: gateway.services, organization: await createBooks(), model: new BookModel() };
      const { model, organization } = history;
      while (model.version === 0) await takeStep(history, chance, CAREFUL);
      const calendar = { id: organization.id, timeZone: 'UTC', fiscalYearStart: 1 };
      const { version } = await gateway.services.periods.close(calendar, THROUGH, undefined, { name: 'ada' });
      model.close(THROUGH);
      const closed = `start_date=0001-01-01&end_date=${THROUGH}&pending=WITH`;
      const read = async (more: string): Promise<string> => (await get(history, `deposit-details.${more}&${closed}`)).body.toString();
      const [money, lines] = [await read('csv?columns=money'), await read('ndjson?columns=all')];
      for (let edits = tries(10), before = model.version; edits > 0; before = model.version) {
        await takeStep(history, chance, choice);
        if (model.version === before) continue;
        edits--;
        expect([edits, await read('csv?columns=money')]).toEqual([edits, money]);
        const then = await read(`ndjson?columns=all&as_of=${version}`);
        if (model.forgotten.size === 0) expect([edits, then]).toEqual([edits, lines]);
      }
    });
  },
  TIMEOUT_MS,
);
