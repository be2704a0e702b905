import { LRUCache } from 'lru-cache';
import { numberOf, type VersionStamp } from './version-stamp';

/** The organizations whose versions are remembered. Each takes some hundred bytes. */
const MAX_ORGANIZATIONS = 10_000;

/**
 * The newest versions that this process has seen. While a standby takes over, the address of the primary may lead to one that has not
 * replayed everything yet, and its callers would go back in time.
 */
export class SeenVersions {
  private readonly newest = new LRUCache<number, number>({ max: MAX_ORGANIZATIONS });

  /** Notes a version that an answer was of. */
  add(organizationId: number, version: VersionStamp): void {
    if (!this.isOlder(organizationId, version)) this.newest.set(organizationId, numberOf(version));
  }

  /**
   * Notes the version that a server has. False for a standby that lacks a version which was seen before. A primary is always right: its books
   * are older when a backup was restored.
   */
  admits(organizationId: number, version: VersionStamp, isStandby: boolean): boolean {
    if (isStandby && this.isOlder(organizationId, version)) return false;
    this.newest.set(organizationId, numberOf(version));
    return true;
  }

  private isOlder(organizationId: number, version: VersionStamp): boolean {
    return numberOf(version) < (this.newest.get(organizationId) ?? 0);
  }
}
