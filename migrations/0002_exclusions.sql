-- Clients and domains that are kept out of the query log, of statistics, or of both.

-- Up Migration

ALTER TABLE clients
  ADD exclude_from_log   boolean NOT NULL DEFAULT false, -- its queries get no rows in the query log
  ADD exclude_from_stats boolean NOT NULL DEFAULT false; -- its queries are not counted

-- Policy needs the excluded clients also.
DROP TRIGGER clients_version_insert ON clients;
CREATE TRIGGER clients_version_insert AFTER INSERT ON clients
  FOR EACH ROW WHEN (NEW.group_id IS NOT NULL OR NEW.client_key IS NOT NULL
    OR NEW.exclude_from_log OR NEW.exclude_from_stats)
  EXECUTE FUNCTION note_table_version();
DROP TRIGGER clients_version_delete ON clients;
CREATE TRIGGER clients_version_delete AFTER DELETE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS NOT NULL OR OLD.client_key IS NOT NULL
    OR OLD.exclude_from_log OR OLD.exclude_from_stats)
  EXECUTE FUNCTION note_table_version();
DROP TRIGGER clients_version_update ON clients;
CREATE TRIGGER clients_version_update AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS DISTINCT FROM NEW.group_id
    OR OLD.client_key IS DISTINCT FROM NEW.client_key
    OR OLD.exclude_from_log <> NEW.exclude_from_log
    OR OLD.exclude_from_stats <> NEW.exclude_from_stats
    OR NEW.client_key IS NOT NULL
      AND (OLD.name IS DISTINCT FROM NEW.name OR OLD.mac_address IS DISTINCT FROM NEW.mac_address)
    OR (NEW.group_id IS NOT NULL OR NEW.exclude_from_log OR NEW.exclude_from_stats)
      AND (OLD.mac_address IS DISTINCT FROM NEW.mac_address
        OR NEW.mac_address IS NULL AND OLD.ip_address IS DISTINCT FROM NEW.ip_address))
  EXECUTE FUNCTION note_table_version();

-- Rows that only the log or only statistics have are in runs beside the main run of the process, whose key they have here.
ALTER TABLE query_runs ADD part_of uuid;
-- Who reads a block: 'b' = the log and statistics, 'l' = the log, 's' = statistics.
ALTER TABLE query_blocks ADD used_by "char" NOT NULL DEFAULT 'b' CHECK (used_by IN ('b', 'l', 's'));
