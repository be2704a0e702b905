-- The newest import that an organization has tried and the newest that has succeeded, so that metrics tell an import that changes nothing from
-- one that no longer runs.

-- CreateTable
CREATE TABLE "import_attempt" (
    "organization_id" INTEGER NOT NULL,
    "last_attempt_at" TIMESTAMPTZ NOT NULL,
    "last_success_at" TIMESTAMPTZ,
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "import_attempt_pkey" PRIMARY KEY ("organization_id")
);

-- AddForeignKey
ALTER TABLE "import_attempt" ADD CONSTRAINT "import_attempt_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Organizations that have imported before, whose imports may already have stopped. Earlier imports that changed nothing have left no trace.
INSERT INTO "import_attempt" ("organization_id", "last_attempt_at", "last_success_at")
SELECT "organization_id", max("recorded_at"), max("recorded_at") FROM "data_version" WHERE "cause" = 'import' GROUP BY "organization_id";
