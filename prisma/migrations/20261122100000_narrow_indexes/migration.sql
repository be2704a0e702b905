-- Reports and totals read lines, so the indexes of the books need no columns for adding up. A donor's lines are
-- found by donor and date, and sorted when they are read.
-- Readers go on while the new indexes are built. Dropping the old ones waits for reports under way.

-- CreateIndex
CREATE INDEX "transaction_organization_id_deposit_id_id_idx" ON "transaction"("organization_id", "deposit_id", "id");

-- CreateIndex
CREATE INDEX "allocation_organization_id_transaction_id_id_idx" ON "allocation"("organization_id", "transaction_id", "id");

-- CreateIndex
CREATE INDEX "deposit_line_organization_id_donor_id_deposit_date_idx" ON "deposit_line"("organization_id", "donor_id", "deposit_date");

-- DropIndex
DROP INDEX "transaction_deposit_idx";

-- DropIndex
DROP INDEX "allocation_transaction_idx";

-- DropIndex
DROP INDEX "deposit_line_donor_idx";
