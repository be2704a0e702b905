import type { JournalCheck, JournalQuestion, JournalStore } from '../../data/reports/journal-store';
import { numberOf } from '../../data/postgres/version-stamp';
import type { RequestBooks } from '../../data/books/request-books';
import type { ReportSnapshot } from '../../data/reading/report-snapshot';
import { AppError } from '../../errors';
import { renderRows, type FileRows } from '../../rows/row-stream';
import type { RowTemplate } from '../../rows/row-template';

/** The rows of a journal and its figures. Both throw JOURNAL_REFUSED before anything else is read. */
export interface Journal extends FileRows {
  figures(): Promise<Pick<JournalCheck, 'rows' | 'entries' | 'debits'>>;
}

/** Writes the entries by which deposits are booked: debits of the bank and of the fees, credits of the funds. */
export class JournalService {
  constructor(private readonly store: JournalStore) {}

  /** The journal of a question. Its bytes are read after all other data of the answer. */
  journal(question: JournalQuestion, books: RequestBooks): Journal {
    const { accounts, ...asked } = question;
    const key = JSON.stringify(['journal', asked, accounts.number]);
    const figures = async (): Promise<JournalCheck> => {
      const check = await books.once(key, (snapshot: ReportSnapshot) => this.store.check(question, snapshot));
      assertWritable(check, question);
      return check;
    };
    const copy = books.snapshot.prepare();
    const { store } = this;
    async function* bytes(template: RowTemplate): AsyncGenerator<Buffer> {
      await figures();
      yield* renderRows(store.copyEntries(copy, question, template.columns), template);
    }
    return { key, figures, bytes };
  }
}

function assertWritable({ faulty, unmapped, unmappedFunds }: JournalCheck, { from }: JournalQuestion): void {
  if (faulty) {
    const state = from === undefined ? '' : `, in this state or in version ${numberOf(from)}`;
    throw new AppError('JOURNAL_REFUSED', {
      fault: `deposit ${faulty.depositId} does not add up: its gifts are ${faulty.amount}, and the known shares of funds ${faulty.shares}${state}`,
    });
  }
  if (unmappedFunds === 0) return;
  const names = unmapped.map(({ designationId, designation }) => `${designationId} (${designation})`).join(', ');
  const more = unmappedFunds > unmapped.length ? `, and ${unmappedFunds - unmapped.length} more` : '';
  const count = unmappedFunds === 1 ? '1 fund has' : `${unmappedFunds} funds have`;
  throw new AppError('JOURNAL_REFUSED', { fault: `${count} no account: ${names}${more}` });
}
