/**
 * Takes the lock that Prisma Migrate takes, too, so that two who change the schema or its rights take turns. It ends with its transaction,
 * so that none stays with a pooler.
 */
export const TAKE_MIGRATION_LOCK = 'SELECT pg_advisory_xact_lock(72707369)';
