import type { LocalDate } from '../../values/dates';
import type { Database } from '../postgres/database';

/** The readings of an organization's old service so far. */
export interface SyncState {
  readonly organizationId: number;
  /** The first deposit date of the history; null before the first run. */
  readonly since: LocalDate | null;
  /** The last deposit date that the first run has read; null before its first month. */
  readonly readThrough: LocalDate | null;
  readonly lastRoundAt: Date | null;
  readonly lastSuccessAt: Date | null;
  /** The end of the newest reading of the whole history; null before the end of the first run. */
  readonly lastFullAt: Date | null;
  /** The time at which the newest reading of the whole history began; null before the first after the first run. */
  readonly fullTriedAt: Date | null;
  /** The reason why the newest round failed; null when it succeeded. */
  readonly failure: string | null;
  /** The reason why the newest reading of the whole history failed; null when it succeeded. */
  readonly fullFailure: string | null;
  readonly failures: number;
  /** The lines that all rounds have added, changed and removed. */
  readonly linesChanged: number;
  /** True while a sync runs. */
  readonly isHeld: boolean;
}

/** The end of a round. */
export interface RoundEnd {
  readonly linesChanged: number;
  readonly failure: string | null;
  /** True when the round has read the whole history. */
  readonly isFull: boolean;
  /** The reason why the newest reading of the whole history failed; null when it succeeded, or when none is wanted. */
  readonly fullFailure: string | null;
}

/** Seconds for which a sync keeps others out after it was heard of last. */
const HELD_SECONDS = 60;

/** The right of one sync of an organization to run, which another sync takes over when it is not heard of. */
export interface SyncHolder {
  readonly organizationId: number;
  readonly holder: string;
}

/** The states of syncs. A sync writes its own only while it is the one that may run. */
export class SyncStore {
  constructor(private readonly database: Database) {}

  /** Lets one sync of an organization run, and keeps it for a while. False while another one runs. */
  async hold({ organizationId, holder }: SyncHolder): Promise<boolean> {
    const rows = await this.database.query({ name: 'hold-sync', text: HOLD, values: [organizationId, holder] });
    return rows.length > 0;
  }

  /** Keeps the right of a sync to run. False when another one has taken it. */
  async keep({ organizationId, holder }: SyncHolder): Promise<boolean> {
    const rows = await this.database.query({ name: 'keep-sync', text: KEEP, values: [organizationId, holder] });
    return rows.length > 0;
  }

  /** Ends the right of a sync. One that was never begun leaves nothing. */
  async release({ organizationId, holder }: SyncHolder): Promise<void> {
    await this.database.query({ name: 'release-sync', text: RELEASE, values: [organizationId, holder] });
  }

  async find(organizationId: number): Promise<SyncState | null> {
    const rows = await this.database.query<SyncState>({
      name: 'find-sync',
      text: `${LIST} WHERE organization_id = $1`,
      values: [organizationId],
    });
    return rows[0] ?? null;
  }

  /** The states of every organization that has a sync. */
  list(): Promise<SyncState[]> {
    return this.database.query<SyncState>({ name: 'list-syncs', text: LIST });
  }

  /** Begins the first run, or another one over a longer history. */
  async begin({ organizationId, holder }: SyncHolder, since: LocalDate): Promise<void> {
    await this.database.query({ name: 'begin-sync', text: BEGIN, values: [organizationId, holder, since] });
  }

  /** Forgets the readings of an organization. False when there are none, or when a sync runs. */
  async forget(organizationId: number): Promise<boolean> {
    const rows = await this.database.query({ name: 'forget-sync', text: FORGET, values: [organizationId] });
    return rows.length > 0;
  }

  /** Notes the last date that the first run has read. */
  async noteRead({ organizationId, holder }: SyncHolder, through: LocalDate): Promise<void> {
    await this.database.query({ name: 'note-sync', text: NOTE_READ, values: [organizationId, holder, through] });
  }

  /** Notes that a reading of the whole history begins. */
  async noteFullTry({ organizationId, holder }: SyncHolder): Promise<void> {
    await this.database.query({ name: 'note-full', text: NOTE_FULL_TRY, values: [organizationId, holder] });
  }

  async noteRound({ organizationId, holder }: SyncHolder, { linesChanged, failure, isFull, fullFailure }: RoundEnd): Promise<void> {
    const values = [organizationId, holder, linesChanged, failure, isFull, fullFailure];
    await this.database.query({ name: 'note-round', text: NOTE_ROUND, values });
  }
}

const HOLD = `
INSERT INTO sync_state (organization_id, holder, held_until)
SELECT id, $2, now() + make_interval(secs => ${HELD_SECONDS}) FROM organization WHERE id = $1
ON CONFLICT (organization_id) DO UPDATE SET holder = EXCLUDED.holder, held_until = EXCLUDED.held_until
WHERE sync_state.holder IS NULL OR sync_state.held_until < now() OR sync_state.holder = EXCLUDED.holder
RETURNING organization_id`;
const FORGET = 'DELETE FROM sync_state WHERE organization_id = $1 AND (held_until IS NULL OR held_until < now()) RETURNING organization_id';
const KEEP = `
UPDATE sync_state SET held_until = now() + make_interval(secs => ${HELD_SECONDS}) WHERE organization_id = $1 AND holder = $2
RETURNING organization_id`;
const RELEASE = `
WITH unbegun AS (DELETE FROM sync_state WHERE organization_id = $1 AND holder = $2 AND since IS NULL)
UPDATE sync_state SET holder = NULL, held_until = NULL WHERE organization_id = $1 AND holder = $2 AND since IS NOT NULL`;
const NOTE_FULL_TRY = 'UPDATE sync_state SET full_tried_at = clock_timestamp() WHERE organization_id = $1 AND holder = $2';
const LIST = `
SELECT organization_id AS "organizationId", since::text AS since, read_through::text AS "readThrough", last_round_at AS "lastRoundAt",
  last_success_at AS "lastSuccessAt", last_full_at AS "lastFullAt", full_tried_at AS "fullTriedAt", failure,
  full_failure AS "fullFailure", failures::float8 AS failures, lines_changed::float8 AS "linesChanged", COALESCE(held_until > now(), false) AS "isHeld"
FROM sync_state`;
const BEGIN = `
UPDATE sync_state SET since = $3::date, read_through = NULL, last_full_at = NULL, full_failure = NULL WHERE organization_id = $1 AND holder = $2`;
const NOTE_READ = 'UPDATE sync_state SET read_through = $3::date WHERE organization_id = $1 AND holder = $2';
const NOTE_ROUND = `
UPDATE sync_state SET last_round_at = clock_timestamp(), lines_changed = lines_changed + $3::bigint, failure = $4,
  full_failure = $6,
  failures = failures + CASE WHEN $4::text IS NULL THEN 0 ELSE 1 END,
  last_success_at = CASE WHEN $4::text IS NULL THEN clock_timestamp() ELSE last_success_at END,
  last_full_at = CASE WHEN $4::text IS NULL AND $5::boolean THEN clock_timestamp() ELSE last_full_at END
WHERE organization_id = $1 AND holder = $2`;
