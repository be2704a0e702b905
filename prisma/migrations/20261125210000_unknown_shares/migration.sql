-- A file of one fund has one allocation of a split gift, whose share it may not know. Books that come from such a file must not take the whole
-- gift for the share.
ALTER TABLE "allocation" ADD COLUMN "amount_unknown" BOOLEAN NOT NULL DEFAULT false;

-- The join from which lines are computed, in place of the one before. Nothing is inferred of a share that is said to be unknown.
CREATE OR REPLACE VIEW "deposit_detail" AS
SELECT
    d.organization_id,
    d.status AS deposit_status,
    d.id AS deposit_id,
    t.transaction_date,
    d.deposit_date,
    t.id AS transaction_id,
    a.id AS allocation_id,
    COALESCE(o.id, 0) AS donor_id,
    COALESCE(o.first_name, '') AS donor_first_name,
    COALESCE(o.last_name, '') AS donor_last_name,
    COALESCE(o.address1, '') AS address1,
    COALESCE(o.address2, '') AS address2,
    COALESCE(o.address3, '') AS address3,
    COALESCE(o.city, '') AS city,
    COALESCE(o.state, '') AS state,
    COALESCE(o.zip, '') AS zip,
    COALESCE(o.phone, '') AS phone,
    COALESCE(o.email, '') AS email_address,
    t.amount,
    t.fee_amount,
    (t.amount - t.fee_amount)::numeric(15, 2) AS net_amount,
    t.status,
    t.account_type,
    t.payment_type,
    a.designation_id,
    g.name AS designation,
    a.memo AS designation_memo,
    t.main_memo,
    COALESCE(a.amount, CASE WHEN NOT a.amount_unknown AND beside.organization_id IS NULL THEN t.amount END)::numeric(14, 2) AS allocation_amount,
    a.amount IS NULL AND NOT a.amount_unknown AND beside.organization_id IS NULL AS allocation_amount_inferred,
    COALESCE(o.search_text, '') AS donor_search,
    -- For gateways of the release before, while they are replaced.
    a.amount AS allocation_known_amount
FROM "deposit" d
JOIN "transaction" t ON t.organization_id = d.organization_id AND t.deposit_id = d.id
JOIN "allocation" a ON a.organization_id = t.organization_id AND a.transaction_id = t.id
JOIN "designation" g ON g.organization_id = a.organization_id AND g.id = a.designation_id
LEFT JOIN "donor" o ON o.organization_id = t.organization_id AND o.id = t.donor_id
-- Another allocation of the gift. Its organization is named outside of the subquery too, because Citus looks for the value there that tells the
-- node: a LIMIT would keep it out, and each node would be asked. DISTINCT tells PostgreSQL that one row is enough.
LEFT JOIN LATERAL (
    SELECT DISTINCT other.organization_id FROM "allocation" other
    WHERE a.amount IS NULL AND other.organization_id = a.organization_id AND other.transaction_id = a.transaction_id AND other.id <> a.id
) beside ON beside.organization_id = a.organization_id;
