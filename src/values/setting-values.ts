import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { isHostName, isNetwork, isOrigin, isPostgresUrl, toHostName, toPageAddress, withoutBrackets } from './addresses';
import { instantForms, toInstant } from './dates';
import { isForwarded, isHeaderName } from './header-names';
import { isMailAddress, toMailServer } from './mail-addresses';

/** The empty value of a setting that may be missing. */
export const none = z.literal('').transform(() => undefined);

/** Values between commas. */
const list = z.string().transform((text) => text.split(',').flatMap((part) => part.trim() || []));

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected a whole number from ${min} to ${max}`);

export const days = wholeNumber(1, 36_500);

export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, `expected one of ${values.join(', ')}`);

export const onOff = oneOf('on', 'off').transform((value) => value === 'on');

const PASSWORD_RULE = 'a password has every character but letters and digits percent-encoded, such as %40 for @';
export const postgresUrl = z
  .string()
  .refine(isPostgresUrl, `expected a URL like postgresql://user:password@host:5432/database; ${PASSWORD_RULE}`);

export const postgresUrls = list.refine(
  (parts) => parts.every(isPostgresUrl),
  `expected URLs like postgresql://user:password@host:5432/database, separated by commas; ${PASSWORD_RULE}`,
);

export const httpUrl = z
  .string()
  .refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value), 'expected a URL like http://127.0.0.1:4318');

export const page = z
  .string()
  .transform(toPageAddress)
  .refine((href) => href !== undefined, 'expected a URL like https://example.org/leave-v2');

/** Milliseconds of the Unix time: settings go to workers as JSON, which knows no Date. */
export const instant = z
  .string()
  .transform(toInstant)
  .refine((time) => time !== undefined, `expected ${instantForms.join(' or ')}`);

export const proxies = list.refine((parts) => parts.every(isNetwork), 'expected addresses or CIDR ranges, separated by commas');

export const origins = list.superRefine((parts, context) => {
  const wrong = parts.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return;
  context.addIssue(`expected exact origins such as https://app.example.org, separated by commas; "${wrong}" is none`);
});

/**
 * The names of request headers, in lower case. A `*` at the end of one stands for every ending: browsers know no such form, so each
 * preflight is answered with the names that it asks for. Proxies tell by X-Forwarded headers and Forwarded who the caller is.
 */
export const headerNames = list
  .transform((parts) => parts.map((part) => part.toLowerCase()))
  .superRefine((parts, context) => {
    const wrong = parts.find((name) => !isHeaderName(name) || name.slice(0, -1).includes('*') || name === '*');
    if (wrong !== undefined) {
      context.addIssue(`expected names of request headers such as b3 or x-datadog-*, separated by commas; "${wrong}" is none`);
    }
    const forwarded = parts.find(isForwarded);
    if (forwarded !== undefined) context.addIssue(`"${forwarded}" is for proxies alone`);
  });

export const address = z
  .string()
  .transform(withoutBrackets)
  .pipe(z.string().regex(/^[\w.:-]+$/, 'expected an address or a host name'));

export const hostNames = list
  .transform((parts) => parts.map((part) => part.toLowerCase()))
  .refine(
    (list) => list.every((name) => (!/:[0-9]*$/.test(name) || isIP(name) === 6) && isHostName(toHostName(name))),
    'expected host names without ports, separated by commas',
  );

const MAX_WORKERS = 128;
export const workers = z
  .string()
  .regex(/^(auto|[1-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$/, 'expected a whole number from 1 to 128, or auto')
  .transform((value) => (value === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : Number(value)));

export const smtpUrl = z
  .string()
  .refine(
    (value) => toMailServer(value) !== undefined,
    `expected a URL like smtps://user:password@mail.example.org or smtp://mail.example.org:587; ${PASSWORD_RULE}`,
  );

export const mailAddress = z.string().refine(isMailAddress, 'expected an address like reports@example.org');
