
-- Up Migration

-- Several clients that are one device, such as a laptop with two interfaces. Name, group and exclusions are those of the
-- client with this id, which has its own id here too; null = the client stands alone.
ALTER TABLE clients ADD COLUMN device_id integer
  CONSTRAINT clients_device_id_fkey REFERENCES clients ON DELETE CASCADE;
CREATE INDEX clients_device_id_idx ON clients (device_id) WHERE device_id IS NOT NULL;
ALTER TABLE clients ADD CONSTRAINT clients_settings_of_device CHECK (device_id = id OR device_id IS NULL
  OR name IS NULL AND group_id IS NULL AND NOT exclude_from_log AND NOT exclude_from_stats);

CREATE OR REPLACE FUNCTION client_settings(c clients) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN num_nonnulls(c.name, c.group_id, c.client_key, c.device_id) > 0 OR c.exclude_from_log
      OR c.exclude_from_stats THEN
    to_jsonb(c) - ARRAY['addresses', 'site', 'hostname', 'first_seen', 'last_seen', 'query_count']
      - CASE WHEN c.mac_address IS NULL THEN '' ELSE 'ip_address' END END
$$;

-- Policy knows each of them by its own MAC or address.
CREATE TRIGGER clients_device_version_delete AFTER DELETE ON clients
  FOR EACH ROW WHEN (OLD.device_id IS NOT NULL) EXECUTE FUNCTION note_table_version('clients');
CREATE TRIGGER clients_device_version_update AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.device_id IS DISTINCT FROM NEW.device_id OR NEW.device_id IS NOT NULL
    AND (OLD.mac_address IS DISTINCT FROM NEW.mac_address OR OLD.name IS DISTINCT FROM NEW.name
      OR NEW.mac_address IS NULL AND OLD.ip_address IS DISTINCT FROM NEW.ip_address))
  EXECUTE FUNCTION note_table_version('clients');
CREATE TRIGGER clients_device_grants_delete AFTER DELETE ON clients
  FOR EACH ROW WHEN (OLD.device_id IS NOT NULL) EXECUTE FUNCTION note_table_version('grants');
CREATE TRIGGER clients_device_grants_update AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.device_id IS DISTINCT FROM NEW.device_id OR NEW.device_id IS NOT NULL
    AND (OLD.mac_address IS DISTINCT FROM NEW.mac_address OR OLD.client_key IS DISTINCT FROM NEW.client_key
      OR NEW.mac_address IS NULL AND OLD.ip_address IS DISTINCT FROM NEW.ip_address))
  EXECUTE FUNCTION note_table_version('grants');
