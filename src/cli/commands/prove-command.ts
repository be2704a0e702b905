import { Command } from 'commander';
import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import type { FirstDifference } from '../../domain/proof/file-comparison';
import type { Proof } from '../../domain/proof/proof-service';
import { describeReason } from '../../domain/proof/proof-reasons';
import { OperatorError } from '../../errors';
import { withServices, type CommandContext } from '../command';
import { UsageError } from '../command-options';
import { printResult } from '../terminal';

interface ProveOptions {
  readonly organization?: string;
  readonly receipt?: string;
  readonly donorName?: string;
}

/** `prove FILE`: finds the receipt of a file, makes the file again from the books, and compares the two. */
export function proveCommand(context: () => CommandContext): Command {
  return new Command('prove')
    .argument('[file]', 'file as it was downloaded; without it, the SHA-256 of the receipt is compared')
    .option('--organization <name>', 'name of the organization; all are searched without it')
    .option('--receipt <id>', 'receipt to compare with, in place of the one with the SHA-256 of the file')
    .option('--donor-name <name>', "donor's name by which the file was chosen, as its address had it; no receipt keeps it")
    .action(async (path: string | undefined, { organization: name, receipt, donorName }: ProveOptions) => {
      const { terminal, json } = context();
      if (path === undefined && receipt === undefined) throw new UsageError('Name a file, or a receipt with --receipt');
      if (receipt !== undefined && name === undefined) throw new UsageError('--receipt needs --organization');
      if (path !== undefined) await assertReadable(path);
      const { proof, organization } = await withServices(context(), async ({ organizations, proofs }) => {
        const organizationId = name === undefined ? undefined : (await organizations.get(name)).id;
        const file = path === undefined ? undefined : () => createReadStream(path);
        const proof = await proofs.prove({ organizationId, receipt: receipt?.toLowerCase(), file, donorName });
        const all = await organizations.list();
        return { proof, organization: all.find(({ id }) => id === proof.entry?.organizationId)?.name ?? null };
      });
      const result = { file: path ?? null, organization, ...describe(proof) };
      const { text, verdict } = { ...result, text: toText(proof, path, organization) };
      printResult(terminal, json, result, verdict === 'same' ? text : '');
      if (verdict !== 'same') throw new OperatorError(text);
    });
}

async function assertReadable(path: string): Promise<void> {
  await access(path, constants.R_OK).catch((error: unknown) => {
    throw new OperatorError(`The file cannot be read: ${(error as Error).message}`, { cause: error });
  });
  if (!(await stat(path)).isFile()) throw new OperatorError(`${path} is not a file that can be read again`);
}

/** The proof without the address of the file, whose values may be personal, and without digests, which are too. */
function describe({ verdict, reason, entry, isSameMoney, first }: Proof) {
  return {
    ...{ verdict, reason, explanation: reason && describeReason(reason), receipt: entry?.id ?? null },
    ...{ report: entry?.report ?? null, format: entry?.format ?? null, dataVersion: entry?.dataVersion ?? null },
    ...{ sentAt: entry?.finishedAt ?? null, sameMoney: isSameMoney, firstDifference: first },
  };
}

const HINT =
  'Its bytes are not those that left: a spreadsheet may have opened and saved it, a transfer may have cut it, or the page wrote it. With --receipt, it is compared with the file of a receipt.';

function toText({ verdict, reason, entry, first, isSameMoney }: Proof, path: string | undefined, organization: string | null): string {
  if (!entry) return `${path}: ${describeReason('no-receipt')}. ${HINT}`;
  const subject = path ?? `The file of receipt ${entry.id}`;
  const place = `receipt ${entry.id} of ${organization}, data version ${entry.dataVersion ?? 'unknown'}`;
  if (verdict === 'same') return `${subject}: the books make the same bytes (${place})`;
  const money = reason?.startsWith('donors-erased') && isSameMoney === true ? '; the money is the same to the cent' : '';
  return [`${subject}: ${describeReason(reason!)}${money} (${place})`, ...(first ? [describeFirst(first)] : [])].join('\n');
}

function describeFirst({ offset, row, columns }: FirstDifference): string {
  const at = `The first difference is at byte ${offset}`;
  if (row === null) return `${at}, outside of the rows`;
  return columns === null || columns.length === 0 ? `${at}, in row ${row}` : `${at}, in row ${row}: ${columns.join(', ')}`;
}
