-- Totals read amounts from the indexes by which deposits, transactions and allocations are joined, without the tables.
-- Readers go on while the new indexes are built, and the old ones are dropped in a moment.

-- CreateIndex
CREATE INDEX "transaction_deposit_idx" ON "transaction"("organization_id", "deposit_id", "id", "donor_id", "amount", "fee_amount");

-- CreateIndex
CREATE INDEX "allocation_transaction_idx" ON "allocation"("organization_id", "transaction_id", "id", "designation_id", "amount");

-- DropIndex
DROP INDEX "transaction_organization_id_deposit_id_id_idx";

-- DropIndex
DROP INDEX "allocation_organization_id_transaction_id_id_idx";
