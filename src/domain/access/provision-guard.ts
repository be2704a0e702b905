import { subscriberOf } from '../../values/addresses';
import type { GuessGate } from './guess-gate';

/**
 * Limits the guessing of provisions. An address may send so many unknown UUIDs in a minute; then no new one is looked up for it. UUIDs that
 * were good at this address before are not affected, so that guessers behind a shared address stop no application that works.
 */
export class ProvisionGuard {
  constructor(private readonly gate: GuessGate) {}

  /**
   * Looks up a UUID for a caller at an address; `find` resolves to null for an unknown one. Throws TOO_MANY_PROVISIONS when the address has
   * used up its attempts.
   */
  async look<Found>(address: string, uuidHash: Buffer, find: () => Promise<Found | null>): Promise<Found | null> {
    const subscriber = subscriberOf(address);
    const name = `${subscriber} ${uuidHash.toString('base64url')}`;
    if (this.gate.isFamiliar(name)) return find();
    const end = await this.gate.enter(subscriber, name);
    try {
      const found = await find();
      end(found ? 'found' : 'unknown');
      return found;
    } catch (error) {
      end('failed');
      throw error;
    }
  }
}
