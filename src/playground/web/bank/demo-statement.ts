import type { BookedDeposit } from './booked-deposits';
import { centsOf } from './tie-lists';
import { writeCents } from './bank-statement';

/** The organization that the gateway invents, whose bank is invented too. */
export const DEMO_ORGANIZATION = 'Demo';

const OPENING = 1_000_000n;
/** The deposits that the bank books in its own way, by their place. */
const [MERGED, MISSING, WRONG] = [2, 5, 7];

/**
 * Writes a CAMT file of the demo's deposits, net of fees, each a day later. It does not quite tie: two deposits are one line, one is missing,
 * one is a unit short, and the bank has interest and a fee of its own.
 */
export function writeDemoStatement(deposits: readonly BookedDeposit[], currency: string): string {
  const sorted = deposits
    .filter(({ isOutside }) => !isOutside)
    .toSorted((one, other) => (one.date < other.date ? -1 : Number(one.date > other.date)));
  const dayAfter = (date: string): string => new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
  const entries = sorted.flatMap((deposit, place) => {
    const own = centsOf(deposit, 'net');
    const next = sorted[place + 1];
    const merged = place === MERGED && next ? own + centsOf(next, 'net') : own;
    if (place === MISSING || place === MERGED + 1 || own <= 0n) return [];
    return [{ day: dayAfter(deposit.date), cents: place === WRONG ? merged - 100n : merged, text: 'Deposit' }];
  });
  const last = entries.at(-1)?.day ?? '2026-01-01';
  const all = [...entries, { day: last, cents: 321n, text: 'Interest' }, { day: last, cents: -1250n, text: 'Account fee' }];
  const closing = all.reduce((sum, { cents }) => sum + cents, OPENING);
  const money = (cents: bigint): string =>
    `<Amt Ccy="${currency}">${writeCents(cents < 0n ? -cents : cents)}</Amt><CdtDbtInd>${cents < 0n ? 'DBIT' : 'CRDT'}</CdtDbtInd>`;
  const balance = (code: string, cents: bigint, day: string): string =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${money(cents)}<Dt><Dt>${day}</Dt></Dt></Bal>`;
  const lines = all.map(
    ({ day, cents, text }) =>
      `<Ntry>${money(cents)}<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${day}</Dt></BookgDt><AddtlNtryInf>${text}</AddtlNtryInf></Ntry>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>DEMO</MsgId></GrpHdr><Stmt><Id>1</Id>
<Acct><Id><Othr><Id>DEMO-1</Id></Othr></Id><Ccy>${currency}</Ccy></Acct>
${balance('OPBD', OPENING, all[0]!.day)}
${balance('CLBD', closing, last)}
${lines.join('\n')}
</Stmt></BkToCstmrStmt></Document>
`;
}
