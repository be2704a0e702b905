/** An entry of a CAMT file, by what differs from a plain credit that is booked. */
export interface CamtEntry {
  readonly amount: string;
  readonly direction?: 'CRDT' | 'DBIT';
  readonly status?: string;
  readonly bookedOn?: string;
  /** XML that stands after the booking date, such as a value date, charges and details. */
  readonly more?: string;
  readonly reversal?: string;
  readonly currency?: string;
}

export interface CamtFile {
  readonly version?: string;
  readonly account?: string;
  readonly currency?: string;
  readonly opening?: string;
  readonly closing?: string;
  readonly entries: readonly CamtEntry[];
  /** XML between the balances and the entries, such as a summary. */
  readonly summary?: string;
  readonly period?: string;
}

const SIGNED = /^(-?)(.*)$/;

function balance(code: string, amount: string, currency: string, day: string): string {
  const [, sign = '', plain = ''] = SIGNED.exec(amount) ?? [];
  return `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${plain}</Amt><CdtDbtInd>${sign === '-' ? 'DBIT' : 'CRDT'}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`;
}

/** A statement of a CAMT file, the element `Stmt`. */
export function camtStatement({ version = '08', account = 'DE02120300000000202051', currency = 'EUR', ...file }: CamtFile): string {
  const entries = file.entries.map(
    ({ amount, direction = 'CRDT', status = 'BOOK', bookedOn = '2026-05-04', more = '', reversal, currency: own = currency }) =>
      `<Ntry><Amt Ccy="${own}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${
        reversal === undefined ? '' : `<RvslInd>${reversal}</RvslInd>`
      }<Sts>${version < '08' ? status : `<Cd>${status}</Cd>`}</Sts><BookgDt><Dt>${bookedOn}</Dt></BookgDt>${more}</Ntry>`,
  );
  return `<Stmt><Id>1</Id>${file.period ?? ''}<Acct><Id><IBAN>${account}</IBAN></Id><Ccy>${currency}</Ccy></Acct>${
    file.opening === undefined ? '' : balance('OPBD', file.opening, currency, '2026-05-01')
  }${file.closing === undefined ? '' : balance('CLBD', file.closing, currency, '2026-05-31')}${file.summary ?? ''}${entries.join('\n')}</Stmt>`;
}

/** A whole CAMT file of statements. */
export const camtFile = (statements: readonly string[], version = '08'): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}"><BkToCstmrStmt><GrpHdr><MsgId>1</MsgId></GrpHdr>${statements.join('')}</BkToCstmrStmt></Document>`;

/** A CAMT file of one statement. */
export const camt = (file: CamtFile): string => camtFile([camtStatement(file)], file.version);

export interface Bai2Account {
  readonly account?: string;
  readonly currency?: string;
  /** What follows the currency in the account's record, such as `010,10000,,,015,12500,,`. */
  readonly summary: string;
  /** The records 16 and 88, as they stand in the file. */
  readonly records: readonly string[];
  /** The account's control total; the sum of its amounts without it. */
  readonly control: number;
}

/** A BAI2 file with a group of one day, whose totals are right. */
export function bai2(accounts: readonly Bai2Account[], { day = '260504', status = '1', currency = 'USD' } = {}): string {
  const parts = accounts.map(({ account = '0975312468', currency: own = '', summary, records, control }) => {
    const lines = [`03,${account},${own},${summary}/`, ...records];
    return { lines: [...lines, `49,${String(control)},${String(lines.length + 1)}/`], control };
  });
  const lines = parts.flatMap((part) => part.lines);
  const total = String(parts.reduce((sum, { control }) => sum + control, 0));
  return [
    '01,BANK,ORG,260505,0600,1,80,,2/',
    `02,ORG,BANK,${status},${day},,${currency},2/`,
    ...lines,
    `98,${total},${String(accounts.length)},${String(lines.length + 2)}/`,
    `99,${total},1,${String(lines.length + 4)}/`,
    '',
  ].join('\n');
}
