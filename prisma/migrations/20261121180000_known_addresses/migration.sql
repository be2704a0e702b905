-- Addresses that users have logged in from.

-- CreateTable
CREATE TABLE "known_address" (
    "organization_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "address_hash" BYTEA NOT NULL,
    "last_login_at" TIMESTAMPTZ NOT NULL,

    CONSTRAINT "known_address_pkey" PRIMARY KEY ("organization_id","user_id","address_hash")
);

-- CreateIndex
CREATE INDEX "known_address_last_login_at_idx" ON "known_address"("last_login_at");

-- AddForeignKey
ALTER TABLE "known_address" ADD CONSTRAINT "known_address_organization_id_user_id_fkey" FOREIGN KEY ("organization_id", "user_id") REFERENCES "user"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
