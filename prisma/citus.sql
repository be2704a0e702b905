-- Distributes the books by organization in a database that has the extension Citus. `deposit-gateway migrate` applies it after the
-- migrations, where the extension is; it may be run again at any time, and then distributes what is not yet distributed.
-- The data of an organization are in one shard of each table, and the shards of an organization are on one node: every statement about an
-- organization names it, and is sent to that node alone.
DO $citus$
DECLARE
  -- A test compares both lists with schema.prisma.
  books CONSTANT text[] := ARRAY['designation', 'donor', 'deposit', 'transaction', 'allocation', 'deposit_line', 'data_version', 'period_close', 'erased_donor', 'closed_month'];
  -- Every request reads these, so they stay on the coordinator, where reading them takes no way over the network.
  stay CONSTANT text[] := ARRAY['provision', 'user', 'session', 'known_address', 'audit_record', 'audit_chain', 'saved_report', 'journal_accounts', 'fund_budget', 'import_attempt', 'sync_state', 'v2_usage', 'webhook', 'report_schedule', 'schedule_recipient'];
  here CONSTANT oid := (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('deposit_line'));
  found text;
  foreign_key record;
  definitions text[] := '{}';
BEGIN
  PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);

  SELECT string_agg(relname, ', ') INTO found FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'organization_id'
  WHERE relnamespace = here AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> ALL (books || stay);
  IF found IS NOT NULL THEN
    RAISE EXCEPTION 'prisma/citus.sql does not say where to keep: %', found;
  END IF;

  -- A key of a distributed table never changes, so that no foreign key follows it, and none leads to the coordinator.
  FOR foreign_key IN
    SELECT conrelid::regclass AS name, conname, confrelid::regclass::text AS target, pg_get_constraintdef(pg_constraint.oid) AS definition
    FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
    WHERE contype = 'f' AND connamespace = here AND relname = ANY (books) AND conparentid = 0
      AND conrelid NOT IN (SELECT logicalrelid FROM pg_dist_partition)
  LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', foreign_key.name, foreign_key.conname);
    IF trim('"' FROM foreign_key.target) = ANY (books) THEN
      definitions := definitions || format('ALTER TABLE %s ADD CONSTRAINT %I %s', foreign_key.name, foreign_key.conname,
        replace(foreign_key.definition, ' ON UPDATE CASCADE', ''));
    END IF;
  END LOOP;

  FOREACH found IN ARRAY books LOOP
    IF format('%I', found)::regclass NOT IN (SELECT logicalrelid FROM pg_dist_partition) THEN
      PERFORM create_distributed_table(format('%I', found)::regclass, 'organization_id',
        colocate_with => CASE found WHEN books[1] THEN 'none' ELSE books[1] END);
    END IF;
  END LOOP;

  FOREACH found IN ARRAY definitions LOOP
    EXECUTE found;
  END LOOP;
END
$citus$;
