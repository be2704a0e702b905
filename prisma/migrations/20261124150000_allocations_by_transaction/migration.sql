-- A gift has few allocations, so they are sorted by id when they are read, and the index needs no ids.
-- Readers go on while the new index is built. Dropping the old one waits for reports under way.

-- CreateIndex
CREATE INDEX "allocation_organization_id_transaction_id_idx" ON "allocation"("organization_id", "transaction_id");

-- DropIndex
DROP INDEX "allocation_organization_id_transaction_id_id_idx";
