import { numberOf } from '../../data/postgres/version-stamp';
import { RequestTimes } from '../../data/postgres/request-times';
import { FileCount } from '../../domain/audit/file-count';
import type { BookService } from '../../domain/books/book-service';
import type { MailedReport, MailedReports, MailReader } from '../../domain/mail/mailed-report';
import type { ReportDocument } from '../../domain/reports/saved-report-service';
import { daysOf, formatKeptAddress, namesOfConditions, toFileLayout, type FileQuery } from '../../formats/file-address';
import { RENDERING } from '../../rows/row-stream';
import { ALL_TIME } from '../../values/dates';
import type { FileReader, FileResolver, FileTotals } from './file-resolver';
import type { SchemaReportDocuments } from './report-documents';

/** Reads the reports of mails as the files of their recipients, who hold the privilege of the report. */
export class FileMailedReports implements MailedReports {
  constructor(
    private readonly files: FileResolver,
    private readonly documents: SchemaReportDocuments,
    private readonly books: BookService,
  ) {}

  variableNames(query: string): readonly string[] {
    return this.documents.variableNames(query);
  }

  toFileQuery(document: ReportDocument): FileQuery {
    return this.documents.toFileQuery(document);
  }

  async read(document: ReportDocument, reader: MailReader, maxBytes: number, signal: AbortSignal): Promise<MailedReport> {
    const { organizationId, username, currency, timeZone, fiscalYearStart } = reader;
    const books = this.books.open({
      ...{ signal, checkedState: () => undefined, times: new RequestTimes(), isHeld: true, isPrimary: true },
      caller: () => Promise.resolve({ organizationId, credential: `mail to ${username}` }),
    });
    const organization = { id: organizationId, name: reader.organization, currency, timeZone, fiscalYearStart };
    const grant = () => Promise.resolve({ organization, mayReadDonors: true });
    const access: FileReader['access'] = { authorizeMember: grant, authorizeDonors: grant, openDonorData: () => true };
    try {
      const file = await this.files.document(document, { access, books });
      const { lineSet, query, from, facts } = file;
      const { head, template, tail } = toFileLayout(query, 'csv', false);
      const { rows, totals } = await file.readTotals(template);
      const count = new FileCount();
      const content = await readUpTo(maxBytes, count.toPieces(head, rows, tail));
      const { startDate, endDate, pending } = {
        ...lineSet,
        ...(query.changes ? { ...ALL_TIME, pending: 'WITH' as const } : daysOf(query)),
      };
      const { lines, digest = null, moneyDigest = null } = totals;
      return {
        range: { startDate, endDate, pending, conditions: namesOfConditions(query) },
        file: { ...facts, format: 'csv', fileAddress: formatKeptAddress(query, false, from), rendering: RENDERING },
        end: { lines, digest, moneyDigest, dataVersion: numberOf(lineSet.state ?? books.version!) },
        totals: toNamedTotals(totals, currency),
        attached: content && { content, facts: count.facts },
      };
    } finally {
      await books.close();
    }
  }
}

/** The whole of a file; undefined for one that is longer. */
async function readUpTo(maxBytes: number, pieces: ReturnType<FileCount['toPieces']>): Promise<Buffer | undefined> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for (const piece of maxBytes === 0 ? [] : pieces) {
    for await (const block of typeof piece === 'string' ? [Buffer.from(piece)] : piece) {
      bytes += block.length;
      if (bytes > maxBytes) return undefined;
      // The rows write their next block in its place.
      blocks.push(Buffer.from(block));
    }
  }
  return maxBytes === 0 ? undefined : Buffer.concat(blocks);
}

function toNamedTotals({ rows, all, digest, moneyDigest }: FileTotals, currency: string | null): MailedReport['totals'] {
  const unit = currency === null ? '' : ` ${currency}`;
  const figures =
    all === undefined
      ? []
      : ([
          ['Lines', all.lines],
          ['Gifts', all.transactions],
          ['Deposits', all.deposits],
          ['Amount by gift', `${all.byTransaction.amount}${unit}`],
          ['Amount by share', all.byAllocation.amount === null ? 'not known' : `${all.byAllocation.amount}${unit}`],
          ['Shares not known', all.byAllocation.unknown],
        ] as const);
  const digests = Object.entries({ Digest: digest, 'Money digest': moneyDigest });
  return [
    ['Rows of the file', rows],
    ...figures,
    ...digests.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  ];
}
