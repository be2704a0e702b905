import type { ProvisionRow } from '../../data/access/provision-store';
import { OperatorError } from '../../errors';
import { isNetwork } from '../../values/addresses';
import { instantForms, toInstant } from '../../values/dates';

const MAX_LABEL_LENGTH = 200;
const MAX_ADDRESSES = 100;
const SPAN = /^([0-9]{1,6})(m|h|d)$/;
const MS_PER_UNIT = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The forms of an expiry, for help texts and messages. */
export const EXPIRY_FORMS = [...instantForms, 'a span such as 90d or 12h'].join(', ');

/** The time that an operator's text stands for. Throws an OperatorError for no such text, and for a time that is over. */
export function toExpiry(text: string): Date {
  const time = SPAN.test(text) ? Date.now() + toSpanMs(text) : toInstant(text);
  if (time === undefined) throw new OperatorError(`"${text}" is no expiry: expected ${EXPIRY_FORMS}`);
  if (time <= Date.now()) throw new OperatorError(`${text} is over: \`provision revoke\` ends a provision at once`);
  return new Date(time);
}

/** The milliseconds of a span such as `7d`, `12h`, `30m` or `0`. Throws an OperatorError for any other text. */
export function toSpanMs(text: string): number {
  if (text === '0') return 0;
  const [, count, unit] = SPAN.exec(text) ?? [];
  if (count === undefined) throw new OperatorError(`"${text}" is no span: expected days, hours or minutes such as 7d, 12h or 30m, or 0`);
  return Number(count) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
}

/** Throws an OperatorError for the first text that is neither an address nor a network. */
export function assertNetworks(networks: readonly string[]): void {
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong !== undefined) throw new OperatorError(`"${wrong}" is neither an IP address nor a network such as 198.51.100.0/24`);
  if (networks.length > MAX_ADDRESSES) throw new OperatorError(`A provision is bound to at most ${MAX_ADDRESSES} networks`);
}

export function assertLabel(label: string): void {
  if (label.length > MAX_LABEL_LENGTH || /\p{Cc}/u.test(label))
    throw new OperatorError(`The label must be at most ${MAX_LABEL_LENGTH} characters, with no control characters`);
}

/** The schema's file, to which a provision may be bound as to a saved report. No report can have this name. */
export const SCHEMA_FILE = 'schema.graphql';

/** The address of a file that a provision is bound to, without the ending that chooses its format. */
export const toBoundPath = (report: string): string => (report === SCHEMA_FILE ? `/${SCHEMA_FILE}` : `/reports/${report}`);

/** A provision in an operator's messages, by what is no secret. */
export const describeProvision = ({ id, keys }: Pick<ProvisionRow, 'id' | 'keys'>): string => `${id} (${keys[0]!.firstCharacters}…)`;
