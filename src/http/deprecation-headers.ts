import type { Response } from 'express';
import type { Config } from '../config';
import type { V2Notice } from '../data/access/organization-store';

const MS_PER_SECOND = 1000;

type NoticeSettings = Pick<Config, 'V2_DEPRECATED_AT' | 'V2_SUNSET_AT' | 'V2_MIGRATION_LINK'>;

/**
 * Tells a caller of v2 since when it is deprecated (RFC 9745), from when it may be gone (RFC 8594), and where a page says how to leave. The
 * organization's own values come before the settings. A sunset before the deprecation is left out: the two may come from different places,
 * and clients may take such a pair for a mistake.
 */
export function setDeprecation(
  response: Response,
  { v2DeprecatedAt, v2SunsetAt, v2MigrationLink }: V2Notice,
  { V2_DEPRECATED_AT, V2_SUNSET_AT, V2_MIGRATION_LINK }: NoticeSettings,
): void {
  if (response.headersSent) return;
  const deprecatedAt = v2DeprecatedAt?.getTime() ?? V2_DEPRECATED_AT;
  const sunsetAt = v2SunsetAt?.getTime() ?? V2_SUNSET_AT;
  const link = v2MigrationLink ?? V2_MIGRATION_LINK;
  if (deprecatedAt !== undefined) response.set('Deprecation', `@${Math.floor(deprecatedAt / MS_PER_SECOND)}`);
  if (sunsetAt !== undefined && sunsetAt >= (deprecatedAt ?? -Infinity)) response.set('Sunset', new Date(sunsetAt).toUTCString());
  if (link !== undefined) response.set('Link', `<${link}>; rel="deprecation"; type="text/html"`);
}
