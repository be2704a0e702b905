import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { OperatorError } from './errors';
import {
  address,
  days,
  headerNames,
  hostNames,
  httpUrl,
  instant,
  mailAddress,
  none,
  oneOf,
  onOff,
  origins,
  page,
  postgresUrl,
  postgresUrls,
  proxies,
  smtpUrl,
  wholeNumber,
  workers,
} from './values/setting-values';
import { decodeUtf8, mayBeMisread } from './values/utf8';

interface Setting {
  readonly schema: z.ZodType<unknown, string>;
  readonly fallback: string;
  readonly meaning: string;
  /** True for a value that no message repeats, and that may be in a file which the variable with the ending _FILE names. */
  readonly isSecret?: boolean;
}

/** Every setting: its environment name, values, default and meaning. A test holds the table in docs/settings.md equal to this one. */
export const settings = {
  PORT: { schema: wholeNumber(0, 65535), fallback: '4000', meaning: 'Port to listen on; 0 takes a free one' },
  HOST: { schema: address, fallback: '127.0.0.1', meaning: 'Address to listen on' },
  WORKERS: { schema: workers, fallback: '1', meaning: 'Processes that answer requests; auto takes as many as there are cores' },
  ADMIN_PORT: {
    schema: wholeNumber(0, 65535).or(none),
    fallback: '',
    meaning: 'Port of the operators, with the metrics; 0 takes a free one, empty opens none',
  },
  ADMIN_HOST: { schema: address, fallback: '127.0.0.1', meaning: "Address of the operators' port" },
  ADMIN_TOKEN: {
    schema: z
      .string()
      .regex(/^[\x21-\x7e]{32,200}$/, 'expected 32 to 200 characters of ASCII without blanks')
      .or(z.literal('')),
    fallback: '',
    meaning: "Token of the operators' GraphQL at /graphql of their port; empty opens none",
    isSecret: true,
  },
  ADMIN_NAMES: {
    schema: hostNames,
    fallback: '',
    meaning: "Names by which the operators' port is reached beside its address and those of this machine, separated by commas",
  },
  DATABASE_URL: {
    schema: postgresUrl.or(z.literal('')),
    fallback: '',
    meaning: 'PostgreSQL 14 or newer, with the role that serves; empty runs the embedded one',
    isSecret: true,
  },
  OWNER_DATABASE_URL: {
    schema: postgresUrl.or(z.literal('')),
    fallback: '',
    meaning:
      "The same database with the role that owns the tables, for commands, AUDIT_RETENTION_DAYS and ADMIN_TOKEN; empty takes DATABASE_URL's",
    isSecret: true,
  },
  DATABASE_POOLER: {
    schema: oneOf('none', 'transaction'),
    fallback: 'none',
    meaning:
      'Pooler that DATABASE_URL leads to: none, or one that gives each transaction another connection, as PgBouncer can (transaction)',
  },
  DATABASE_ENGINE: {
    schema: oneOf('postgresql', 'citus'),
    fallback: 'postgresql',
    meaning: 'Kind of the database: postgresql, or citus where the books are distributed over nodes',
  },
  DATABASE_REPLICA_URLS: {
    schema: postgresUrls,
    fallback: '',
    meaning: 'Servers that follow the one of DATABASE_URL, separated by commas: the books are read from one that has their newest version',
    isSecret: true,
  },
  REPLICA_WAIT_MILLISECONDS: {
    schema: wholeNumber(0, 60_000),
    fallback: '500',
    meaning: 'Longest wait for a replica to get the newest version of the books, and to answer at all; DATABASE_URL answers then',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: httpUrl.or(z.literal('')),
    fallback: '',
    meaning: 'Collector that traces are sent to, by OTLP over HTTP, such as http://127.0.0.1:4318; empty traces nothing',
  },
  OTEL_SERVICE_NAME: { schema: z.string(), fallback: 'deposit-gateway', meaning: 'Name of the gateway in traces' },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .regex(/^(0(\.[0-9]{1,6})?|1(\.0{1,6})?)$/, 'expected a share from 0 to 1')
      .transform(Number),
    fallback: '0.1',
    meaning: 'Share of the requests that are traced, from 0 to 1',
  },
  DATA_DIR: { schema: z.string(), fallback: '.data', meaning: 'Directory in which the embedded PostgreSQL keeps its data' },
  LOG_LEVEL: {
    schema: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
    fallback: 'info',
    meaning: 'Least severe log line that is written',
  },
  TRUST_PROXY: {
    schema: proxies,
    fallback: '',
    meaning: 'Proxies whose X-Forwarded headers count: addresses or CIDR ranges, separated by commas',
  },
  CORS_ORIGINS: {
    schema: origins,
    fallback: '',
    meaning: 'Origins whose pages may call from a browser, such as https://app.example.org, separated by commas',
  },
  CORS_HEADERS: {
    schema: headerNames,
    fallback: '',
    meaning:
      'Request headers that these pages may send beside those of GraphQL clients and the usual tracers, such as b3,request-id,x-datadog-*, where the star stands for any ending',
  },
  UNDER_MAINTENANCE: { schema: onOff, fallback: 'off', meaning: 'Answers "Under maintenance" to every organization' },
  INTROSPECTION: {
    schema: oneOf('session', 'on', 'off'),
    fallback: 'session',
    meaning: 'Callers that may introspect the schema: logged-in users and API provisions (session), everyone (on), nobody (off)',
  },
  TRUSTED_DOCUMENTS: { schema: z.string(), fallback: '', meaning: 'Manifest of the documents that WEB and MOBILE provisions may send' },
  AGENTS: { schema: onOff, fallback: 'off', meaning: 'Serves tools to agents at /mcp, by the Model Context Protocol' },
  PLAYGROUND: { schema: onOff, fallback: 'on', meaning: 'Serves the GraphQL Playground at /playground, and the v2 document at /docs' },
  PLAYGROUND_PROVISION: {
    schema: z.uuid('expected a UUID').or(z.literal('')),
    fallback: '',
    meaning: 'WEB provision that the Playground is preset with',
  },
  DEMO: { schema: onOff, fallback: 'on', meaning: 'Fills an empty embedded database with a demo organization' },
  POOL_SIZE: { schema: wholeNumber(1, 1000), fallback: '10', meaning: 'Database connections for short queries' },
  DATABASE_CONNECT_MILLISECONDS: { schema: wholeNumber(100, 600_000), fallback: '2000', meaning: 'Longest wait for a database connection' },
  DATABASE_ANSWER_MILLISECONDS: {
    schema: wholeNumber(1000, 600_000),
    fallback: '3000',
    meaning: 'Longest wait for the answer to a short query; PostgreSQL itself ends it half a second earlier',
  },
  REPORT_CONCURRENCY: {
    schema: wholeNumber(1, 1000),
    fallback: '4',
    meaning: 'Reports read at once. As many extra lanes are for organizations that read none, so there are twice as many connections',
  },
  REPORT_QUEUE: {
    schema: wholeNumber(0, 10000),
    fallback: '50',
    meaning: 'Reports that may wait for their turn, shared between organizations; more are turned away',
  },
  REPORT_QUEUE_SECONDS: { schema: wholeNumber(1, 3600), fallback: '30', meaning: 'Longest time that a report may wait for its turn' },
  REPORT_TIMEOUT_SECONDS: { schema: wholeNumber(1, 86400), fallback: '600', meaning: 'Longest time that one report may take' },
  BOOK_MEMORY_MEGABYTES: {
    schema: wholeNumber(0, 65536),
    fallback: '64',
    meaning: 'Memory for answers, totals, counts and digests of a data version; 0 keeps none',
  },
  READER_STALL_SECONDS: {
    schema: wholeNumber(1, 3600),
    fallback: '30',
    meaning: 'A client that stops reading its report, or reads it too slowly, is disconnected after one to two times this long',
  },
  READER_KILOBYTES_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000),
    fallback: '32',
    meaning: 'Slowest pace of reading a report, in kilobytes before compression',
  },
  ACCESS_CHECK_SECONDS: {
    schema: wholeNumber(1, 3600),
    fallback: '2',
    meaning: "Time after which an answer under way has its caller's rights checked, again and again; one without them ends",
  },
  KEEP_ALIVE_SECONDS: {
    schema: wholeNumber(1, 3600),
    fallback: '75',
    meaning:
      "Time that an idle connection stays open. It has to exceed the load balancer's, which otherwise sends requests into a closed one",
  },
  SESSION_IDLE_MINUTES: { schema: wholeNumber(2, 1440), fallback: '30', meaning: 'A session ends after this time without a request' },
  SESSION_HOURS: { schema: wholeNumber(1, 720), fallback: '12', meaning: 'A session ends this long after its login' },
  SESSION_SAME_SITE: {
    schema: oneOf('lax', 'strict', 'none'),
    fallback: 'lax',
    meaning: 'SameSite of the session cookie; apps on another site need none, which works over https only',
  },
  LOGIN_ATTEMPTS: {
    schema: wholeNumber(1, 10000),
    fallback: '10',
    meaning: 'Failed logins allowed in 15 minutes for a user from one address; ten times as many for the user, and for the address',
  },
  PROVISION_ATTEMPTS: {
    schema: wholeNumber(1, 1_000_000),
    fallback: '60',
    meaning: 'Unknown provisions that an address may send in a minute; provisions that were good there before are not affected',
  },
  COST_PER_MINUTE: {
    schema: wholeNumber(0, 999_999_999),
    fallback: '0',
    meaning: 'Values that the GraphQL operations of one provision may cost in a minute; 0 sets no limit',
  },
  AUDIT_RETENTION_DAYS: { schema: days.or(none), fallback: '', meaning: 'Days after which rows of the audit are deleted; empty keeps all' },
  USAGE_RETENTION_DAYS: { schema: days, fallback: '400', meaning: 'Days after which counts of v2 requests are deleted' },
  V2_DEPRECATED_AT: { schema: instant.or(none), fallback: '', meaning: 'Date or time since which v2 is deprecated; empty tells nobody' },
  V2_SUNSET_AT: { schema: instant.or(none), fallback: '', meaning: 'Date or time from which v2 may be gone; empty tells nobody' },
  V2_MIGRATION_LINK: { schema: page.or(none), fallback: '', meaning: 'Page that tells integrators how to leave v2; empty tells nobody' },
  DOWNLOAD_LINK_MINUTES: { schema: wholeNumber(1, 60), fallback: '5', meaning: 'Time for which a link to a file is good' },
  DRAIN_MILLISECONDS: {
    schema: wholeNumber(0, 60000).or(none),
    fallback: '',
    meaning:
      'On a stop: time in which /ready says no while requests are taken; empty takes 8000 on SIGTERM with DATABASE_URL, and 0 otherwise',
  },
  SHUTDOWN_GRACE_SECONDS: { schema: wholeNumber(0, 3600), fallback: '30', meaning: 'On a stop: time for answers in flight to finish' },
  WEBHOOK_PRIVATE_ADDRESSES: {
    schema: onOff,
    fallback: 'off',
    meaning: 'Lets webhooks lead to private addresses, such as 10.0.0.7 and localhost, also by http',
  },
  SMTP_URL: {
    schema: smtpUrl.or(z.literal('')),
    fallback: '',
    meaning:
      'Mail server for reports on a schedule: smtps:// for TLS from the start, smtp:// for STARTTLS, without which nothing is sent unless ?tls=none follows; empty sends none',
    isSecret: true,
  },
  MAIL_FROM: {
    schema: mailAddress.or(z.literal('')),
    fallback: '',
    meaning: 'Sender of the mails, such as reports@example.org',
  },
  MAIL_ATTACHMENT_KILOBYTES: {
    schema: wholeNumber(0, 100_000),
    fallback: '10000',
    meaning: 'Longest file that a mail has attached; the mail of a longer one has a link',
  },
  PLAYGROUND_URL: {
    schema: page.or(none),
    fallback: '',
    meaning: 'Address of the Playground as browsers reach it, such as https://gifts.example.org/playground, for links in mails',
  },
  SOURCE_PROVISION: { schema: z.string(), fallback: '', meaning: 'Provision of the old service that sync reads', isSecret: true },
  SOURCE_COOKIE: { schema: z.string(), fallback: '', meaning: 'Session cookie of the old service, as name=value', isSecret: true },
} as const satisfies Record<string, Setting>;

type SettingName = keyof typeof settings;

const FILE_ENDING = /_FILE$/;
const findSetting = (name: string): Setting | undefined => (Object.hasOwn(settings, name) ? settings[name as SettingName] : undefined);

/** True for the name of a setting, and for that of the file with a secret one. */
export const isSettingName = (name: string): boolean =>
  findSetting(name) !== undefined || (FILE_ENDING.test(name) && isSecretSetting(name.replace(FILE_ENDING, '')));
/** True for the name of a setting that is secret itself. */
export const isSecretSetting = (name: string): boolean => findSetting(name)?.isSecret === true;

type Environment = Readonly<Record<string, string | undefined>>;

export type Config = { readonly [Name in SettingName]: z.output<(typeof settings)[Name]['schema']> };

/** The error for wrong settings. Its message has a line for each, which begins with the setting's name. */
export class ConfigError extends OperatorError {}

/**
 * Reads all settings. An empty value counts as not set. A secret is taken from the file that its variable with the ending _FILE names,
 * without the line break at its end; an empty file is a fault. Throws one ConfigError with all faults.
 */
export function readConfig(environment: Environment): Config {
  const faults: string[] = [];
  const values = Object.entries<Setting>(settings).map(([name, { schema, fallback, isSecret = false }]) => {
    const given = isSecret ? readSecret(environment, name) : { text: environment[name] };
    if ('fault' in given) {
      faults.push(given.fault);
      return [name, undefined];
    }
    const text = given.text || fallback;
    if (mayBeMisread(text)) {
      faults.push(`${name}: expected UTF-8`);
      return [name, undefined];
    }
    const result = schema.safeParse(text);
    if (!result.success) faults.push(`${name}: ${reason(result.error)}${isSecret ? '' : `, got "${text}"`}`);
    return [name, result.data];
  });
  const config = Object.fromEntries(values) as Config;
  // A setting that is faulty itself is not missing beside another.
  if (faults.length === 0) faults.push(...findMissing(config), ...findDisorder(config));
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return config;
}

/** The faults of settings that need another one beside them. */
function findMissing({
  DATABASE_URL,
  OWNER_DATABASE_URL,
  DATABASE_REPLICA_URLS,
  DATABASE_ENGINE,
  ADMIN_TOKEN,
  ADMIN_PORT,
  SMTP_URL,
  MAIL_FROM,
  PLAYGROUND_URL,
}: Config): string[] {
  const needed = [
    { name: 'OWNER_DATABASE_URL', isMissing: OWNER_DATABASE_URL !== '' && DATABASE_URL === '', other: 'DATABASE_URL' },
    { name: 'DATABASE_REPLICA_URLS', isMissing: DATABASE_REPLICA_URLS.length > 0 && DATABASE_URL === '', other: 'DATABASE_URL' },
    { name: 'DATABASE_ENGINE=citus', isMissing: DATABASE_ENGINE === 'citus' && DATABASE_URL === '', other: 'DATABASE_URL' },
    { name: 'ADMIN_TOKEN', isMissing: ADMIN_TOKEN !== '' && ADMIN_PORT === undefined, other: 'ADMIN_PORT' },
    { name: 'SMTP_URL', isMissing: SMTP_URL !== '' && MAIL_FROM === '', other: 'MAIL_FROM' },
    { name: 'SMTP_URL', isMissing: SMTP_URL !== '' && PLAYGROUND_URL === undefined, other: 'PLAYGROUND_URL' },
  ];
  return needed.filter(({ isMissing }) => isMissing).map(({ name, other }) => `${name}: expected ${other} beside it`);
}

/** The fault of a sunset before the deprecation, which RFC 9745 section 4 forbids. */
const findDisorder = ({ V2_DEPRECATED_AT = -Infinity, V2_SUNSET_AT = Infinity }: Config): string[] =>
  V2_SUNSET_AT < V2_DEPRECATED_AT ? ['V2_SUNSET_AT: expected a time that is not before V2_DEPRECATED_AT'] : [];

function readSecret(environment: Environment, name: string): { readonly text: string | undefined } | { readonly fault: string } {
  const fileName = `${name}_FILE`;
  const file = environment[fileName];
  if (!file) return { text: environment[name] };
  if (environment[name]) return { fault: `${name} and ${fileName}: expected one of the two` };
  try {
    const text = decodeUtf8(readFileSync(file)).replace(/^\uFEFF|\r?\n$/g, '');
    // Without an address the embedded database would be used, and whoever names a file wants another.
    return text === '' ? { fault: `${fileName}: the file is empty` } : { text };
  } catch (error) {
    return { fault: `${fileName}: ${(error as Error).message}` };
  }
}

/** The message of the first fault. When a value fails all alternatives, the first alternative's fault counts. */
function reason(error: z.ZodError): string {
  const issue = error.issues[0];
  const alternative = issue?.code === 'invalid_union' ? issue.errors[0]?.[0] : undefined;
  return (alternative ?? issue)?.message ?? 'is not valid';
}
