-- The time zone in which an organization's days begin: UTC until it is told otherwise.

-- AlterTable
ALTER TABLE "organization" ADD COLUMN "time_zone" TEXT NOT NULL DEFAULT 'UTC';

-- The named period that gives a saved report its dates anew each time; null for one with dates of its own.

-- AlterTable
ALTER TABLE "saved_report" ADD COLUMN "period" TEXT;
