-- The rights of the role that serves, and no others: it reads the books and cannot change them, it closes and reopens months, and it can neither change nor delete rows of
-- the audit. The owner of the tables applies this file after each migration; `deposit-gateway migrate` does so by itself.

-- The schema is the one that has the gateway's tables.
DO $grants$
DECLARE
  here CONSTANT text := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = to_regclass('deposit_line'));
BEGIN
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %s FROM deposit_gateway_serving', here);
  EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA %s FROM deposit_gateway_serving', here);
  EXECUTE format('REVOKE ALL ON SCHEMA %s FROM deposit_gateway_serving', here);
  EXECUTE format('GRANT USAGE ON SCHEMA %s TO deposit_gateway_serving', here);
END
$grants$;

-- The books, and the migrations that the database has: read.
GRANT SELECT ON "deposit", "transaction", "allocation", "designation", "donor", "deposit_line", "data_version", "period_close", "closed_month", "erased_donor", "import_attempt", "sync_state", "_prisma_migrations"
  TO deposit_gateway_serving;

-- The closes of members: rows are added, and a reopening is noted in the row of its close.
GRANT INSERT ON "data_version", "period_close", "closed_month" TO deposit_gateway_serving;
GRANT UPDATE ("reopened_version", "reopened_by", "reopen_reason") ON "period_close" TO deposit_gateway_serving;

-- Who may do what: read. Only the time of a provision's last use is written.
GRANT SELECT ON "organization", "provision", "provision_key", "user" TO deposit_gateway_serving;
GRANT UPDATE ("last_used_at") ON "provision" TO deposit_gateway_serving;

-- Logins and their limits, links and budgets.
GRANT SELECT, INSERT, UPDATE, DELETE ON "known_address", "login_attempt", "spent_cost" TO deposit_gateway_serving;
GRANT SELECT, INSERT, DELETE ON "session", "link_key" TO deposit_gateway_serving;
GRANT UPDATE ("last_seen_at") ON "session" TO deposit_gateway_serving;
GRANT USAGE ON SEQUENCE "link_key_id_seq" TO deposit_gateway_serving;

-- Who calls v2: counted, and deleted by age.
GRANT SELECT, INSERT, UPDATE, DELETE ON "v2_usage" TO deposit_gateway_serving;

-- The reports that users save.
GRANT SELECT, INSERT, UPDATE, DELETE ON "saved_report" TO deposit_gateway_serving;

-- The accounts of the journal: each saving is a row, and stays.
GRANT SELECT, INSERT ON "journal_accounts" TO deposit_gateway_serving;

-- The budgets of the funds: each saving is a row, and stays.
GRANT SELECT, INSERT ON "fund_budget" TO deposit_gateway_serving;

-- Webhooks: read with the keys that sign, and brought on. The receiver and its key are the owner's alone.
GRANT SELECT ON "webhook" TO deposit_gateway_serving;
GRANT UPDATE ("acknowledged_version", "heartbeat_at", "message_id", "message_version", "message_at", "attempts", "failures",
  "failing_since", "next_attempt_at", "holder", "disabled_at", "disabled_reason") ON "webhook" TO deposit_gateway_serving;
GRANT SELECT, INSERT, DELETE ON "webhook_delivery" TO deposit_gateway_serving;

-- The schedules by which reports are mailed, and their mails. The addresses of users are the owner's alone.
GRANT SELECT, INSERT, UPDATE, DELETE ON "report_schedule", "schedule_recipient", "report_mail" TO deposit_gateway_serving;

-- The audit: rows are added behind the newest.
GRANT SELECT, INSERT ON "audit_record" TO deposit_gateway_serving;
GRANT SELECT, INSERT ON "audit_chain" TO deposit_gateway_serving;
GRANT UPDATE ("number", "hash") ON "audit_chain" TO deposit_gateway_serving;
