import { expose } from 'comlink';
import { passGatewayErrors } from '../rows/gateway-faults';
import { writeSheets } from '../files/xlsx-writer';
import { matchStatement } from './bank-match';
import { readStatement } from './statement-reader';

const bankKeeper = {
  read: readStatement,
  match: matchStatement,
  write: (tables: Parameters<typeof writeSheets>[0], totals: Parameters<typeof writeSheets>[1]): Promise<Blob> =>
    writeSheets(tables, totals, {}),
};

export type BankKeeper = typeof bankKeeper;

passGatewayErrors();
expose(bankKeeper);
