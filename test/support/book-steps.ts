import type { CompleteRange } from '../../src/data/imports/import-removal';
import { v2Names } from '../../src/line/line-fields';
import { Books, type BookLine, type FileLine, type Gift, type Share } from './book-entities';
import type { BookModel, ImportRules } from './book-model';

/** Random choices that are the same for the same seed (mulberry32). */
export class Chance {
  constructor(private state: number) {}

  below(count: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * count);
  }

  /** True in so many of a hundred cases. */
  is(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}

export type Step =
  | { readonly kind: 'import'; readonly file: readonly FileLine[]; readonly rules: ImportRules }
  | { readonly kind: 'close' | 'reopen'; readonly through: string }
  | { readonly kind: 'erase'; readonly donor: number }
  | { readonly kind: 'prune'; readonly earliest: number };
/** The steps that a history may have. */
export interface StepChoice {
  /** The kinds, each as often as it is named. */
  readonly kinds: readonly Step['kind'][];
  /** The imports in a hundred that are let in where they change closed months. */
  readonly latePercent: number;
}
/** Steps that leave the earlier states as they are. */
export const KEEPING: StepChoice = { kinds: [...Array<'import'>(8).fill('import'), 'close', 'reopen'], latePercent: 50 };
/** All steps. */
export const USUAL: StepChoice = { ...KEEPING, kinds: [...KEEPING.kinds, 'erase', 'prune'] };

const THROUGHS = ['2024-01-31', '2024-02-15', '2024-02-29', '2024-03-31'];
const DATES = ['2024-01-05', '2024-01-31', '2024-02-01', '2024-02-20', '2024-03-10', '2024-04-02'];
const GIFT_DATES = ['2023-12-31', '2024-01-05', '2024-01-30', '2024-02-20'];
const AMOUNTS = [1000, 1000, 1000, 2500, 0, -500, 999];
const MEMOS = ['', '', '=1+1', 'Émile "M"'];
const EVER = { startDate: '0001-01-01', endDate: '9999-12-31' };
const PERIODS = [
  [EVER],
  [EVER],
  [{ startDate: '2024-01-01', endDate: '2024-01-31' }],
  [{ startDate: '2024-02-01', endDate: '2024-03-31' }],
  [
    { startDate: '2024-01-01', endDate: '2024-01-10' },
    { startDate: '2024-02-10', endDate: '2024-03-31' },
  ],
];
const idsOf = (letter: string, count: number): string[] => Array.from({ length: count }, (_none, at) => `${letter}${at + 1}`);
const SHARES = idsOf('A', 30);
const GIFTS = idsOf('T', 18);
const DEPOSITS = idsOf('D', 5);
const DONORS = [0, 1, 2, 3];
const FUNDS = [1, 2, 3];

/** Chooses the next step of a history by what the books hold. */
export function nextStep(model: BookModel, chance: Chance, { kinds, latePercent }: StepChoice): Step {
  const kind = model.version === 0 ? 'import' : chance.pick(kinds);
  const other = (): Step => anyImport(model, chance, latePercent);
  const inForce = model.inForce(model.version);
  switch (kind) {
    case 'close': {
      const open = THROUGHS.filter((through) => through > (model.closedThrough(model.version) ?? ''));
      return open.length === 0 ? other() : { kind, through: chance.pick(open) };
    }
    case 'reopen':
      return inForce.length === 0 ? other() : { kind, through: chance.pick(inForce).through };
    case 'erase': {
      const known = [...model.books.donors.keys()].filter((id) => !model.forgotten.has(id));
      return known.length === 0 ? other() : { kind, donor: chance.pick(known) };
    }
    case 'prune': {
      const later = model.version - model.earliest;
      return later === 0 ? other() : { kind, earliest: model.earliest + 1 + chance.below(later) };
    }
    case 'import':
      return other();
  }
}

function anyImport(model: BookModel, chance: Chance, latePercent: number): Step {
  // A repair of an old service gives new ids to all that it touches, and its file has the rest of the books too.
  const isRepair = model.version > 0 && chance.is(20);
  const isReplacing = isRepair || (model.version > 0 && chance.is(35));
  const range: CompleteRange | undefined = isReplacing
    ? { periods: isRepair ? [EVER] : chance.pick(PERIODS), pending: isRepair || chance.is(70) ? 'WITH' : 'WITHOUT' }
    : undefined;
  const rules = { range, allowsMismatch: chance.is(60), acceptsLate: chance.is(latePercent) };
  const isOld = !isRepair && model.version > 1 && chance.is(15);
  const edits = isRepair ? REPAIRS : EDITS;
  const lines = isOld
    ? model.linesAt(model.earliest + chance.below(model.version - model.earliest + 1))
    : editedLines(model, chance, range, edits);
  const inRange = range === undefined ? lines : lines.filter((line) => isInside(line, range));
  return { kind: 'import', file: toFile(inRange, chance, isRepair ? 'all' : chance.pick(['v2', 'shares', 'all', 'all'])), rules };
}

const isInside = ({ deposit_date: date, deposit_status: status }: BookLine, { periods, pending }: CompleteRange): boolean =>
  periods.some(({ startDate, endDate }) => date >= startDate && date <= endDate) && (pending === 'WITH' || status === 'posted');

/** The lines that an edited copy of the books has anew, and some of the others; all of them for a range. */
function editedLines(model: BookModel, chance: Chance, range: CompleteRange | undefined, edits: readonly Edit[]): BookLine[] {
  const draft = new Books(model.books);
  for (let left = model.version === 0 ? 7 + chance.below(5) : 1 + chance.below(4); left > 0; left--) {
    // The books are empty at first, and a range can be.
    if (draft.shares.size === 0) addGift(draft, chance);
    else chance.pick(model.version === 0 ? [addGift, addGift, addTwin] : edits)(draft, chance);
  }
  const removes = range !== undefined && edits === EDITS && chance.is(40);
  if (removes) for (const id of [...draft.shares.keys()]) if (chance.is(15)) draft.shares.delete(id);
  draft.removeEmpty();
  const standing = new Map(model.books.lines().map((line) => [line.allocation_id, JSON.stringify(line)]));
  const isEdited = (line: BookLine): boolean => standing.get(line.allocation_id) !== JSON.stringify(line);
  return draft.lines().filter((line) => range !== undefined || chance.is(isEdited(line) ? 90 : 10));
}

/** The lines in the order and with the columns that a file may have: those of v2, shares as they are stated, or all. */
function toFile(lines: readonly BookLine[], chance: Chance, columns: 'v2' | 'shares' | 'all'): FileLine[] {
  const file = lines.map((line): FileLine => {
    const { deposit_status, allocation_amount, ...rest } = line;
    const v2 = Object.fromEntries(v2Names.map((name) => [name, rest[name]])) as unknown as FileLine;
    if (columns === 'v2') return v2;
    if (columns === 'all') return line;
    return { ...v2, deposit_status, ...(allocation_amount !== null && { allocation_amount }) };
  });
  return chance.is(50) ? file.reverse() : file;
}

/** One of the first ids that the books do not have; any where they have all. Ids that were used before so come back. */
function unused(ids: readonly string[], known: ReadonlyMap<string, unknown>, chance: Chance): string {
  const free = ids.filter((id) => !known.has(id)).slice(0, 4);
  return chance.pick(free.length > 0 ? free : ids);
}
const keyIn = <Key>(map: ReadonlyMap<Key, unknown>, chance: Chance): Key => chance.pick([...map.keys()]);

function addGift(books: Books, chance: Chance): void {
  const deposit_id = chance.pick(DEPOSITS);
  if (!books.deposits.has(deposit_id)) setDeposit(books, deposit_id, chance);
  const id = unused(GIFTS, books.gifts, chance);
  const donor_id = chance.pick(DONORS);
  if (!books.donors.has(donor_id)) setDonor(books, donor_id, chance);
  const cents = chance.pick(AMOUNTS);
  books.gifts.set(id, {
    ...{ deposit_id, donor_id, transaction_date: chance.pick(GIFT_DATES), cents, feeCents: chance.pick([0, 0, 50]) },
    ...{ status: chance.pick(['Complete', 'Complete', 'Void']), account_type: 'Checking' },
    ...{ payment_type: chance.pick(['ACH', 'ACH', 'Check']), main_memo: chance.pick(MEMOS) },
  });
  const count = chance.pick([1, 1, 2, 3]);
  const isKnown = chance.is(50);
  for (let at = 0; at < count; at++) addShare(books, id, isKnown ? (at === 0 ? cents - 300 * (count - 1) : 300) : undefined, chance);
}

function addShare(books: Books, transaction_id: string, cents: number | undefined, chance: Chance): void {
  const designation_id = chance.pick(FUNDS);
  if (!books.funds.has(designation_id)) books.funds.set(designation_id, chance.pick(['General', 'Missions']));
  const share = {
    transaction_id,
    designation_id,
    designation_memo: chance.pick(MEMOS),
    cents,
    isUnknown: cents === undefined && chance.is(15),
  };
  books.shares.set(unused(SHARES, books.shares, chance), share);
}

const setDeposit = (books: Books, id: string, chance: Chance): void =>
  void books.deposits.set(id, { deposit_date: chance.pick(DATES), deposit_status: chance.pick(['posted', 'posted', 'pending']) });

function setDonor(books: Books, id: number, chance: Chance): void {
  if (id === 0) return;
  books.donors.set(id, {
    ...{ donor_first_name: chance.pick(['Ada', 'Émile']), donor_last_name: chance.pick(["O'Neil", 'Müller, Jr']) },
    ...{ address1: chance.pick(['1 Hill', '=2 Hill']), address2: '', address3: chance.pick(['', '\\N']), city: chance.pick(['Bern', '']) },
    ...{ state: '', zip: chance.pick(['0123', '']), phone: chance.pick(['555', '']), email_address: chance.pick(['a@example.org', '']) },
  });
}

const setGift = (books: Books, chance: Chance, change: (gift: Gift) => Partial<Gift>): void => {
  const id = keyIn(books.gifts, chance);
  const gift = books.gifts.get(id)!;
  books.gifts.set(id, { ...gift, ...change(gift) });
};
const setShare = (books: Books, chance: Chance, change: (share: Share) => Partial<Share>): void => {
  const id = keyIn(books.shares, chance);
  const share = books.shares.get(id)!;
  books.shares.set(id, { ...share, ...change(share) });
};

/** Gives a gift another amount. Half of those whose shares are stated have them follow. */
function correctAmount(books: Books, chance: Chance): void {
  const id = keyIn(books.gifts, chance);
  const gift = books.gifts.get(id)!;
  const cents = chance.pick(AMOUNTS);
  const [first] = books.sharesOf(id);
  books.gifts.set(id, { ...gift, cents });
  if (first?.[1].cents === undefined || chance.is(50)) return;
  books.shares.set(first[0], { ...first[1], cents: first[1].cents + cents - gift.cents });
}

/** Adds a gift that is equal to another but for its ids, and for its memo in half of the cases. */
function addTwin(books: Books, chance: Chance): void {
  const old = keyIn(books.gifts, chance);
  const id = unused(GIFTS, books.gifts, chance);
  const memo = chance.is(50) ? { main_memo: chance.pick(MEMOS) } : {};
  const shares = books.sharesOf(old);
  books.gifts.set(id, { ...books.gifts.get(old)!, ...memo });
  for (const [, share] of shares) books.shares.set(unused(SHARES, books.shares, chance), { ...share, transaction_id: id });
  books.removeEmpty();
}

/** Gives the gifts of a deposit and their allocations other ids, as a repair of an old service does. */
function rekeyDeposit(books: Books, chance: Chance): void {
  const deposit = keyIn(books.deposits, chance);
  const gifts = [...books.gifts].filter(([, { deposit_id }]) => deposit_id === deposit);
  for (const [id] of gifts) if (books.gifts.has(id)) rekeyGift(books, chance, id, 90);
}

/** Gives a gift another id, and so many of a hundred of its allocations too. */
function rekeyGift(books: Books, chance: Chance, old = keyIn(books.gifts, chance), percent = 50): void {
  const id = unused(GIFTS, books.gifts, chance);
  const memo = chance.is(20) ? { main_memo: chance.pick(MEMOS) } : {};
  books.gifts.set(id, { ...books.gifts.get(old)!, ...memo });
  for (const [share, of] of books.sharesOf(old)) {
    if (chance.is(percent)) rekeyShare(books, chance, share, id);
    else books.shares.set(share, { ...of, transaction_id: id });
  }
  books.removeEmpty();
}

function rekeyShare(books: Books, chance: Chance, share: string, transaction_id: string): void {
  const id = unused(SHARES, books.shares, chance);
  books.shares.set(id, { ...books.shares.get(share)!, transaction_id });
  if (id !== share) books.shares.delete(share);
}

type Edit = (books: Books, chance: Chance) => void;
const REPAIRS: readonly Edit[] = [rekeyDeposit, rekeyDeposit, rekeyDeposit, addTwin];
const EDITS: readonly Edit[] = [
  ...[addGift, addTwin, addTwin, correctAmount, correctAmount, rekeyDeposit, rekeyDeposit],
  (books, chance) => rekeyGift(books, chance),
  (books, chance) => {
    const share = keyIn(books.shares, chance);
    rekeyShare(books, chance, share, books.shares.get(share)!.transaction_id);
  },
  (books, chance) => setDeposit(books, keyIn(books.deposits, chance), chance),
  (books, chance) => setDonor(books, chance.pick(DONORS), chance),
  (books, chance) => void books.funds.set(keyIn(books.funds, chance), chance.pick(['General', 'Missions', 'Hope'])),
  (books, chance) => setGift(books, chance, () => ({ feeCents: chance.pick([0, 50]), status: chance.pick(['Complete', 'Void']) })),
  (books, chance) =>
    setGift(books, chance, () => ({ transaction_date: chance.pick(GIFT_DATES), payment_type: chance.pick(['ACH', 'Check']) })),
  (books, chance) => setGift(books, chance, () => ({ main_memo: chance.pick(MEMOS), account_type: chance.pick(['Checking', 'Savings']) })),
  (books, chance) => setGift(books, chance, () => ({ donor_id: chance.pick([0, ...books.donors.keys()]) })),
  (books, chance) => setGift(books, chance, () => ({ deposit_id: keyIn(books.deposits, chance) })),
  (books, chance) => setShare(books, chance, () => ({ designation_id: keyIn(books.funds, chance) })),
  (books, chance) => setShare(books, chance, () => ({ designation_memo: chance.pick(MEMOS), isUnknown: chance.is(20) })),
  (books, chance) =>
    setShare(books, chance, ({ cents }) => ({ cents: cents === undefined || chance.is(50) ? chance.pick(AMOUNTS) : undefined })),
  (books, chance) => setShare(books, chance, () => ({ transaction_id: keyIn(books.gifts, chance) })),
  (books, chance) => addShare(books, keyIn(books.gifts, chance), chance.is(50) ? undefined : 300, chance),
];

/** A step in a few words, for the report of a failure. */
export function describeStep(step: Step): string {
  if (step.kind === 'import') {
    const { range, allowsMismatch, acceptsLate } = step.rules;
    return `import of ${JSON.stringify(step.file)} with ${JSON.stringify({ range, allowsMismatch, acceptsLate })}`;
  }
  return JSON.stringify(step);
}
