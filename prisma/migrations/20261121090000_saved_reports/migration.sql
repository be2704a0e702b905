-- Queries with names.

-- CreateTable
CREATE TABLE "saved_report" (
    "organization_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "variables" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ NOT NULL,
    "updated_by" TEXT,

    CONSTRAINT "saved_report_pkey" PRIMARY KEY ("organization_id", "name")
);

-- AddForeignKey
ALTER TABLE "saved_report" ADD CONSTRAINT "saved_report_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
