import fc from 'fast-check';
import { ask, FIELDS, numbersOf, readChanges, type Change, type Changes, type Line, type Summary } from '../support/changes';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { anyHistory, Books, importInto } from '../support/line-histories';
import { openGateway } from '../support/open-gateway';
import { tries } from '../support/tries';

const gateway = openGateway();

async function readLines(organization: TestOrganization, version: number): Promise<Map<string, Line>> {
  const query = `{ depositDetailsConnection(pending: WITH, asOf: { version: ${version} }, first: 100) { nodes { ${FIELDS} } } }`;
  const { body } = await ask(gateway, organization, query);
  const { nodes } = (body.data as { depositDetailsConnection: { nodes: Line[] } }).depositDetailsConnection;
  return new Map(nodes.map((line) => [line.allocationId as string, line]));
}

const zeros = Array<number>(11).fill(0);
const add = (...all: readonly unknown[]): number[] =>
  all
    .map((each) => (Array.isArray(each) ? (each as number[]) : numbersOf(each)))
    .reduce((sum, next) => sum.map((value, at) => value + next[at]!), zeros);

/** The sets of lines, each as arguments and as a condition. */
const SETS: readonly (readonly [args: string, isInside: (line: Line) => boolean])[] = [
  ['pending: WITH', () => true],
  ['pending: WITHOUT', ({ depositStatus }) => depositStatus === 'POSTED'],
  ['pending: WITH, startDate: "2024-01-10", endDate: "2024-02-01"', ({ depositDate }) => inJanuary(depositDate)],
  [
    'pending: ONLY, dateBasis: TRANSACTION_DATE, startDate: "2024-01-10"',
    ({ depositStatus, transactionDate }) => depositStatus === 'PENDING' && String(transactionDate) >= '2024-01-10',
  ],
  ['pending: WITH, filter: { designationIds: [1] }', ({ designationId }) => designationId === 1],
  [
    'pending: WITH, filter: { transactionIds: ["T1", "T2"], amount: { min: "0.01" } }',
    ({ transactionId, amount }) => ['T1', 'T2'].includes(transactionId as string) && Number(amount) > 0,
  ],
];
const inJanuary = (date: unknown): boolean => String(date) >= '2024-01-10' && String(date) <= '2024-02-01';

const equal = (one: Line, other: Line, fields: readonly string[]): boolean => fields.every((field) => one[field] === other[field]);
const PLACES = ['depositId', 'depositDate', 'transactionDate', 'depositStatus', 'status', 'donorId', 'designationId'];
const MONEY = ['amount', 'feeAmount', 'netAmount', 'allocationAmount'];

/** Checks a change by itself. */
function checkChange({ class: name, before, after, columns, wasInside, isInside, effect }: Change, fits: (line: Line) => boolean): void {
  expect([wasInside, isInside]).toEqual([before !== null && fits(before), after !== null && fits(after)]);
  expect(wasInside || isInside).toBe(true);
  const differing = before && after ? Object.keys(before).filter((field) => before[field] !== after[field]) : [];
  expect([...columns].sort()).toEqual(differing.sort());
  const lines = Number(isInside) - Number(wasInside);
  expect((effect as { lines: number }).lines).toBe(lines);
  if (!before || !after) return expect(name).toBe(before ? 'REMOVED' : 'ADDED');
  if (!equal(before, after, MONEY)) return expect(name).toBe('MONEY');
  if (wasInside !== isInside || !equal(before, after, PLACES)) return expect(name).toBe('MOVED');
  if (before.allocationId !== after.allocationId) return expect(name).toBe('REKEYED');
  if (before.transactionId !== after.transactionId) return expect(['REKEYED', 'MOVED']).toContain(name);
  return expect(name).toBe('RELABELLED');
}

/** Checks what changed between two states against their lines, and the sums against those of both states. */
function checkChanges(changes: Changes, states: readonly [Map<string, Line>, Map<string, Line>], fits: (line: Line) => boolean): void {
  const [before, after] = states;
  for (const change of changes.nodes) checkChange(change, fits);
  // Each line of the two states that the other one has not is in one change.
  const isOld = (line: Line): boolean => JSON.stringify(after.get(line.allocationId as string)) !== JSON.stringify(line);
  const isNew = (line: Line): boolean => JSON.stringify(before.get(line.allocationId as string)) !== JSON.stringify(line);
  const told = (side: 'before' | 'after'): Line[] => changes.nodes.flatMap((change) => (change[side] ? [change[side]] : []));
  const byId = (lines: readonly Line[]): Line[] =>
    [...lines].sort((one, other) => (String(one.allocationId) < String(other.allocationId) ? -1 : 1));
  const inside = (lines: readonly Line[]): Line[] => byId(lines.filter(fits));
  expect(inside(told('before'))).toEqual(inside([...before.values()].filter(isOld)));
  expect(inside(told('after'))).toEqual(inside([...after.values()].filter(isNew)));
  // The changes add up to the classes, and these to the figures after.
  expect(changes.totalCount).toBe(changes.nodes.length);
  for (const { class: name, changes: count, effect } of changes.classes) {
    const of = changes.nodes.filter((change) => change.class === name);
    expect([of.length, add(...of.map((change) => change.effect))]).toEqual([count, numbersOf(effect)]);
  }
  const sum = add(...changes.classes.map(({ effect }) => effect));
  expect(add(changes.summaryBefore.all, sum)).toEqual(numbersOf(changes.summaryAfter.all));
  for (const { class: name, effect } of changes.classes) {
    if (['REKEYED', 'RELABELLED'].includes(name)) expect(numbersOf(effect)).toEqual(zeros);
  }
  const groupOf = (summary: Summary, id: number): unknown => summary.groups.nodes.find(({ key }) => key.designationId === id)?.all ?? zeros;
  const ids = [changes.summaryBefore, changes.summaryAfter].flatMap(({ groups }) => groups.nodes.map(({ key }) => key.designationId));
  for (const id of new Set([...ids, ...changes.designations.nodes.map(({ designationId }) => designationId)])) {
    const effects = changes.designations.nodes.find(({ designationId }) => designationId === id)?.classes.map(({ effect }) => effect) ?? [];
    expect([id, add(groupOf(changes.summaryBefore, id), ...effects)]).toEqual([id, add(groupOf(changes.summaryAfter, id))]);
  }
}

test('what changed between any two states is told once, and adds up at every grain and in every fund', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyHistory, async (imports) => {
      const organizations = [await createOrganization(gateway.services), await createOrganization(gateway.services)] as const;
      const books = [new Books(), new Books()] as const;
      for (const next of imports) await importInto(gateway.services, organizations[next.which], books[next.which], next);
      for (const organization of organizations) {
        const [newest] = await gateway.services.books.newestVersions(organization.id, 1);
        const states = [];
        for (let version = 1; version <= (newest?.number ?? 0); version++) states.push(await readLines(organization, version));
        for (const [from, before] of states.entries()) {
          for (const [to, after] of states.entries()) {
            if (from > to) continue;
            const [args, fits] = SETS[(from * 3 + to) % SETS.length]!;
            const isNewest = to === states.length - 1 && from % 2 === 0;
            const range = `from: { version: ${from + 1} }${isNewest ? '' : `, to: { version: ${to + 1} }`}`;
            const changes = await readChanges(gateway, organization, `${range}, ${args}`);
            checkChanges(changes, [before, after], fits);
            for (const { class: name } of changes.nodes) seen.add(name);
          }
        }
      }
    }),
    { numRuns: tries(8), unbiased: true, endOnFailure: true },
  );
  expect(seen.size).toBeGreaterThan(3);
});
