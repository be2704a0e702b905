import { randomUUID } from 'node:crypto';
import type { AuditChainStore } from '../../data/audit/audit-chain-store';
import { auditOrder, type AuditEntry, type AuditList, type AuditStore, type FileEntry } from '../../data/audit/audit-store';
import type { AuditWriter } from '../../data/audit/audit-writer';
import { OperatorError } from '../../errors';
import { formatAnchor, NO_FACTS, type auditEvents, type AuditDoor, type AuditFacts, type ChainPlace } from '../../formats/audit-row';
import type { AuditReadings, EndFacts, OpenReading, ReadingOutcome, StartFacts } from './audit-readings';
import { verifyAudit, type AuditVerification } from './audit-verification';
import { readPage, type Page, type PageParameters } from '../paging/keyset-page';

/** A caller as the audit names it. */
export interface AuditCaller {
  readonly organizationId: number;
  /** The account of the operating system for a command; null when no user was logged in. */
  readonly username: string | null;
  readonly provisionLabel: string | null;
  /** The first eight characters of the provision. */
  readonly provisionStart: string | null;
}

/** The ways by which operators use the gateway. */
type OperatorDoor = Extract<AuditDoor, 'command' | 'operators'>;

/** An operator as the audit names it. */
export interface Operator {
  readonly door: OperatorDoor;
  /** The account of the operating system that runs the command; null at the operators' door. */
  readonly account: string | null;
  /** The IP address of the operator; null on the command line. */
  readonly address: string | null;
}

/** The operation of a caller, the door that it came through and the address that it came from. */
export interface AuditOperation {
  readonly door: AuditDoor;
  readonly name: string;
  /** SHA-256 of the operation's text, in hex; null for an operation without a text. */
  readonly hash: string | null;
  readonly address: string | null;
}

/** A single event. It must name no donor, no token and no whole provision. */
export interface AuditEvent {
  readonly kind: (typeof auditEvents)[number];
  /** The user, the provision or the report that the event is about, such as `user ada`. */
  readonly subject?: string;
  /** The event in words, such as the privileges that were granted. */
  readonly detail?: string;
}

/** An event as the log and the metrics tell it, without names. */
export interface SeenEvent {
  readonly event: AuditEvent['kind'];
  readonly door: AuditDoor;
  readonly organization: number;
  /** The first characters of the provision. */
  readonly provision: string | null;
  readonly address: string | null;
}

/** The part of the books that a reading is of. */
export type ReadRange = Pick<AuditFacts, 'startDate' | 'endDate' | 'pending' | 'conditions'>;

/** The facts that only a file has before it begins. */
export type FileFacts = Pick<AuditFacts, 'report' | 'format' | 'tellsDonors' | 'fileAddress' | 'rendering'>;

/** The facts about a reading beside its caller and its operation. */
export interface ReadingFacts {
  readonly range?: ReadRange;
  /** Undefined for a reading that makes no file. */
  readonly file?: FileFacts | undefined;
  /** The facts at the end. They are asked for once, and before the end when the gateway stops. */
  readonly atEnd?: () => EndFacts;
}

/** The range of a request that has read nothing. */
export const NO_RANGE: ReadRange = { startDate: null, endDate: null, pending: null, conditions: [] };
const NOBODY: Operator = { door: 'command', account: null, address: null };
const PROVISION_LENGTH = 8;
const MAX_TEXT_LENGTH = 200;
const MS_PER_DAY = 86_400_000;

/** Keeps a list of every reading of personal data, and of logins, refusals and changes of rights, for each organization. */
export class AuditService {
  constructor(
    private readonly store: AuditStore,
    private readonly chains: AuditChainStore,
    private readonly writer: AuditWriter,
    private readonly readings: AuditReadings,
    private readonly onEvent: (event: SeenEvent) => void = () => undefined,
    /** The operator of now, where operators use this service. */
    private readonly findOperator: () => Operator = () => NOBODY,
  ) {}

  /** The operator of now as the caller of an entry, who has no provision. */
  operator(organizationId: number): AuditCaller {
    return { organizationId, username: this.findOperator().account, provisionLabel: null, provisionStart: null };
  }

  /** The operation of a command, or of what stands for it at the operators' door. */
  command(name: string): AuditOperation {
    const { door, address } = this.findOperator();
    return { door, name, hash: null, address };
  }

  /** Adds an event. Throws NO_DATA_SOURCE_CONNECTION when its row cannot be written. */
  async record(caller: AuditCaller, operation: AuditOperation, { kind, subject, detail }: AuditEvent): Promise<void> {
    const facts = { ...toFacts(caller, operation, NO_RANGE), kind, subject: clean(subject ?? null), detail: clean(detail ?? null) };
    await this.writer.write(caller.organizationId, { ...NO_FACTS, ...facts, entry: randomUUID(), part: 'only', at: new Date() });
    this.onEvent(toSeenEvent(kind, caller, operation));
  }

  /** Adds an event that callers may cause as often as they like. Equal ones of a minute share an entry. Throws as `record`. */
  recordOften(caller: AuditCaller, operation: AuditOperation, event: AuditEvent): Promise<void> {
    return this.recordShared(caller, operation, event, true);
  }

  /**
   * Adds an event as `recordOften` does, and does not wait for its row: the time of the answer must not tell whether the event has one of
   * its own, as that of a user's name has. Throws NO_DATA_SOURCE_CONNECTION when too many rows wait.
   */
  noteOften(caller: AuditCaller, operation: AuditOperation, event: AuditEvent): Promise<void> {
    return this.recordShared(caller, operation, event, false);
  }

  /** Begins a reading of personal data. Equal ones of a minute share an entry, but for files. */
  read(caller: AuditCaller, operation: AuditOperation, { range = NO_RANGE, file, atEnd = () => ({}) }: ReadingFacts): OpenReading {
    const facts = { ...toFacts(caller, operation, range), ...file, kind: file ? 'file' : 'read' } as const;
    return this.readings.begin(caller.organizationId, facts, atEnd);
  }

  /** Reads when the row that says so is written, and tells the end of the reading. Throws as `record`. */
  async accompany<Value>(
    caller: AuditCaller,
    operation: AuditOperation,
    read: (id: string) => Promise<Value>,
    facts: ReadingFacts = {},
  ): Promise<Value> {
    const reading = this.read(caller, operation, facts);
    let outcome: ReadingOutcome = 'broken';
    try {
      await reading.written;
      const value = await read(reading.id);
      outcome = 'whole';
      return value;
    } finally {
      reading.end(outcome);
    }
  }

  /** An entry of an organization by its id; null when there is none. */
  find(organizationId: number, id: string): Promise<AuditEntry | null> {
    return this.store.find(organizationId, id);
  }

  /** The entry of a file by its id; null for another entry. */
  findFile(organizationId: number, id: string): Promise<FileEntry | null> {
    return this.store.findFile(organizationId, id);
  }

  /** The entries of files with these bytes, those of one organization or of all, the newest first. */
  listFiles(fileSha256: string, organizationId?: number): Promise<FileEntry[]> {
    return this.store.listFiles(fileSha256, organizationId);
  }

  /** The first entries of a list. */
  list(list: AuditList, limit: number): Promise<AuditEntry[]> {
    return this.store.list(list, { limit, fromEnd: false });
  }

  /** A page of a list. Throws INVALID_PARAMETERS when the page's parameters are wrong. */
  page(list: AuditList, page: PageParameters): Promise<Page<AuditEntry>> {
    const paged = { order: auditOrder, query: ['audit', list], count: () => this.store.count(list) };
    return readPage(page, paged, (bounds) => this.store.list(list, bounds));
  }

  /**
   * Compares an organization's rows with their hashes, and with a place that an operator wrote down. Throws an OperatorError where that place
   * was deleted by age, and nothing else is wrong.
   */
  async verify(organizationId: number, noted?: ChainPlace): Promise<AuditVerification> {
    const verification = await verifyAudit(this.chains, organizationId, noted);
    const oldest = verification.ends?.anchor.number ?? 0;
    if (noted && noted.number < oldest && !verification.fault)
      throw new OperatorError(`Row ${noted.number} was deleted by age: the rows up to ${oldest} are no more. Note a newer anchor`);
    return verification;
  }

  /** The newest place of an organization's chain, to be written down elsewhere; null when it has no chain. */
  async anchor(organizationId: number): Promise<ChainPlace | null> {
    return (await this.chains.findEnds(organizationId))?.newest ?? null;
  }

  /**
   * Deletes an organization's rows that are older than some days. A row says up to where, and the chain begins there. No row is deleted, and
   * this throws, when the signal is aborted before the end.
   */
  async deleteOld(organizationId: number, days: number, signal: AbortSignal): Promise<void> {
    const last = await this.chains.findLastBefore(organizationId, new Date(Date.now() - days * MS_PER_DAY), signal);
    if (!last) return;
    const facts = { kind: 'anchor', door: 'gateway', operation: 'retention', detail: formatAnchor(last) } as const;
    await this.writer.write(organizationId, { ...NO_FACTS, ...facts, entry: randomUUID(), part: 'only', at: new Date() });
    await this.chains.deleteUpTo(organizationId, last, signal);
  }

  /** Writes what is still in memory. An answer that has not arrived by now is cut: its door learns that after its connection is gone. */
  async close(): Promise<void> {
    await this.writer.close(this.readings.close());
  }

  private async recordShared(
    caller: AuditCaller,
    operation: AuditOperation,
    { kind, subject, detail }: AuditEvent,
    isAwaited: boolean,
  ): Promise<void> {
    const facts = { ...toFacts(caller, operation, NO_RANGE), kind, subject: clean(subject ?? null), detail: clean(detail ?? null) };
    const reading = this.readings.begin(caller.organizationId, facts, () => ({}), isAwaited);
    reading.end('whole');
    await reading.written;
    this.onEvent(toSeenEvent(kind, caller, operation));
  }
}

/** The part of a provision that the audit may show. */
export const toProvisionStart = (provision: string): string => provision.slice(0, PROVISION_LENGTH);

const toSeenEvent = (
  event: SeenEvent['event'],
  { organizationId, provisionStart }: AuditCaller,
  { door, address }: AuditOperation,
): SeenEvent => ({
  event,
  door,
  organization: organizationId,
  provision: provisionStart,
  address,
});

function toFacts(
  { username, provisionLabel, provisionStart }: AuditCaller,
  { door, name, hash, address }: AuditOperation,
  range: ReadRange,
) {
  return {
    door,
    operation: clean(name) ?? '',
    operationHash: hash,
    subject: null,
    detail: null,
    report: null,
    format: null,
    tellsDonors: null,
    fileAddress: null,
    rendering: null,
    username: clean(username),
    provisionLabel: clean(provisionLabel),
    provisionStart,
    address,
    ...range,
  } satisfies Omit<StartFacts, 'kind'>;
}

/** A text as PostgreSQL can hold it, without NUL and lone surrogates, and not longer than a row should be. */
const clean = (text: string | null): string | null =>
  text === null ? null : Buffer.from(text.slice(0, MAX_TEXT_LENGTH).replaceAll('\0', '\uFFFD')).toString();
