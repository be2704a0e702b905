import { createHash } from 'node:crypto';
import type { FileEntry } from '../../data/audit/audit-store';
import type { LineSet } from '../../data/books/line-set';
import type { RequestBooks } from '../../data/books/request-books';
import type { ChangeSet } from '../../data/reports/deposit-change-store';
import { instantOf, NO_VERSION, numberOf, toPlace } from '../../data/postgres/version-stamp';
import { OperatorError } from '../../errors';
import { chosenColumns, parseKeptAddress, toFileLayout, type FileQuery } from '../../formats/file-address';
import { groupsFollowTexts } from '../../formats/line-groups';
import type { RowTemplate } from '../../rows/row-template';
import type { FileFormat } from '../../values/file-formats';
import { isUuid } from '../../values/ids';
import type { AuditService } from '../audit/audit-service';
import { FileCount, type FilePieces } from '../audit/file-count';
import type { BookService } from '../books/book-service';
import type { LineDigests } from '../reports/control-totals';
import type { DepositChangeService } from '../reports/deposit-change-service';
import { toNarrowedLineSet, type DepositDetailService } from '../reports/deposit-detail-service';
import type { ErasureService } from '../reports/erasure-service';
import type { JournalService } from '../reports/journal-service';
import { toGrouping, toSummaryRows, type DepositSummaryService } from '../reports/deposit-summary-service';
import { FileComparison, type FileDifference, type FirstDifference, type OpenFile } from './file-comparison';
import {
  findDifference,
  findObstacle,
  isChosenByName,
  isOfErasures,
  type ProofReason,
  type ReceiptFacts,
  type RemadeFacts,
} from './proof-reasons';

interface ProofParts {
  readonly audit: AuditService;
  readonly books: BookService;
  readonly depositDetails: DepositDetailService;
  readonly depositSummaries: DepositSummaryService;
  readonly depositChanges: DepositChangeService;
  readonly erasures: ErasureService;
  readonly journals: JournalService;
}

/** A file, or the receipt of one, or both. */
export interface ProofQuestion {
  /** Undefined for all organizations, where no receipt is named. */
  readonly organizationId: number | undefined;
  readonly receipt: string | undefined;
  readonly file: OpenFile | undefined;
  readonly donorName: string | undefined;
}

/** The outcome of a proof. */
export interface Proof {
  /** `same`: the books make the same bytes. `different`: they make others. `unproven`: the file was not made again. */
  readonly verdict: 'same' | 'different' | 'unproven';
  /** Null for the same bytes. */
  readonly reason: ProofReason | null;
  /** Undefined without a receipt. */
  readonly entry: FileEntry | undefined;
  /** SHA-256 of the file that was given, and of the one that was made, in hex. */
  readonly given: string | null;
  readonly made: string | null;
  /** True when the money is what the receipt says; null where one of the two is not known. */
  readonly isSameMoney: boolean | null;
  readonly first: FirstDifference | null;
}

/** Makes files again from their receipts. */
export class ProofService {
  constructor(private readonly parts: ProofParts) {}

  /**
   * Proves a file by the receipt with its SHA-256, or by the named one. The audit notes the reading. Throws an OperatorError for a receipt
   * that the organization does not have.
   */
  async prove({ organizationId, receipt, file, donorName }: ProofQuestion): Promise<Proof> {
    const given = file ? await toSha256(file()) : null;
    const entry =
      receipt === undefined ? await this.findByBytes(given!, organizationId, donorName) : await this.findReceipt(organizationId!, receipt);
    const unproven = { verdict: 'unproven', entry, given, made: null, isSameMoney: null, first: null } as const;
    if (!entry) return { ...unproven, reason: 'no-receipt' };
    const { audit, books } = this.parts;
    const opened = books.openForOperator(entry.organizationId);
    try {
      const { state, ...facts } = await this.findFacts(entry, donorName, opened);
      const obstacle = findObstacle(facts);
      if (obstacle) return { ...unproven, reason: obstacle };
      const { startDate, endDate, pending, conditions } = entry;
      const remake = async (): Promise<Proof> => {
        // The state ends with the rows.
        const erased = await this.countErased(entry, state!, opened);
        const { made, digests, difference } = await this.remake(entry, { state: state!, donorName, file }, opened);
        const isSameMoney =
          entry.moneyDigest === null || digests.moneyDigest === undefined ? null : entry.moneyDigest === digests.moneyDigest;
        const isAsReceipt = made === entry.fileSha256;
        const ofReceipt = isAsReceipt ? null : findDifference({ ...facts, ...erased, digests, difference });
        const isOtherFile = given !== null && given !== entry.fileSha256;
        const reason = isOtherFile ? (isAsReceipt ? 'other-file' : 'other-file-and-books') : ofReceipt;
        const first = difference?.first ?? null;
        return { verdict: reason === null ? 'same' : 'different', reason, entry, given, made, isSameMoney, first };
      };
      const range = { startDate, endDate, pending, conditions };
      return await audit.accompany(audit.operator(entry.organizationId), audit.command('prove'), remake, { range });
    } finally {
      await opened.close();
    }
  }

  /** The newest receipt of a file with these bytes. One that its file cannot be made from counts only where there is no other. */
  private async findByBytes(
    sha256: string,
    organizationId: number | undefined,
    donorName: string | undefined,
  ): Promise<FileEntry | undefined> {
    const entries = await this.parts.audit.listFiles(sha256, organizationId);
    const possible = entries.filter((entry) => findObstacle({ entry, donorName, hasState: true, isPruned: false }) === undefined);
    for (const entry of possible) {
      const opened = this.parts.books.openForOperator(entry.organizationId);
      const facts = await this.findFacts(entry, donorName, opened).finally(() => opened.close());
      if (findObstacle(facts) === undefined) return entry;
    }
    return possible[0] ?? entries[0];
  }

  private async findFacts(
    entry: FileEntry,
    donorName: string | undefined,
    opened: RequestBooks,
  ): Promise<ReceiptFacts & Pick<LineSet, 'state'>> {
    const state = await this.findState(entry, opened);
    const isPruned = state !== undefined && (await this.isPruned(entry, opened));
    return { entry, donorName, hasState: state !== undefined, isPruned, state };
  }

  private async findReceipt(organizationId: number, id: string): Promise<FileEntry> {
    const entry = isUuid(id) ? await this.parts.audit.findFile(organizationId, id) : null;
    if (!entry) throw new OperatorError(`The organization has no receipt ${id}`);
    return entry;
  }

  /**
   * The state that a file is of, also one that was pruned; undefined when the books have not had it. A version that was recorded after the
   * file had ended has its number from a backup that was restored meanwhile.
   */
  private async findState({ organizationId, dataVersion: number, finishedAt }: FileEntry, opened: RequestBooks): Promise<LineSet['state']> {
    if (number === null) return undefined;
    if (number === 0) return NO_VERSION;
    const state = await this.parts.books.findVersion(organizationId, number, opened);
    if (state === undefined) return undefined;
    return finishedAt && instantOf(state).getTime() > finishedAt.getTime() + CLOCK_DIFFERENCE_MS ? undefined : state;
  }

  /** True when a state that the file is made from was pruned. The state before the first import has no lines that a prune could take. */
  private async isPruned({ organizationId, report, fileAddress, dataVersion }: FileEntry, opened: RequestBooks): Promise<boolean> {
    const { changes, journal } = fileAddress === null ? {} : parseKeptAddress(report!, fileAddress).query;
    const from = (changes?.from ?? journal?.since)?.version;
    const earliest = (await this.parts.books.history(organizationId, opened))?.earliest.number ?? 0;
    return [dataVersion, from].some((number) => Boolean(number) && number! < earliest);
  }

  private async remake(
    entry: FileEntry,
    { state, donorName, file }: Pick<ProofQuestion, 'donorName' | 'file'> & { readonly state: string },
    opened: RequestBooks,
  ): Promise<{ readonly made: string; readonly digests: Partial<LineDigests>; readonly difference: FileDifference | null }> {
    const format = entry.format as FileFormat;
    const { query, hasBom } = parseKeptAddress(entry.report!, entry.fileAddress!, isChosenByName(entry) ? donorName : undefined);
    const lineSet = { ...toNarrowedLineSet(entry.organizationId, query.lines), state };
    const { head, template, tail } = toFileLayout(query, format, hasBom, toPlace(state));
    const { rows, digests } = query.changes
      ? await this.toChanges(query.changes, lineSet, opened, template)
      : query.groupBy
        ? await this.toSummary(query, lineSet, entry, opened, template)
        : query.journal
          ? await this.toJournal(query.journal, lineSet, opened, template)
          : this.toLines(lineSet, opened, template);
    const comparison = file && new FileComparison(file, format, Object.keys(chosenColumns(query)));
    const count = new FileCount();
    for await (const block of toBlocks(count.toPieces(head, rows, tail))) await comparison?.add(block);
    return { made: count.facts.fileSha256, digests: digests(), difference: (await comparison?.end()) ?? null };
  }

  /**
   * The number of lines of a file that have lost texts by an erasure after it, and that the file tells such texts of. A donor's name, which
   * the books may have no more, chooses no line here.
   */
  private async countErased(
    entry: FileEntry,
    state: string,
    opened: RequestBooks,
  ): Promise<Pick<RemadeFacts, 'erasedLines' | 'rowsFollowTexts'>> {
    const { query } = parseKeptAddress(entry.report!, entry.fileAddress!, undefined);
    const rowsFollowTexts = groupsFollowTexts(query.groupBy ?? []) || query.changes?.classes !== undefined;
    const tellsTexts = rowsFollowTexts || query.changes || isChosenByName(entry) || Object.keys(chosenColumns(query)).some(isOfErasures);
    if (!tellsTexts) return { erasedLines: 0, rowsFollowTexts };
    const lineSet = { ...toNarrowedLineSet(entry.organizationId, query.lines), state };
    const from = query.changes && (await this.toChangeSet(query.changes, lineSet, opened)).from;
    const since = new Date(entry.startedAt.getTime() - CLOCK_DIFFERENCE_MS);
    const count = (lines: LineSet) => this.parts.erasures.countErasedIn({ lineSet: lines, from }, since, opened);
    const compared = query.compareWith ? await count({ ...lineSet, ...query.compareWith }) : 0;
    return { erasedLines: (await count(lineSet)) + compared, rowsFollowTexts };
  }

  private toLines(lineSet: LineSet, opened: RequestBooks, template: RowTemplate): RemadeRows {
    const { rows, figures } = this.parts.depositDetails.report(lineSet, opened).bytesWithFigures(template);
    return { rows, digests: () => figures() ?? {} };
  }

  private async toChanges(changes: AskedChanges, lineSet: LineSet, opened: RequestBooks, template: RowTemplate): Promise<RemadeRows> {
    const set = await this.toChangeSet(changes, lineSet, opened);
    return { rows: this.parts.depositChanges.rows(set, changes.classes, opened).bytes(template), digests: () => ({}) };
  }

  private async toJournal(asked: AskedJournal, lineSet: LineSet, opened: RequestBooks, template: RowTemplate): Promise<RemadeRows> {
    const journal = await this.parts.journals.journal(lineSet, asked, opened);
    return { rows: journal.bytes(template), digests: () => ({}) };
  }

  /** The changes up to the state of a set. */
  private async toChangeSet({ from, place }: AskedChanges, { state, ...lineSet }: LineSet, opened: RequestBooks): Promise<ChangeSet> {
    const { books } = this.parts;
    const first = place === undefined ? undefined : await books.findVersion(lineSet.organizationId, from.version!, opened);
    return first ? { lineSet, from: first, to: state } : books.between(lineSet, { from, to: { version: numberOf(state!) } }, opened);
  }

  private async toSummary(
    query: FileQuery,
    lineSet: LineSet,
    { tellsDonors }: FileEntry,
    opened: RequestBooks,
    template: RowTemplate,
  ): Promise<RemadeRows> {
    const mayReadDonors = tellsDonors === true;
    const grouping = toGrouping(query);
    const summary = this.parts.depositSummaries.summarize({ lineSet, ...grouping, mayReadDonors }, opened);
    const digests = await summary.digests(['moneyDigest']);
    return { rows: toSummaryRows(summary, grouping.groupBy, opened.snapshot).bytes(template), digests: () => digests };
  }
}

type AskedJournal = NonNullable<FileQuery['journal']>;
type AskedChanges = NonNullable<FileQuery['changes']>;

/** Versions have the time of the database, and files that of the gateway. */
const CLOCK_DIFFERENCE_MS = 300_000;

/** The rows of a file, and the digests of its lines, which are known when the rows have been read. */
interface RemadeRows {
  readonly rows: AsyncGenerator<Buffer>;
  readonly digests: () => Partial<LineDigests>;
}

async function* toBlocks(pieces: FilePieces): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (typeof piece === 'string') yield Buffer.from(piece);
    else yield* piece;
  }
}

async function toSha256(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of content) hash.update(block);
  return hash.digest('hex');
}
