import { Command } from 'commander';
import type { WebhookRow } from '../../data/webhooks/webhook-store';
import { withServices, type CommandContext } from '../command';
import { ORGANIZATION } from '../command-options';
import { readSecret } from '../secret-file';
import { formatTable, firstLineOf, printResult, readCount, readLimit } from '../terminal';

const WEBHOOK = ['<webhook>', 'id of the webhook, as `webhook list` names it'] as const;
const LISTED = 50;

/** The state of a webhook in a word. */
function stateOf({ disabledAt, failures, acknowledgedVersion, newestVersion }: WebhookRow): string {
  if (disabledAt) return 'disabled';
  if (failures > 0) return 'failing';
  return acknowledgedVersion === newestVersion ? 'current' : 'behind';
}

/** A webhook in the form of JSON. */
const toResult = ({ organizationId: _number, ...webhook }: WebhookRow) => ({ ...webhook, state: stateOf(webhook as WebhookRow) });
const time = (date: Date | null): string => date?.toISOString().replace(/\.\d+Z$/, 'Z') ?? '';

interface CreateOptions {
  readonly organization: string;
  readonly url: string;
  readonly secretFile: string;
}

/** `webhook create | list | log | replay | enable | delete`: manages the receivers that are told of new data versions. */
export function webhookCommand(context: () => CommandContext): Command {
  const command = new Command('webhook');
  const print = (webhook: WebhookRow, text: string): void => {
    const { terminal, json } = context();
    printResult(terminal, json, toResult(webhook), text);
  };
  command
    .command('create')
    .description('adds a receiver of data versions after the newest, and prints its id; its first heartbeat comes at once')
    .requiredOption(...ORGANIZATION)
    .requiredOption('--url <url>', 'address that messages are posted to, such as https://books.example.org/hook')
    .requiredOption('--secret-file <file>', 'file with the secret that signs messages: whsec_ and base64 of 24 to 64 random bytes')
    .action(async ({ organization, url, secretFile }: CreateOptions) => {
      const secret = firstLineOf(await readSecret(secretFile), 'The secret');
      const webhook = await withServices(context(), ({ webhooks }) => webhooks.create({ organization, url, secret }));
      print(webhook, webhook.id);
    });
  command
    .command('list')
    .description('lists the webhooks, the versions that they have acknowledged, and their troubles')
    .option('--organization <name>', 'name of the organization; all of them when it is missing')
    .action(async ({ organization }: { organization?: string }) => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ webhooks }) => webhooks.list(organization));
      const rows = list.map((webhook) => [
        ...[webhook.id, webhook.organization, webhook.url, stateOf(webhook)],
        ...[String(webhook.acknowledgedVersion), String(webhook.newestVersion), time(webhook.heartbeatAt)],
        ...[time(webhook.failingSince), webhook.failures > 0 && !webhook.disabledAt ? time(webhook.nextAttemptAt) : ''],
        webhook.disabledReason ?? '',
      ]);
      const header = ['WEBHOOK', 'ORGANIZATION', 'URL', 'STATE', 'ACKNOWLEDGED', 'NEWEST', 'HEARTBEAT', 'FAILING SINCE', 'NEXT ATTEMPT'];
      printResult(terminal, json, list.map(toResult), formatTable([...header, 'DISABLED BY'], rows));
    });
  command
    .command('log')
    .description('lists the newest attempts of a webhook, the newest first; those of 30 days are kept, 1000 at most')
    .argument(...WEBHOOK)
    .option('--last <count>', 'number of attempts', readCount, LISTED)
    .action(async (id: string, { last }: { last: number }) => {
      const { terminal, json } = context();
      const list = await withServices(context(), ({ webhooks }) => webhooks.listDeliveries(id, last));
      const rows = list.map(({ at, messageId, attempt, version, previous, status, failure, milliseconds }) => [
        ...[at.toISOString(), messageId, String(attempt), version === previous ? 'books.heartbeat' : 'books.advanced'],
        ...[String(version), String(previous), failure ?? String(status), String(milliseconds)],
      ]);
      printResult(
        terminal,
        json,
        list,
        formatTable(['AT', 'MESSAGE', 'ATTEMPT', 'TYPE', 'VERSION', 'PREVIOUS', 'OUTCOME', 'MILLISECONDS'], rows),
      );
    });
  command
    .command('replay')
    .description('tells a receiver of the newest data version again, under a new id, and enables its webhook')
    .argument(...WEBHOOK)
    .option('--from <version>', 'version that counts as acknowledged; the one before the newest when it is missing', readLimit)
    .action(async (id: string, { from }: { from?: number }) => {
      const webhook = await withServices(context(), ({ webhooks }) => webhooks.replay(id, from));
      print(webhook, `Webhook ${id} is told of version ${webhook.newestVersion} again`);
    });
  command
    .command('enable')
    .description('enables a webhook that was disabled, and has one that fails tried at once')
    .argument(...WEBHOOK)
    .action(async (id: string) => {
      const webhook = await withServices(context(), ({ webhooks }) => webhooks.enable(id));
      print(webhook, `Webhook ${id} is tried at once`);
    });
  command
    .command('delete')
    .description('deletes a webhook with its log')
    .argument(...WEBHOOK)
    .action(async (id: string) => {
      const { terminal, json } = context();
      const { organization } = await withServices(context(), ({ webhooks }) => webhooks.delete(id));
      printResult(terminal, json, { id, organization, deleted: true }, `Deleted webhook ${id} of "${organization}"`);
    });
  return command;
}
