-- CreateEnum
CREATE TYPE "provision_kind" AS ENUM ('WEB', 'MOBILE', 'API');

-- CreateEnum
CREATE TYPE "deposit_status" AS ENUM ('POSTED', 'PENDING');

-- CreateTable
CREATE TABLE "organization" (
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "hosts" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "under_maintenance" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organization_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provision" (
    "id" UUID NOT NULL,
    "organization_id" INTEGER NOT NULL,
    "kind" "provision_kind" NOT NULL,
    "label" TEXT NOT NULL DEFAULT '',
    "privileges" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ,
    "revoked_at" TIMESTAMPTZ,

    CONSTRAINT "provision_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user" (
    "organization_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "username" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "privileges" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ,

    CONSTRAINT "user_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "session" (
    "token_hash" BYTEA NOT NULL,
    "organization_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "provision_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "login_attempt" (
    "key" TEXT NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "login_attempt_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "deposit" (
    "organization_id" INTEGER NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "deposit_date" DATE NOT NULL,
    "status" "deposit_status" NOT NULL,

    CONSTRAINT "deposit_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "transaction" (
    "organization_id" INTEGER NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "deposit_id" TEXT COLLATE "C" NOT NULL,
    "donor_id" BIGINT,
    "transaction_date" DATE NOT NULL,
    "amount" DECIMAL(14,2) NOT NULL,
    "fee_amount" DECIMAL(14,2) NOT NULL,
    "status" TEXT NOT NULL DEFAULT '',
    "account_type" TEXT NOT NULL DEFAULT '',
    "payment_type" TEXT NOT NULL DEFAULT '',
    "main_memo" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "transaction_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "allocation" (
    "organization_id" INTEGER NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "transaction_id" TEXT COLLATE "C" NOT NULL,
    "designation_id" BIGINT NOT NULL,
    "amount" DECIMAL(14,2),
    "memo" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "allocation_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "designation" (
    "organization_id" INTEGER NOT NULL,
    "id" BIGINT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "designation_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "donor" (
    "organization_id" INTEGER NOT NULL,
    "id" BIGINT NOT NULL,
    "first_name" TEXT NOT NULL DEFAULT '',
    "last_name" TEXT NOT NULL DEFAULT '',
    "address1" TEXT NOT NULL DEFAULT '',
    "address2" TEXT NOT NULL DEFAULT '',
    "address3" TEXT NOT NULL DEFAULT '',
    "city" TEXT NOT NULL DEFAULT '',
    "state" TEXT NOT NULL DEFAULT '',
    "zip" TEXT NOT NULL DEFAULT '',
    "phone" TEXT NOT NULL DEFAULT '',
    "email" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "donor_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "organization_name_key" ON "organization"("name");

-- CreateIndex
CREATE INDEX "provision_organization_id_idx" ON "provision"("organization_id");

-- CreateIndex
CREATE UNIQUE INDEX "user_organization_id_username_key" ON "user"("organization_id", "username");

-- CreateIndex
CREATE INDEX "session_organization_id_user_id_idx" ON "session"("organization_id", "user_id");

-- CreateIndex
CREATE INDEX "session_provision_id_idx" ON "session"("provision_id");

-- CreateIndex
CREATE INDEX "deposit_organization_id_deposit_date_id_idx" ON "deposit"("organization_id", "deposit_date", "id");

-- CreateIndex
CREATE INDEX "transaction_organization_id_deposit_id_id_idx" ON "transaction"("organization_id", "deposit_id", "id");

-- CreateIndex
CREATE INDEX "transaction_organization_id_donor_id_idx" ON "transaction"("organization_id", "donor_id");

-- CreateIndex
CREATE INDEX "allocation_organization_id_transaction_id_id_idx" ON "allocation"("organization_id", "transaction_id", "id");

-- CreateIndex
CREATE INDEX "allocation_organization_id_designation_id_idx" ON "allocation"("organization_id", "designation_id");

-- AddForeignKey
ALTER TABLE "provision" ADD CONSTRAINT "provision_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user" ADD CONSTRAINT "user_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_organization_id_user_id_fkey" FOREIGN KEY ("organization_id", "user_id") REFERENCES "user"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_provision_id_fkey" FOREIGN KEY ("provision_id") REFERENCES "provision"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deposit" ADD CONSTRAINT "deposit_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_organization_id_deposit_id_fkey" FOREIGN KEY ("organization_id", "deposit_id") REFERENCES "deposit"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_organization_id_donor_id_fkey" FOREIGN KEY ("organization_id", "donor_id") REFERENCES "donor"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocation" ADD CONSTRAINT "allocation_organization_id_transaction_id_fkey" FOREIGN KEY ("organization_id", "transaction_id") REFERENCES "transaction"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocation" ADD CONSTRAINT "allocation_organization_id_designation_id_fkey" FOREIGN KEY ("organization_id", "designation_id") REFERENCES "designation"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "designation" ADD CONSTRAINT "designation_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "donor" ADD CONSTRAINT "donor_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema language cannot say. Text ids compare bytewise (collation "C", above).

-- Ids that are numbers are exact in JSON: at most 2^53 - 1. Donor 0 is the report's "no donor".
ALTER TABLE "donor" ADD CONSTRAINT "donor_id_range" CHECK ("id" BETWEEN 1 AND 9007199254740991);
ALTER TABLE "designation" ADD CONSTRAINT "designation_id_range" CHECK ("id" BETWEEN 0 AND 9007199254740991);

-- Dates that have a text of ten characters: no infinity, no BC.
ALTER TABLE "deposit" ADD CONSTRAINT "deposit_date_range" CHECK ("deposit_date" BETWEEN '0001-01-01' AND '9999-12-31');
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_date_range" CHECK ("transaction_date" BETWEEN '0001-01-01' AND '9999-12-31');

-- The type numeric knows NaN, which is no amount.
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_amounts_are_numbers" CHECK ("amount" <> 'NaN' AND "fee_amount" <> 'NaN');
ALTER TABLE "allocation" ADD CONSTRAINT "allocation_amount_is_number" CHECK ("amount" <> 'NaN');

-- The report: one line per allocation. No column is null but allocation_amount.
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
    a.amount AS allocation_amount
FROM "deposit" d
JOIN "transaction" t ON t.organization_id = d.organization_id AND t.deposit_id = d.id
JOIN "allocation" a ON a.organization_id = t.organization_id AND a.transaction_id = t.id
LEFT JOIN "designation" g ON g.organization_id = a.organization_id AND g.id = a.designation_id
LEFT JOIN "donor" o ON o.organization_id = t.organization_id AND o.id = t.donor_id;
