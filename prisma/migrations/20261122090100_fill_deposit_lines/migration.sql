-- Fills the lines of the organizations that have books. Readers go on meanwhile; imports wait until it is done.
-- The order is that of an import, so that the two cannot block each other for good.
LOCK TABLE "designation", "donor", "deposit", "transaction", "allocation" IN SHARE ROW EXCLUSIVE MODE;

UPDATE "donor" SET "search_text" = "fold_for_search"("first_name" || ' ' || "last_name" || ' ' || "first_name");
-- Without a default, an import of the release before fails instead of writing books without lines.
ALTER TABLE "donor" ALTER COLUMN "search_text" DROP DEFAULT;

-- The rows stand in the table in the order in which reports read them.
INSERT INTO "deposit_line" (
    "organization_id", "since", "donor_id", "designation_id", "deposit_date", "transaction_date", "deposit_status",
    "allocation_amount_inferred", "deposit_id", "transaction_id", "allocation_id", "donor_first_name", "donor_last_name", "address1",
    "address2", "address3", "city", "state", "zip", "phone", "email_address", "amount", "fee_amount", "net_amount", "status", "account_type",
    "payment_type", "designation", "designation_memo", "main_memo", "allocation_amount", "donor_search"
)
SELECT
    "organization_id", 1, "donor_id", "designation_id", "deposit_date", "transaction_date", "deposit_status",
    "allocation_amount_inferred", "deposit_id", "transaction_id", "allocation_id", "donor_first_name", "donor_last_name", "address1",
    "address2", "address3", "city", "state", "zip", "phone", "email_address", "amount", "fee_amount", "net_amount", "status", "account_type",
    "payment_type", "designation", "designation_memo", "main_memo", "allocation_amount", "donor_search"
FROM "deposit_detail"
ORDER BY "organization_id", "deposit_date", "deposit_id", "transaction_id", "allocation_id";

-- AlterTable
ALTER TABLE "deposit_line" ADD CONSTRAINT "deposit_line_pkey" PRIMARY KEY ("organization_id", "allocation_id", "until");

-- CreateIndex
CREATE INDEX "deposit_line_report_idx" ON "deposit_line"("organization_id", "deposit_date", "deposit_id", "transaction_id", "allocation_id");

-- CreateIndex
CREATE INDEX "deposit_line_donor_idx" ON "deposit_line"("organization_id", "donor_id", "deposit_date", "deposit_id", "transaction_id", "allocation_id");

ANALYZE "deposit_line";

INSERT INTO "data_version" (
    "organization_id", "number", "cause", "lines_added", "lines_changed", "lines_removed", "lines", "transactions", "amount", "fee_amount"
)
SELECT "organization_id", 1, 'migration', sum("lines"), 0, 0, sum("lines"), count(*), sum("amount"), sum("fee_amount")
FROM (
    SELECT "organization_id", "transaction_id", "amount", "fee_amount", count(*) AS "lines"
    FROM "deposit_line" GROUP BY "organization_id", "transaction_id", "amount", "fee_amount"
) AS "gift"
GROUP BY "organization_id";
