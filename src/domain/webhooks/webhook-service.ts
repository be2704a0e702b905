import { randomUUID } from 'node:crypto';
import type { DeliveryRow, WebhookFigures, WebhookRow, WebhookStore } from '../../data/webhooks/webhook-store';
import { OperatorError } from '../../errors';
import { parseWebhookSecret } from '../../receivers/webhook-message';
import { isIpAddress, isPrivateAddress, withoutBrackets } from '../../values/addresses';
import { isUuid } from '../../values/ids';
import type { OrganizationService } from '../access/organization-service';
import type { RightsAudit } from '../audit/rights-audit';

export interface WebhookRequest {
  readonly organization: string;
  readonly url: string;
  /** The text of the secret, as Standard Webhooks write it. */
  readonly secret: string;
}

/** Manages webhooks for operators. Its methods throw OperatorErrors. */
export class WebhookService {
  /** With `allowsPrivate`, receivers may be at private addresses, and those may be without TLS. */
  constructor(
    private readonly organizations: OrganizationService,
    private readonly webhooks: WebhookStore,
    private readonly rights: RightsAudit,
    private readonly allowsPrivate: boolean,
  ) {}

  /** Creates a webhook that is told of versions after the newest. Its first heartbeat is due at once. */
  async create({ organization, url, secret }: WebhookRequest): Promise<WebhookRow> {
    const target = this.toTarget(url);
    const key = parseWebhookSecret(secret);
    const { id: organizationId } = await this.organizations.get(organization);
    // A path may be a secret of the receiver.
    const id = randomUUID();
    await this.rights.note(organizationId, 'webhook create', `webhook ${id}`, target.origin);
    await this.webhooks.insert({ id, organizationId, url: target.href }, key);
    return this.get(id);
  }

  /** The webhooks of an organization, or of all. */
  async list(organization?: string): Promise<WebhookRow[]> {
    return this.webhooks.list(organization === undefined ? null : (await this.organizations.get(organization)).id);
  }

  async get(id: string): Promise<WebhookRow> {
    const webhook = isUuid(id) ? await this.webhooks.find(id) : null;
    if (!webhook) throw new OperatorError(`There is no webhook ${id}: \`webhook list\` names them`);
    return webhook;
  }

  /** The newest attempts, the newest first. */
  async listDeliveries(id: string, limit: number): Promise<DeliveryRow[]> {
    await this.get(id);
    return this.webhooks.listDeliveries(id, limit);
  }

  /** Tells the newest version again, as if `from` had been acknowledged last; by default the version before. Enables the webhook. */
  async replay(id: string, from?: number): Promise<WebhookRow> {
    const webhook = await this.get(id);
    const { newestVersion, acknowledgedVersion } = webhook;
    if (newestVersion === 0) throw new OperatorError(`"${webhook.organization}" has no data version yet`);
    // A receiver of other books must still be told so.
    const previous = from ?? (acknowledgedVersion > newestVersion ? acknowledgedVersion : newestVersion - 1);
    if (from !== undefined && from >= newestVersion)
      throw new OperatorError(`The newest data version is ${newestVersion}: replay from an earlier one`);
    await this.note(webhook, 'replay', `from version ${previous}`);
    await this.webhooks.resume(id, previous);
    return this.get(id);
  }

  /**
   * Forgets what receivers have acknowledged, because it may have been of other books: all of them are told the newest version of these.
   * Returns the number of webhooks.
   */
  forgetAcknowledged(): Promise<number> {
    return this.webhooks.forgetAcknowledged();
  }

  /** Enables a webhook that was disabled, and lets one that fails be tried at once. */
  async enable(id: string): Promise<WebhookRow> {
    const webhook = await this.get(id);
    if (webhook.disabledAt === null && webhook.failures === 0) throw new OperatorError(`Webhook ${id} is neither disabled nor failing`);
    await this.note(webhook, 'enable');
    await this.webhooks.resume(id);
    return this.get(id);
  }

  /** Deletes a webhook with its log. */
  async delete(id: string): Promise<WebhookRow> {
    const webhook = await this.get(id);
    await this.note(webhook, 'delete');
    await this.webhooks.delete(id);
    return webhook;
  }

  /** The figures of every organization that has a webhook. */
  listFigures(): Promise<WebhookFigures[]> {
    return this.webhooks.listFigures();
  }

  private note({ organizationId, id }: WebhookRow, verb: string, detail?: string): Promise<void> {
    return this.rights.note(organizationId, `webhook ${verb}`, `webhook ${id}`, detail);
  }

  /** The address of a receiver. A name is looked up at each attempt, because it may lead elsewhere later. */
  private toTarget(text: string): URL {
    const isHttp = /^https?:\/\//i.test(text) && URL.canParse(text);
    if (!isHttp) throw new OperatorError('The URL must be one like https://books.example.org/hook');
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') throw new OperatorError('The URL must have no user and no password');
    if (url.hash !== '') throw new OperatorError('The URL must have no fragment');
    const host = withoutBrackets(url.hostname);
    const isLocal = /(^|\.)localhost\.?$/.test(host);
    const isPrivate = isLocal || (isIpAddress(host) && isPrivateAddress(host));
    const isAnyName = !isLocal && !isIpAddress(host);
    if (url.protocol === 'http:' && !(this.allowsPrivate && (isPrivate || isAnyName)))
      throw new OperatorError('The URL must begin with https://; WEBHOOK_PRIVATE_ADDRESSES allows http:// to private addresses');
    if (isPrivate && !this.allowsPrivate)
      throw new OperatorError(`${host} is a private address, which WEBHOOK_PRIVATE_ADDRESSES does not allow`);
    return url;
  }
}
