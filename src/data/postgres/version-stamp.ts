import { Prisma } from '../../generated/prisma/client';

/**
 * The stamp of a data version: its number, a space, and the time of its change in microseconds. The number alone could come back with other
 * books, when a backup is restored and goes on. Before the first change of the books the stamp is `0`.
 */
export type VersionStamp = string;

/** The stamp of books that have not changed yet. */
export const NO_VERSION: VersionStamp = '0';

const STAMP = `number || ' ' || (extract(epoch FROM recorded_at) * 1000000)::bigint`;
/** The SQL of the stamp of a row of data_version. */
export const VERSION_STAMP = Prisma.raw(STAMP);

/** The SQL of the stamp of the newest version of an organization, whose id is an SQL expression. */
export const selectStamp = (organizationId: string): string =>
  `COALESCE((SELECT ${STAMP} FROM data_version
    WHERE organization_id = ${organizationId} ORDER BY number DESC LIMIT 1), '${NO_VERSION}')`;

/** The same as a part of a composed statement. The organization is a value of its own, by which a distributed database finds its node. */
export const stampOf = (organizationId: number): Prisma.Sql => {
  const [before, after] = selectStamp(PLACE).split(PLACE) as [string, string];
  return Prisma.sql`${Prisma.raw(before)}${organizationId}::int${Prisma.raw(after)}`;
};
const PLACE = ':organization';

/** The time of the change of a stamp's version. */
export const instantOf = (stamp: VersionStamp): Date => new Date(Number(stamp.split(' ')[1]) / 1000);

/** The stamp as a follower names it in an address. */
export const toPlace = (stamp: VersionStamp): string => stamp.replace(' ', '.');

/** The number of a stamp's version. */
export const numberOf = (stamp: VersionStamp): number => Number(stamp.split(' ')[0]);

const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z');
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');
/** An instant as SQL has it. PostgreSQL writes instants of other years in another form, and no version has such an instant. */
export const toSqlInstant = (instant: Date): string =>
  new Date(Math.min(Math.max(instant.getTime(), FIRST_INSTANT), LAST_INSTANT)).toISOString();
