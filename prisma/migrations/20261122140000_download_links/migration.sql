-- Links to files. A session of the release before gets its hash with its first link.

-- CreateTable
CREATE TABLE "link_key" (
    "id" SERIAL NOT NULL,
    "key" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "link_key_pkey" PRIMARY KEY ("id")
);

-- AlterTable
ALTER TABLE "session" ADD COLUMN "link_hash" BYTEA;

-- CreateIndex
CREATE UNIQUE INDEX "session_link_hash_key" ON "session"("link_hash");
