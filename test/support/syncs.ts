import { writeFile } from 'node:fs/promises';
import { runCommand, type CommandResult } from './command';
import { openDepositFiles, type DepositFiles } from './deposit-files';
import { inOrder, OLD_PROVISION, OldService } from './old-service';

interface BothReports {
  readonly with: string[];
  readonly without: string[];
}

/** An old service and organizations that follow it, in a database of its own. */
export interface Syncs {
  readonly files: DepositFiles;
  /** Writes a file that no other account may read. */
  readonly writeSecret: (name: string, content: string) => Promise<string>;
  /** The settings of a sync, whose log is silent. */
  readonly environment: Readonly<Record<string, string>>;
  /** The words of a sync, without and with a limit of removals that no test meets. */
  readonly words: (organization: string, service: OldService, ...options: string[]) => string[];
  readonly sync: (organization: string, service: OldService, ...options: string[]) => Promise<CommandResult>;
  readonly syncAny: (organization: string, service: OldService, ...options: string[]) => Promise<CommandResult>;
  /** The lines of the books, with and without pending deposits, as the export has them. */
  readonly booksOf: (organization: string) => Promise<BothReports>;
  readonly versionsOf: (organization: string) => Promise<{ cause: string; added: number }[]>;
  readonly statusOf: (organization: string) => Promise<Record<string, unknown>>;
  readonly withService: (use: (service: OldService, organization: string) => Promise<void>) => Promise<void>;
}

/** Opens the database before the tests of a file, and drops it after them. */
export function openSyncs(): Syncs {
  let files: DepositFiles;
  let provisionFile: string;
  const writeSecret = async (name: string, content: string): Promise<string> => {
    const file = files.path(name);
    await writeFile(file, content, { mode: 0o600 });
    return file;
  };
  beforeAll(async () => {
    files = await openDepositFiles();
    provisionFile = await writeSecret('provision', `${OLD_PROVISION}\n`);
  });
  afterAll(() => files.close());

  const environment = (): Record<string, string> => ({ ...files.environment, LOG_LEVEL: 'fatal' });
  const words = (organization: string, service: OldService, ...options: string[]): string[] => [
    ...['sync', '--organization', organization, '--from', service.url, '--provision-file', provisionFile],
    ...options,
  ];
  const sync: Syncs['sync'] = (organization, service, ...options) => runCommand(environment(), words(organization, service, ...options));
  const read = async (organization: string, ...options: string[]): Promise<string[]> => {
    const range = ['--start', '0001-01-01', '--end', '9999-12-31', '--format', 'json', '--columns', 'v2'];
    const { status, stdout } = await runCommand(files.environment, ['export', '--organization', organization, ...range, ...options]);
    expect(status).toBe(0);
    return inOrder((JSON.parse(stdout) as { response: object[] }).response);
  };
  return {
    get files() {
      return files;
    },
    get environment() {
      return environment();
    },
    writeSecret,
    words,
    sync,
    syncAny: (organization, service, ...options) => sync(organization, service, '--max-removed', '1000', ...options),
    booksOf: async (organization) => ({ with: await read(organization, '--include-pending'), without: await read(organization) }),
    versionsOf: async (organization) => {
      const { rows } = await files.query<{ cause: string; added: number }>(
        `SELECT cause, lines_added::int AS added FROM data_version JOIN organization ON id = organization_id WHERE name = $1 ORDER BY number`,
        [organization],
      );
      return rows;
    },
    statusOf: async (organization) => {
      const { stdout } = await runCommand(files.environment, ['--json', 'sync', 'status', '--organization', organization]);
      return (JSON.parse(stdout) as Record<string, unknown>[])[0]!;
    },
    withService: async (use) => {
      const service = await OldService.start();
      try {
        await use(service, await files.createOrganization());
      } finally {
        await service.stop();
      }
    },
  };
}
