import type { JournalAccounts } from '../../data/reports/journal-account-store';
import type { JournalCheck, JournalQuestion, JournalSide, JournalStore } from '../../data/reports/journal-store';
import { NO_VERSION, numberOf, toPlace, type VersionStamp } from '../../data/postgres/version-stamp';
import type { LineSet } from '../../data/books/line-set';
import type { RequestBooks } from '../../data/books/request-books';
import type { ReportSnapshot } from '../../data/reading/report-snapshot';
import { AppError, InputError } from '../../errors';
import type { FileJournal } from '../../formats/file-columns';
import { renderRows, type FileRows } from '../../rows/row-stream';
import type { RowTemplate } from '../../rows/row-template';
import type { BookService } from '../books/book-service';
import type { JournalAccountService } from './journal-account-service';

/** The rows of a journal and its figures. Both throw JOURNAL_REFUSED before anything else is read. */
export interface Journal extends FileRows {
  readonly lineSet: LineSet;
  /** The journal with the accounts and the place of the one that was booked, so that it can be made again. */
  readonly asked: FileJournal & Required<Pick<FileJournal, 'accounts'>>;
  /** The number of the state that differences begin with; undefined for whole entries. */
  readonly from: number | undefined;
  figures(): Promise<Pick<JournalCheck, 'rows' | 'entries' | 'debits'>>;
}

/** Writes the entries by which deposits are booked: debits of the bank and of the fees, credits of the funds. */
export class JournalService {
  constructor(
    private readonly store: JournalStore,
    private readonly states: BookService,
    private readonly accounts: JournalAccountService,
  ) {}

  /**
   * The journal of a set in its state; in the newest one where it has none. The receipt names the state before the entries are read, and the
   * next journal goes on from there. The journal's bytes are read after all other data of the answer.
   * Throws INVALID_PARAMETERS for a state or accounts that have not been, VERSION_PRUNED, and JOURNAL_REFUSED where no accounts were saved.
   */
  async journal(lineSet: LineSet, asked: FileJournal, books: RequestBooks): Promise<Journal> {
    const { organizationId } = lineSet;
    const accounts = await this.accounts.get(organizationId, { name: 'accounts', number: asked.accounts });
    const { currency = '', taxRate, journalId } = asked;
    const texts = { currency, taxRate, journalId };
    const ended = { ...lineSet, state: lineSet.state ?? (await this.states.findNewest(organizationId, books)) };
    if (!asked.since) {
      const whole = { lineSet: ended, accounts, booked: undefined, ...texts };
      return this.toJournal(whole, { ...asked, accounts: accounts.number }, books);
    }
    const from = await this.findBooked(ended, asked.since, books);
    if (numberOf(from) > numberOf(ended.state))
      throw new InputError(`since is version ${numberOf(from)}, which comes after version ${numberOf(ended.state)} of the journal`);
    const booked: JournalSide = {
      lineSet: { ...lineSet, ...asked.booked, state: from },
      accounts:
        asked.bookedAccounts === undefined
          ? accounts
          : await this.accounts.get(organizationId, { name: 'since_accounts', number: asked.bookedAccounts }),
    };
    const since = { version: numberOf(from), place: toPlace(from) };
    return this.toJournal({ lineSet: ended, accounts, booked, ...texts }, { ...asked, accounts: accounts.number, since }, books);
  }

  /** The state of the journal that was booked. Books before their first change have one as well. */
  private async findBooked(lineSet: LineSet, since: NonNullable<FileJournal['since']>, books: RequestBooks): Promise<VersionStamp> {
    if (since.place === undefined) return this.states.findState(lineSet.organizationId, since, books, { name: 'since' });
    if (since.place === NO_VERSION) return NO_VERSION;
    const changes = await this.states.since(lineSet, since.place, lineSet.state!, books);
    if (changes) return changes.from;
    throw new InputError('since: these are other books than those that the journal was of');
  }

  private toJournal(question: JournalQuestion, asked: Journal['asked'], books: RequestBooks): Journal {
    const { store } = this;
    const { booked, accounts, ...others } = question;
    // A restored backup goes on with the same numbers of savings.
    const name = ({ number, savedAt }: JournalAccounts) => [number, savedAt];
    const key = JSON.stringify(['journal', others, name(accounts), booked && [booked.lineSet, name(booked.accounts)]]);
    const figures = async (): Promise<JournalCheck> => {
      const check = await books.once(key, (snapshot: ReportSnapshot) => store.check(question, snapshot));
      assertWritable(check, question);
      return check;
    };
    const copy = books.snapshot.prepare();
    async function* bytes(template: RowTemplate): AsyncGenerator<Buffer> {
      await figures();
      yield* renderRows(store.copyEntries(copy, question, template.columns), template);
    }
    const from = booked && numberOf(booked.lineSet.state!);
    return { lineSet: question.lineSet, asked, from, key, figures, bytes };
  }
}

function assertWritable({ faulty, unmapped, unmappedFunds }: JournalCheck, { booked, accounts }: JournalQuestion): void {
  if (faulty) {
    const state = booked === undefined ? '' : `, in this state or in version ${numberOf(booked.lineSet.state!)}`;
    throw new AppError('JOURNAL_REFUSED', {
      fault: `deposit ${faulty.depositId} does not add up: its gifts are ${faulty.amount}, and the known shares of funds ${faulty.shares}${state}`,
    });
  }
  if (unmappedFunds === 0) return;
  const names = unmapped.map(({ designationId, designation }) => `${designationId} (${designation})`).join(', ');
  const more = unmappedFunds > unmapped.length ? `, and ${unmappedFunds - unmapped.length} more` : '';
  const count = unmappedFunds === 1 ? '1 fund has' : `${unmappedFunds} funds have`;
  const savings =
    booked && booked.accounts.number !== accounts.number
      ? ` among accounts ${accounts.number} or those booked, ${booked.accounts.number}`
      : '';
  throw new AppError('JOURNAL_REFUSED', { fault: `${count} no account${savings}: ${names}${more}` });
}
