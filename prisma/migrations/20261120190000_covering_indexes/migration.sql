-- Totals read amounts from the indexes by which deposits, transactions and allocations are joined, without the tables.

-- DropIndex
DROP INDEX "transaction_organization_id_deposit_id_id_idx";

-- DropIndex
DROP INDEX "allocation_organization_id_transaction_id_id_idx";

-- CreateIndex
CREATE INDEX "transaction_organization_id_deposit_id_id_idx" ON "transaction"("organization_id", "deposit_id", "id") INCLUDE ("donor_id", "amount", "fee_amount");

-- CreateIndex
CREATE INDEX "allocation_organization_id_transaction_id_id_idx" ON "allocation"("organization_id", "transaction_id", "id") INCLUDE ("designation_id", "amount");
