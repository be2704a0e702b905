-- The orders of lists of records. Readers go on while the indexes are built; imports wait.

-- CreateIndex
CREATE INDEX "deposit_organization_id_status_deposit_date_id_idx" ON "deposit"("organization_id", "status", "deposit_date", "id");

-- CreateIndex
CREATE INDEX "transaction_organization_id_transaction_date_id_idx" ON "transaction"("organization_id", "transaction_date", "id");

-- CreateIndex
CREATE INDEX "transaction_organization_id_amount_id_idx" ON "transaction"("organization_id", "amount", "id");

-- Names are ordered without regard to case and accents. An index row must fit on a third of a page, and folding can make a name longer,
-- so that only its first 100 characters are ordered. Prisma's schema language has no indexes over expressions.
CREATE INDEX "donor_name_idx" ON "donor"("organization_id", left("fold_for_search"("last_name"), 100), left("fold_for_search"("first_name"), 100), "id");
CREATE INDEX "designation_name_idx" ON "designation"("organization_id", left("fold_for_search"("name"), 100), "id");

-- An import analyzes the tables that it writes. Without this, it would fold up to 30,000 names for statistics that no query needs.
ALTER INDEX "donor_name_idx" ALTER COLUMN 2 SET STATISTICS 0, ALTER COLUMN 3 SET STATISTICS 0;
ALTER INDEX "designation_name_idx" ALTER COLUMN 2 SET STATISTICS 0;

-- DropIndex
DROP INDEX "donor_organization_id_last_name_first_name_id_idx";
