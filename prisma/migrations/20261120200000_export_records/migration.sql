-- Who took which lines away.

-- CreateTable
CREATE TABLE "export_record" (
    "id" UUID NOT NULL,
    "organization_id" INTEGER NOT NULL,
    "provision_id" UUID,
    "username" TEXT,
    "report" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "start_date" DATE NOT NULL,
    "end_date" DATE NOT NULL,
    "pending" TEXT NOT NULL,
    "conditions" TEXT[],
    "started_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ,
    "outcome" TEXT,
    "bytes" BIGINT,
    "file_sha256" TEXT,
    "lines" BIGINT,
    "digest" TEXT,

    CONSTRAINT "export_record_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "export_record_organization_id_started_at_id_idx" ON "export_record"("organization_id", "started_at", "id");

-- AddForeignKey
ALTER TABLE "export_record" ADD CONSTRAINT "export_record_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

