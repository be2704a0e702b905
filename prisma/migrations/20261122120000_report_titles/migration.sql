-- Titles of saved reports, beside the names in their addresses. A report without one is called by its name.

-- AlterTable
ALTER TABLE "saved_report" ADD COLUMN "title" TEXT;
