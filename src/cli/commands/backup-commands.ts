import { Command, Option } from 'commander';
import { stat } from 'node:fs/promises';
import {
  BOOK_FIGURES,
  describeDifferences,
  describeFaultyAudits,
  findDifferences,
  loadBackup,
  type FaultyAudit,
} from '../../domain/backup/backup-service';
import { rewriteTables, type TableRewrite } from '../../data/schema/table-rewrite';
import { OperatorError } from '../../errors';
import type { BackupManifest, OpenArchive } from '../../formats/backup/backup-archive';
import type { Services } from '../../services';
import { buildDatabase, findOuterPlace, withScratchDatabase, type OpenDatabase } from '../../databases';
import { createEncryption, openBackupFile, type PassphraseOptions } from '../backup-file';
import { tellDatabase, useServices, withServices, type CommandContext } from '../command';
import { UsageError } from '../command-options';
import { readRegister, type RegisteredErasure } from '../erasure-register';
import { onStopSignal } from '../stop-signals';
import { formatTable, printResult, startProgress, type Terminal } from '../terminal';
import { writeWhole } from '../whole-file';
import { describeHeldRows, describeLog } from './database-commands';

const PASSPHRASE_FILE = ['--passphrase-file <file>', 'file whose first line is the passphrase; by default it is asked for'] as const;
const PROGRESS = '{value} bytes | {duration_formatted}';

interface BackupOptions extends PassphraseOptions {
  readonly force: boolean;
  readonly encrypt: boolean;
}

/** `backup FILE`: writes one state of the whole database to a file, also while a gateway serves it. */
export function backupCommand(context: () => CommandContext): Command {
  return new Command('backup')
    .argument('<file>', 'file to write; it appears when it is complete')
    .option('--force', 'replaces a file that is there', false)
    .option('--encrypt', 'encrypts the file with a passphrase, in the format of age', false)
    .option(...PASSPHRASE_FILE)
    .action(async (file: string, options: BackupOptions) => {
      const { terminal, json } = context();
      if (options.passphraseFile !== undefined && !options.encrypt) throw new UsageError('--passphrase-file needs --encrypt');
      const encrypt = options.encrypt ? await createEncryption(terminal, options) : undefined;
      const progress = startProgress(terminal, undefined, `Writing | ${PROGRESS}`);
      try {
        const { manifest, auditFaults } = await writeWhole(file, options.force, (put) =>
          withServices(context(), async ({ backups }) => {
            const manifest = await backups.write({
              gateway: context().version,
              put: (archive) => put(counted(encrypt ? encrypt(archive) : archive, (bytes) => progress.add(bytes))),
            });
            // The file is in place: neither a fault of the audit nor one of its check keeps anybody from the backup.
            const check = isCompared(manifest) ? backups.findFaultyAudits() : Promise.resolve(null);
            return { manifest, auditFaults: await check.catch(() => null) };
          }),
        );
        const { size } = await stat(file);
        const result = { file, bytes: size, encrypted: options.encrypt, ...describe(manifest), auditFaults };
        printResult(terminal, json, result, `${formatOrganizations(manifest)}\nWrote ${file}, ${size} bytes`);
        if (json) return;
        if (!auditFaults) terminal.errors.write('The audit was not checked\n');
        else if (auditFaults.length > 0) terminal.errors.write(`${describeFaultyAudits(auditFaults)}\n`);
      } finally {
        progress.stop();
      }
    });
}

/** `restore FILE`: makes the database of a backup. */
export function restoreCommand(context: () => CommandContext): Command {
  return new Command('restore')
    .argument('<file>', 'file that `backup` wrote')
    .option(...PASSPHRASE_FILE)
    .option('--erased <file>', 'register of erased donors, from `donor erased --json`: they are erased again')
    .action(async (file: string, options: RestoreOptions) => {
      const { terminal, json, config } = context();
      const register = options.erased === undefined ? undefined : await readRegister(options.erased);
      const archive = await openBackupFile(terminal, file, options);
      let auditFaults: FaultyAudit[] = [];
      let erasedAgain: RestoredErasures | undefined;
      let rewrite: TableRewrite | undefined;
      let webhooks = 0;
      let schedules = 0;
      await untilSignal((signal) =>
        buildDatabase(config, signal, async (address) => {
          tellDatabase(context());
          auditFaults = await loadAndCompare(context(), address, withProgress(terminal, archive), signal);
          await useServices(config, address, async (services) => {
            await services.backups.noteRestore(archive.manifest);
            webhooks = await services.webhooks.forgetAcknowledged();
            schedules = await services.schedules.pauseRestored();
            erasedAgain = register && (await eraseAgain(services, register));
          });
          // A donor without texts may have a gift that has a memo from the donor before.
          if (erasedAgain && erasedAgain.registered > 0) rewrite = await rewriteTables(address);
        }),
      );
      const { manifest } = archive;
      const place = await findOuterPlace(config);
      const text = [
        formatComparison(manifest),
        `Restored the backup of ${manifest.createdAt}; nobody is logged in`,
        describeErased(erasedAgain),
        ...(rewrite === undefined ? [] : [describeLog(rewrite)]),
        ...(webhooks === 0 ? [] : [describeWebhooks(webhooks)]),
        ...(schedules === 0 ? [] : [describeSchedules(schedules)]),
        ...(place === undefined ? [] : [`The data lie outside DATA_DIR, in ${place}`]),
      ].join('\n');
      const compared = isCompared(manifest);
      const erasure = { erasedAgain: erasedAgain ?? null, rewrite: rewrite ?? null };
      const result = { file, ...describe(manifest), compared, auditFaults, webhooks, schedules, place: place ?? null, ...erasure };
      printResult(terminal, json, result, text);
      failFor(auditFaults, rewrite && describeHeldRows(rewrite));
    });
}

interface RestoreOptions extends PassphraseOptions {
  readonly erased?: string;
}

/** The donors of a register that a restore has erased again, and the organizations of the register that the backup does not have. */
interface RestoredErasures {
  /** The donors whose texts the backup had. */
  readonly donors: number;
  /** All donors of the register who were erased, those whom the backup had no text of among them. */
  readonly registered: number;
  readonly unknownOrganizations: readonly string[];
}

async function eraseAgain({ organizations, erasures }: Services, register: readonly RegisteredErasure[]): Promise<RestoredErasures> {
  let rest = register;
  let [donors, registered] = [0, 0];
  for (const { id, createdAt } of await organizations.list()) {
    // A name may be another organization's by now. A number alone may come back after a restore.
    const isOf = (erasure: RegisteredErasure): boolean =>
      erasure.organizationId === id && Date.parse(erasure.organizationCreatedAt) === createdAt.getTime();
    const erased = rest.filter(isOf);
    if (erased.length === 0) continue;
    const again = await erasures.eraseAgain(id, erased);
    rest = rest.filter((erasure) => !isOf(erasure));
    donors += again.withTexts;
    registered += again.registered;
  }
  return { donors, registered, unknownOrganizations: [...new Set(rest.map(({ organization }) => organization))] };
}

const describeSchedules = (count: number): string =>
  `${count === 1 ? '1 schedule is' : `${count} schedules are`} paused, because mails may have left after the backup: \`schedule resume\` lets one go on`;

const describeWebhooks = (count: number): string =>
  `${count === 1 ? '1 webhook is' : `${count} webhooks are`} told that these are other books when this database is served: for a trial, \`webhook delete\` ${count === 1 ? 'it' : 'them'} first`;

const NO_REGISTER =
  'Donors who were erased after the backup have their texts again: `donor erase` them, or restore with --erased and the register beside the backups';

function describeErased(erased: RestoredErasures | undefined): string {
  if (!erased) return NO_REGISTER;
  const { donors, unknownOrganizations } = erased;
  const skipped = unknownOrganizations.map((name) => `"${name}"`).join(', ');
  return `Erased again: ${donors} ${donors === 1 ? 'donor' : 'donors'}${skipped === '' ? '' : `; the backup does not have ${skipped}`}`;
}

interface VerifyOptions extends PassphraseOptions {
  readonly current: boolean;
}

/** `verify FILE`: restores a backup into a database of its own, compares it, and removes it. */
export function verifyCommand(context: () => CommandContext): Command {
  return new Command('verify')
    .argument('<file>', 'file that `backup` wrote')
    .addOption(new Option('--current', 'compares the backup with the database as it is now, too').default(false))
    .option(...PASSPHRASE_FILE)
    .action(async (file: string, options: VerifyOptions) => {
      const { terminal, json } = context();
      const archive = await openBackupFile(terminal, file, options);
      const { manifest } = archive;
      let auditFaults: FaultyAudit[] = [];
      await untilSignal((signal) =>
        withScratchDatabase(signal, async (address) => {
          auditFaults = await loadAndCompare(context(), address, withProgress(terminal, archive), signal);
        }),
      );
      const current = options.current ? await withServices(context(), ({ backups }) => backups.readAll('verify')) : undefined;
      const { organizations } = manifest;
      const differences = current && organizations ? findDifferences(organizations, current, BOOK_FIGURES) : null;
      const verdict = `${file} restores to the database of ${manifest.createdAt}`;
      const result = { file, ...describe(manifest), compared: isCompared(manifest), auditFaults, differences };
      printResult(terminal, json, result, `${formatComparison(manifest)}\n${verdict}`);
      failFor(auditFaults, differences?.length ? `The database has changed since the backup:\n${describeDifferences(differences)}` : '');
    });
}

/** Ends a command, whose work is done, with the status 1 and these lines when an audit is faulty or there is another reason. */
function failFor(faulty: readonly FaultyAudit[], reason = ''): void {
  const lines = [describeFaultyAudits(faulty), reason].filter((line) => line !== '');
  if (lines.length > 0) throw new OperatorError(lines.join('\n'));
}

/**
 * Loads a backup, and compares the copy with what the backup tells of each organization, if it does. Returns the audits that were faulty
 * before. The signal gives it up.
 */
async function loadAndCompare(
  { config }: CommandContext,
  address: OpenDatabase['address'],
  archive: OpenArchive,
  signal: AbortSignal,
): Promise<FaultyAudit[]> {
  await loadBackup(address, archive, signal);
  signal.throwIfAborted();
  return useServices(config, address, ({ backups }) => backups.compareCopy(archive.manifest));
}

/** Gives a signal that aborts when the process is told to end. The work is then undone before the process ends. */
async function untilSignal<Result>(use: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const off = onStopSignal(() => controller.abort(new OperatorError('It was told to stop')));
  try {
    return await use(controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    off();
  }
}

async function* counted(content: AsyncIterable<Buffer>, add: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const block of content) {
    add(block.length);
    yield block;
  }
}

/** The archive with a progress bar that counts the bytes of its rows. */
function withProgress(terminal: Terminal, { manifest, pieces }: OpenArchive): OpenArchive {
  async function* shown(): OpenArchive['pieces'] {
    const progress = startProgress(terminal, undefined, `Loading | ${PROGRESS}`);
    try {
      for await (const piece of pieces) {
        yield piece;
        progress.add(piece.content.length);
      }
    } finally {
      progress.stop();
    }
  }
  return { manifest, pieces: shown() };
}

/** The part of a manifest that is printed. A digest is personal data. */
function describe({ createdAt, gateway, postgres, organizations }: BackupManifest) {
  const shown = (organizations ?? []).map(({ name, dataVersion, lines, transactions, amount }) => ({
    name,
    dataVersion,
    lines,
    transactions,
    amount,
  }));
  return { createdAt, gateway, postgres, organizations: shown };
}

/** True when a copy is compared with the backup. The backup of an older schema tells no figures. */
const isCompared = ({ organizations }: BackupManifest): boolean => organizations !== null;

const formatComparison = (manifest: BackupManifest): string =>
  isCompared(manifest) ? formatOrganizations(manifest) : 'not compared: the backup is of an older schema, and tells no figures';

const formatOrganizations = ({ organizations }: BackupManifest): string =>
  formatTable(
    ['ORGANIZATION', 'VERSION', 'LINES', 'TRANSACTIONS', 'AMOUNT'],
    (organizations ?? []).map(({ name, dataVersion, lines, transactions, amount }) => [
      name,
      ...[dataVersion, lines, transactions, amount].map(String),
    ]),
  );
