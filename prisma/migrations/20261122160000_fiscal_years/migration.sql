-- The month with which an organization's fiscal year begins: January until it is told otherwise.

-- AlterTable
ALTER TABLE "organization" ADD COLUMN "fiscal_year_start" INTEGER NOT NULL DEFAULT 1;

ALTER TABLE "organization" ADD CONSTRAINT "organization_fiscal_year_start_check" CHECK ("fiscal_year_start" BETWEEN 1 AND 12);
