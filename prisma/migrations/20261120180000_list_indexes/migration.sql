-- A donor's transactions, a designation's allocations and all donors are lists in an order that an index has.

-- DropIndex
DROP INDEX "transaction_organization_id_donor_id_idx";

-- DropIndex
DROP INDEX "allocation_organization_id_designation_id_idx";

-- CreateIndex
CREATE INDEX "transaction_organization_id_donor_id_transaction_date_id_idx" ON "transaction"("organization_id", "donor_id", "transaction_date", "id");

-- CreateIndex
CREATE INDEX "allocation_organization_id_designation_id_id_idx" ON "allocation"("organization_id", "designation_id", "id");

-- CreateIndex
CREATE INDEX "donor_organization_id_last_name_first_name_id_idx" ON "donor"("organization_id", "last_name", "first_name", "id");
