-- The audit: one list for each organization, whose rows are chained by hash. src/formats/audit-row.ts says how a hash is computed.

-- CreateTable
CREATE TABLE "audit_record" (
    "organization_id" INTEGER NOT NULL,
    "number" BIGINT NOT NULL,
    "entry" UUID NOT NULL,
    "part" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "door" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "operation_hash" TEXT,
    "username" TEXT,
    "provision_label" TEXT,
    "provision_start" TEXT,
    "address" TEXT,
    "report" TEXT,
    "format" TEXT,
    "start_date" DATE,
    "end_date" DATE,
    "pending" TEXT,
    "conditions" TEXT[],
    "reads" BIGINT,
    "lines" BIGINT,
    "bytes" BIGINT,
    "file_sha256" TEXT,
    "digest" TEXT,
    "data_version" BIGINT,
    "outcome" TEXT,
    "subject" TEXT,
    "detail" TEXT,
    "tells_donors" BOOLEAN,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_record_pkey" PRIMARY KEY ("organization_id","number")
);

-- CreateTable
CREATE TABLE "audit_chain" (
    "organization_id" INTEGER NOT NULL,
    "number" BIGINT NOT NULL,
    "hash" TEXT NOT NULL,
    "anchor_number" BIGINT NOT NULL,
    "anchor_hash" TEXT NOT NULL,

    CONSTRAINT "audit_chain_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "audit_record_organization_id_entry_part_key" ON "audit_record"("organization_id", "entry", "part");

-- CreateIndex
CREATE INDEX "audit_record_organization_id_at_idx" ON "audit_record"("organization_id", "at");

-- AddForeignKey
ALTER TABLE "audit_record" ADD CONSTRAINT "audit_record_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "audit_chain" ADD CONSTRAINT "audit_chain_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- The exports that were recorded so far become the first rows. Any of them may tell of donors. The migration after this one drops the table export_record.
DO $$
DECLARE
  export RECORD;
  row_before audit_chain%ROWTYPE;
BEGIN
  INSERT INTO audit_chain SELECT id, 0, repeat('0', 64), 0, repeat('0', 64) FROM organization;
  FOR export IN
    SELECT organization_id, id, 'started' AS part, started_at, date_trunc('milliseconds', started_at) AS at, 'file' AS kind,
      CASE WHEN provision_id IS NULL THEN 'command' ELSE 'file' END AS door, report || '.' || format AS operation,
      username, left(provision_id::text, 8) AS provision_start, report, format, start_date, end_date, pending, COALESCE(conditions, '{}') AS conditions,
      NULL::bigint AS reads, NULL::bigint AS lines, NULL::bigint AS bytes, NULL AS file_sha256, NULL AS digest, NULL::bigint AS data_version, NULL AS outcome,
      true AS tells_donors
    FROM export_record
    UNION ALL
    SELECT organization_id, id, 'ended', started_at, date_trunc('milliseconds', finished_at), 'file',
      CASE WHEN provision_id IS NULL THEN 'command' ELSE 'file' END, report || '.' || format,
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}',
      1, lines, bytes, file_sha256, digest, data_version, outcome, NULL
    FROM export_record WHERE finished_at IS NOT NULL
    ORDER BY 1, 4, 2, 3 DESC
  LOOP
    SELECT * INTO row_before FROM audit_chain WHERE organization_id = export.organization_id;
    UPDATE audit_chain SET number = number + 1, hash = encode(sha256(convert_to(hash || E'\n' || json_build_array(
        export.organization_id, row_before.number + 1, export.id, export.part, to_char(export.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        export.kind, export.door, export.operation, NULL, export.username, NULL, export.provision_start, NULL, export.report, export.format,
        export.start_date, export.end_date, export.pending, export.conditions, export.reads, export.lines, export.bytes, export.file_sha256,
        export.digest, export.data_version, export.outcome, NULL, NULL, export.tells_donors)::text, 'UTF8')), 'hex')
    WHERE organization_id = export.organization_id;
    INSERT INTO audit_record
    SELECT export.organization_id, number, export.id, export.part, export.at, export.kind, export.door, export.operation, NULL, export.username,
      NULL, export.provision_start, NULL, export.report, export.format, export.start_date, export.end_date, export.pending, export.conditions,
      export.reads, export.lines, export.bytes, export.file_sha256, export.digest, export.data_version, export.outcome, NULL, NULL, export.tells_donors, hash
    FROM audit_chain WHERE organization_id = export.organization_id;
  END LOOP;
END $$;
