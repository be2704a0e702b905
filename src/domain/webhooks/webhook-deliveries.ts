import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptEnd, ClaimedMessage, DeliveryStore, DueWebhook } from '../../data/webhooks/delivery-store';
import { signWebhook, toWebhookBody } from '../../receivers/webhook-message';
import type { WebhookOutcome, WebhookSender } from '../../receivers/webhook-sender';

/** A hook in a log line. */
interface TroubledWebhook {
  readonly organization: number;
  readonly webhook: string;
  readonly reason: string;
}

/** The signals of deliveries to whoever watches the gateway. */
export interface DeliverySignals {
  /** Called at the first failure after an acknowledgement. */
  readonly onFailing: (hook: TroubledWebhook) => void;
  readonly onDisabled: (hook: TroubledWebhook) => void;
  /** Called with the first failure of the database after a success. */
  readonly onDatabaseFault: (error: unknown) => void;
}

/** The attempts since the start. */
export interface DeliveryFigures {
  readonly acknowledged: number;
  readonly failed: number;
}

const LOOK_MS = 1000;
const MS_PER_SECOND = 1000;
const MINUTE = 60;
const HOUR = 3600;
/**
 * Seconds between the attempts of a hook that fails: three days in all, as Standard Webhooks 1.0 advises. Attempts count, and not the days, so
 * that a gateway that was off for a week still tries them all.
 */
const WAITS: readonly number[] = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
/** Waits differ by up to a tenth, so that the hooks of a receiver that comes back do not all come in one second. */
const JITTER = 0.1;
const GONE = 410;
/** The most attempts at once, of all organizations and of one. A receiver that hangs keeps one for ten seconds. */
const MAX_ATTEMPTS = 128;
const MAX_OF_ORGANIZATION = 16;

/** Tells receivers of new data versions. One process of a gateway does; several gateways share the hooks by claims in the database. */
export class WebhookDeliveries {
  private readonly underWay = new Map<Promise<void>, number>();
  private acknowledged = 0;
  private failed = 0;
  private isFaulty = false;

  constructor(
    private readonly store: DeliveryStore,
    private readonly sender: WebhookSender,
  ) {}

  get figures(): DeliveryFigures {
    return { acknowledged: this.acknowledged, failed: this.failed };
  }

  /**
   * Looks every second for hooks that are behind, and tells them, until the signal. The attempts that are under way then are given up: another
   * gateway makes them again, with the same ids.
   */
  async run(stopping: AbortSignal, signals: DeliverySignals): Promise<void> {
    while (!stopping.aborted) {
      const isAllTaken = await this.look(stopping, signals).catch((error: unknown) => this.noteFault(error, signals));
      const pause = delay(LOOK_MS, undefined, { signal: stopping }).catch(() => undefined);
      await Promise.race([pause, ...(isAllTaken ? [] : this.underWay.keys())]);
    }
    await Promise.all(this.underWay.keys());
  }

  /** Begins the attempts that are due. Resolves to false when there was no place for all of them. */
  private async look(stopping: AbortSignal, signals: DeliverySignals): Promise<boolean> {
    const due = await this.store.listDue();
    this.isFaulty = false;
    const chosen = this.choose(due);
    if (chosen.length === 0 || stopping.aborted) return due.length === 0;
    for (const message of await this.store.claim(chosen, randomUUID())) {
      const attempt = this.attempt(message, stopping, signals).catch((error: unknown) => this.noteFault(error, signals));
      const ended = attempt.then(() => void this.underWay.delete(ended));
      this.underWay.set(ended, message.organizationId);
    }
    return chosen.length === due.length;
  }

  /** The first due hooks that there is a place for. */
  private choose(due: readonly DueWebhook[]): DueWebhook[] {
    const taken = new Map<number, number>();
    for (const organization of this.underWay.values()) taken.set(organization, (taken.get(organization) ?? 0) + 1);
    let free = MAX_ATTEMPTS - this.underWay.size;
    return due.filter(({ organizationId }) => {
      const ofOrganization = taken.get(organizationId) ?? 0;
      if (free === 0 || ofOrganization >= MAX_OF_ORGANIZATION) return false;
      taken.set(organizationId, ofOrganization + 1);
      free--;
      return true;
    });
  }

  private noteFault(error: unknown, { onDatabaseFault }: DeliverySignals): true {
    if (!this.isFaulty) onDatabaseFault(error);
    return (this.isFaulty = true);
  }

  private async attempt(message: ClaimedMessage, stopping: AbortSignal, signals: DeliverySignals): Promise<void> {
    const body = toWebhookBody(message);
    const begun = new Date();
    const headers = signWebhook(message.id, body, message.secret, begun);
    let outcome: WebhookOutcome;
    try {
      outcome = await this.sender.send({ url: message.url, headers, body, signal: stopping });
    } catch (error) {
      if (stopping.aborted) return;
      throw error;
    }
    const end = { status: null, failure: null, ...outcome, ms: Date.now() - begun.getTime() };
    if (end.status !== null && end.status >= 200 && end.status < 300) {
      this.acknowledged++;
      await this.store.acknowledge(message, end);
    } else {
      this.failed++;
      await this.fail(message, end, signals);
    }
  }

  private async fail(message: ClaimedMessage, end: AttemptEnd, signals: DeliverySignals): Promise<void> {
    const reason = end.failure ?? `status ${end.status}`;
    const wait = WAITS[message.failures];
    const isOver = end.status === GONE || wait === undefined;
    const waitMs = (wait ?? 0) * MS_PER_SECOND * (1 - JITTER + 2 * JITTER * Math.random());
    const isNoted = await this.store.fail(message, end, { waitMs, disabledReason: isOver ? reason : null });
    const hook = { organization: message.organizationId, webhook: message.webhookId, reason };
    if (isNoted && isOver) signals.onDisabled(hook);
    else if (isNoted && message.failures === 0) signals.onFailing(hook);
  }
}
