-- Provisions are stored as hashes. Every provision gets a number, which names it from now on, and a key with the hashes of its UUID. The
-- tables that held UUIDs are rewritten, because a dropped column stays in the rows of its table.

-- CreateTable
CREATE TABLE "provision_key" (
    "uuid_hash" BYTEA NOT NULL,
    "link_hash" BYTEA NOT NULL,
    "provision_id" INTEGER NOT NULL,
    "first_characters" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ,

    CONSTRAINT "provision_key_pkey" PRIMARY KEY ("uuid_hash")
);

-- AlterTable
ALTER TABLE "provision"
    ADD COLUMN "number" INTEGER,
    ADD COLUMN "expires_at" TIMESTAMPTZ,
    ADD COLUMN "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "reports" TEXT[] DEFAULT ARRAY[]::TEXT[];

UPDATE "provision" SET "number" = numbered.number
FROM (SELECT id, row_number() OVER (ORDER BY created_at, id)::integer AS number FROM "provision") AS numbered
WHERE "provision"."id" = numbered.id;

INSERT INTO "provision_key" ("uuid_hash", "link_hash", "provision_id", "first_characters", "created_at")
SELECT sha256(convert_to(id::text, 'UTF8')), sha256(sha256(uuid_send(id))), number, left(id::text, 8), created_at
FROM "provision";

-- The provision of a session
ALTER TABLE "session" DROP CONSTRAINT "session_provision_id_fkey", ADD COLUMN "provision_number" INTEGER;
UPDATE "session" SET "provision_number" = p."number" FROM "provision" p WHERE p."id" = "session"."provision_id";
ALTER TABLE "session" DROP COLUMN "provision_id";
ALTER TABLE "session" RENAME COLUMN "provision_number" TO "provision_id";
ALTER TABLE "session" ALTER COLUMN "provision_id" SET NOT NULL;

-- The audit has a copy of the exports, with the first characters of their provisions.
DROP TABLE "export_record";

-- The number becomes the primary key of provisions. The index over the hashes of their UUIDs goes with the UUIDs.
ALTER TABLE "provision" DROP CONSTRAINT "provision_pkey";
ALTER TABLE "provision" DROP COLUMN "id";
ALTER TABLE "provision" RENAME COLUMN "number" TO "id";
ALTER TABLE "provision" ALTER COLUMN "id" SET NOT NULL, ADD CONSTRAINT "provision_pkey" PRIMARY KEY ("id");
CREATE SEQUENCE "provision_id_seq" AS INTEGER OWNED BY "provision"."id";
SELECT setval('provision_id_seq', (SELECT count(*) + 1 FROM "provision"), false);
ALTER TABLE "provision" ALTER COLUMN "id" SET DEFAULT nextval('provision_id_seq');

-- Public provisions are for whole apps.
ALTER TABLE "provision" ADD CONSTRAINT "provision_reports_check" CHECK ("kind" = 'API' OR cardinality("reports") = 0);

-- CreateIndex
CREATE UNIQUE INDEX "provision_key_link_hash_key" ON "provision_key"("link_hash");
CREATE INDEX "provision_key_provision_id_idx" ON "provision_key"("provision_id");
CREATE INDEX "provision_key_first_characters_idx" ON "provision_key"("first_characters");
CREATE INDEX "session_provision_id_idx" ON "session"("provision_id");

-- AddForeignKey
ALTER TABLE "provision_key" ADD CONSTRAINT "provision_key_provision_id_fkey" FOREIGN KEY ("provision_id") REFERENCES "provision"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "session" ADD CONSTRAINT "session_provision_id_fkey" FOREIGN KEY ("provision_id") REFERENCES "provision"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- CLUSTER writes a table anew, without the values of dropped columns and without earlier rows.
CLUSTER "provision" USING "provision_pkey";
CLUSTER "session" USING "session_pkey";
ALTER TABLE "provision" SET WITHOUT CLUSTER;
ALTER TABLE "session" SET WITHOUT CLUSTER;
