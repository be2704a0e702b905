import type { FileEntry } from '../../data/audit/audit-store';
import { UNKEPT } from '../../formats/file-address';
import { donorTexts } from '../../line/line-fields';
import { RENDERING } from '../../rows/row-stream';
import type { LineDigests } from '../reports/control-totals';
import type { FileDifference } from './file-comparison';

/** The facts by which it is judged whether a file can be made again. */
export interface ReceiptFacts {
  readonly entry: FileEntry;
  /** The donor's name that the operator gave. */
  readonly donorName: string | undefined;
  /** True when the history has the state that the file is of. */
  readonly hasState: boolean;
  /** True when the state, or the one that changes begin with, was pruned. */
  readonly isPruned: boolean;
}

/** The facts about a file that was made again and has other bytes than its receipt says. */
export interface RemadeFacts extends ReceiptFacts {
  readonly digests: Partial<LineDigests>;
  /** The number of states of lines of the file that have lost texts by an erasure after it. */
  readonly erasedLines: number;
  /** The differences from the file of the receipt; null where it was not given, or is the same. */
  readonly difference: FileDifference | null;
  /** True where an erasure makes the rows others than those of the receipt, and not only their texts. */
  readonly rowsFollowTexts: boolean;
}

/** True for a column of a file that an erasure changes. A change of names becomes an erasure of them. */
export const isOfErasures = (column: string): boolean =>
  isClass(column) || (donorTexts as readonly string[]).includes(column.replace(/^(?:before|after)_/, ''));
const isClass = (column: string): boolean => ['class', 'changed_columns'].includes(column);

/** True when texts of erased lines are all that is gone. */
const isErasureAlone = ({ difference, erasedLines }: RemadeFacts): boolean =>
  difference !== null &&
  difference.rows !== null &&
  difference.rows <= erasedLines &&
  difference.columns.every(isOfErasures) &&
  difference.filled.every(isClass);

interface Reason<Facts> {
  readonly applies: (facts: Facts) => boolean;
  readonly text: string;
}

/** True for a file whose lines were chosen by a donor's name. */
export const isChosenByName = ({ conditions }: FileEntry): boolean => conditions.includes(UNKEPT);
const hasOtherMoney = ({ entry, digests }: RemadeFacts): boolean => entry.moneyDigest !== null && entry.moneyDigest !== digests.moneyDigest;

/** The reasons why a file is not made again. The first that applies is told. */
const obstacles = {
  'not-whole': {
    applies: ({ entry }) => entry.outcome !== 'whole' || entry.fileSha256 === null,
    text: 'the file did not leave as a whole, so that its receipt proves nothing',
  },
  'no-address': {
    applies: ({ entry }) => entry.fileAddress === null,
    text: 'its receipt does not keep the conditions of the file, because no address can express them',
  },
  'no-name': {
    applies: ({ entry, donorName }) => isChosenByName(entry) && donorName === undefined,
    text: "the file was chosen by a donor's name, which no receipt keeps: give it with --donor-name",
  },
  'no-state': {
    applies: ({ hasState }) => !hasState,
    text: 'the books have not had the state of the file: a backup was restored since',
  },
  pruned: {
    applies: ({ isPruned }) => isPruned,
    text: 'the state of the file was pruned from the history, so that nothing proves it any more; its receipt and the figures of closes stay',
  },
} as const satisfies Readonly<Record<string, Reason<ReceiptFacts>>>;

/** The reasons why a file that is made again is another one. The first that applies is told. */
const differences = {
  'other-name': {
    applies: (facts) => isChosenByName(facts.entry) && hasOtherMoney(facts),
    text: "the lines are others: the donor's name is perhaps not the one that the file was chosen by, or the name was changed or erased since",
  },
  'other-money': {
    applies: hasOtherMoney,
    text: 'the money of that state is not what it was: the database was changed behind the gateway',
  },
  'other-rendering': {
    applies: ({ entry }) => entry.rendering !== RENDERING,
    text: 'this gateway writes the same lines as other bytes than the one that made the file',
  },
  'donors-erased': {
    applies: isErasureAlone,
    text: 'donors of its lines were erased after it, and their names, contact and memos are all that is gone from it',
  },
  'donors-erased-at-least': {
    applies: ({ erasedLines, difference, rowsFollowTexts }) => erasedLines > 0 && (difference === null || rowsFollowTexts),
    text: 'donors of its lines were erased after it, so that it is not made as it was, and nothing tells whether its texts differ in more than that',
  },
  'other-texts': {
    applies: ({ entry }) => entry.moneyDigest !== null,
    text: 'the money is the same to the cent, and texts are others: they were changed behind the gateway',
  },
  'no-digest': {
    applies: () => true,
    text: 'the file has no money digest, because it is of changes or was made without totals, so that nothing tells its money from its texts',
  },
} as const satisfies Readonly<Record<string, Reason<RemadeFacts>>>;

const texts = {
  ...obstacles,
  ...differences,
  'other-file': { text: 'the books make the file of the receipt byte for byte, and this file is another one' },
  'other-file-and-books': {
    text: 'this file is not the one of the receipt, and the books do not make that one byte for byte: prove the receipt without a file to be told why',
  },
  'no-receipt': { text: 'no receipt has the SHA-256 of this file' },
} as const;

export type ProofReason = keyof typeof texts;

export const describeReason = (reason: ProofReason): string => texts[reason].text;

const findReason = <Facts, Name extends string>(reasons: Readonly<Record<Name, Reason<Facts>>>, facts: Facts): Name | undefined =>
  (Object.keys(reasons) as Name[]).find((name) => reasons[name].applies(facts));

export const findObstacle = (facts: ReceiptFacts): ProofReason | undefined =>
  findReason<ReceiptFacts, keyof typeof obstacles>(obstacles, facts);

export const findDifference = (facts: RemadeFacts): ProofReason => findReason<RemadeFacts, keyof typeof differences>(differences, facts)!;
