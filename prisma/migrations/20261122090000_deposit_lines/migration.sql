-- The lines of the report in one table, already joined, and the versions of each organization's books. The next migration fills them.

-- Imports that run are waited for first: the statements below would make readers wait with them.
SELECT pg_advisory_xact_lock(hashtext('deposit-gateway import'), "id") FROM "organization";

-- Text that is ordered is ordered bytewise, whatever the server's collation is. A view holds the types of its columns fast, so it goes
-- first and comes back below.
DROP VIEW "deposit_detail";
ALTER TABLE "donor" ALTER COLUMN "last_name" TYPE TEXT COLLATE "C", ALTER COLUMN "first_name" TYPE TEXT COLLATE "C";
ALTER TABLE "designation" ALTER COLUMN "name" TYPE TEXT COLLATE "C";
ALTER TABLE "organization" ALTER COLUMN "name" TYPE TEXT COLLATE "C";
ALTER TABLE "user" ALTER COLUMN "username" TYPE TEXT COLLATE "C";
ALTER TABLE "saved_report" ALTER COLUMN "name" TYPE TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "export_record" ADD COLUMN "data_version" BIGINT;

-- AlterTable
ALTER TABLE "donor" ADD COLUMN "search_text" TEXT NOT NULL DEFAULT '';

-- The text as a search compares it: small letters without accents, apostrophes and repeated spaces. It does not depend on the server's
-- locale: of the capitals, it knows those of ASCII, Greek and Cyrillic, and Latin ones that decompose into ASCII.
CREATE FUNCTION "fold_for_search"(value TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE AS $$
SELECT btrim(regexp_replace(
    lower(translate(
        replace(replace(replace(replace(replace(replace(replace(replace(
            regexp_replace(normalize(value, NFKD), '[\u0300-\u036F''’`´ʼ]', '', 'g'),
            'ß', 'ss'), 'ẞ', 'ss'), 'Æ', 'ae'), 'æ', 'ae'), 'Œ', 'oe'), 'œ', 'oe'), 'Þ', 'th'), 'þ', 'th'),
        'ØøŁłĐđÐðıςΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐ',
        'oollddddiσαβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґ'
    ) COLLATE "C"),
    '[[:space:].,‐‑‒–—-]+', ' ', 'g'
))
$$;

-- The join from which lines are computed. It is written only here.
CREATE VIEW "deposit_detail" AS
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
    COALESCE(a.amount, CASE WHEN NOT EXISTS (
        SELECT FROM "allocation" other
        WHERE other.organization_id = a.organization_id AND other.transaction_id = a.transaction_id AND other.id <> a.id
    ) THEN t.amount END)::numeric(14, 2) AS allocation_amount,
    a.amount IS NULL AND NOT EXISTS (
        SELECT FROM "allocation" other
        WHERE other.organization_id = a.organization_id AND other.transaction_id = a.transaction_id AND other.id <> a.id
    ) AS allocation_amount_inferred,
    COALESCE(o.search_text, '') AS donor_search,
    -- For gateways of the release before, while they are replaced.
    a.amount AS allocation_known_amount
FROM "deposit" d
JOIN "transaction" t ON t.organization_id = d.organization_id AND t.deposit_id = d.id
JOIN "allocation" a ON a.organization_id = t.organization_id AND a.transaction_id = t.id
JOIN "designation" g ON g.organization_id = a.organization_id AND g.id = a.designation_id
LEFT JOIN "donor" o ON o.organization_id = t.organization_id AND o.id = t.donor_id;

-- CreateTable. Prisma's schema language has no partitions: a line moves from the current ones to the past ones when it ends.
CREATE TABLE "deposit_line" (
    "organization_id" INTEGER NOT NULL,
    "since" BIGINT NOT NULL,
    "until" BIGINT NOT NULL DEFAULT 9007199254740991,
    "donor_id" BIGINT NOT NULL,
    "designation_id" BIGINT NOT NULL,
    "deposit_date" DATE NOT NULL,
    "transaction_date" DATE NOT NULL,
    "deposit_status" "deposit_status" NOT NULL,
    "allocation_amount_inferred" BOOLEAN NOT NULL,
    "deposit_id" TEXT COLLATE "C" NOT NULL,
    "transaction_id" TEXT COLLATE "C" NOT NULL,
    "allocation_id" TEXT COLLATE "C" NOT NULL,
    "donor_first_name" TEXT COLLATE "C" NOT NULL,
    "donor_last_name" TEXT COLLATE "C" NOT NULL,
    "address1" TEXT COLLATE "C" NOT NULL,
    "address2" TEXT COLLATE "C" NOT NULL,
    "address3" TEXT COLLATE "C" NOT NULL,
    "city" TEXT COLLATE "C" NOT NULL,
    "state" TEXT COLLATE "C" NOT NULL,
    "zip" TEXT COLLATE "C" NOT NULL,
    "phone" TEXT COLLATE "C" NOT NULL,
    "email_address" TEXT COLLATE "C" NOT NULL,
    "amount" DECIMAL(14,2) NOT NULL,
    "fee_amount" DECIMAL(14,2) NOT NULL,
    "net_amount" DECIMAL(15,2) NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "account_type" TEXT COLLATE "C" NOT NULL,
    "payment_type" TEXT COLLATE "C" NOT NULL,
    "designation" TEXT COLLATE "C" NOT NULL,
    "designation_memo" TEXT COLLATE "C" NOT NULL,
    "main_memo" TEXT COLLATE "C" NOT NULL,
    "allocation_amount" DECIMAL(14,2),
    "donor_search" TEXT COLLATE "C" NOT NULL
) PARTITION BY LIST ("until");
CREATE TABLE "deposit_line_current" PARTITION OF "deposit_line" FOR VALUES IN (9007199254740991);
CREATE TABLE "deposit_line_past" PARTITION OF "deposit_line" DEFAULT;

-- CreateTable
CREATE TABLE "data_version" (
    "organization_id" INTEGER NOT NULL,
    "number" BIGINT NOT NULL,
    "recorded_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "cause" TEXT NOT NULL,
    "file_name" TEXT,
    "file_sha256" TEXT,
    "lines_added" BIGINT NOT NULL,
    "lines_changed" BIGINT NOT NULL,
    "lines_removed" BIGINT NOT NULL,
    "lines" BIGINT NOT NULL,
    "transactions" BIGINT NOT NULL,
    "amount" DECIMAL(40,2) NOT NULL,
    "fee_amount" DECIMAL(40,2) NOT NULL,

    CONSTRAINT "data_version_pkey" PRIMARY KEY ("organization_id","number")
);

-- AddForeignKey
ALTER TABLE "data_version" ADD CONSTRAINT "data_version_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
