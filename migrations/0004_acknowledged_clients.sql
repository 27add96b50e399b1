
-- Up Migration

-- An administrator has said that the device is known, so it is no longer shown as new. Not part of revisions.
ALTER TABLE clients ADD COLUMN acknowledged boolean NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION client_settings(c clients) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN num_nonnulls(c.name, c.group_id, c.client_key, c.device_id) > 0 OR c.exclude_from_log
      OR c.exclude_from_stats THEN
    to_jsonb(c) - ARRAY['addresses', 'site', 'hostname', 'first_seen', 'last_seen', 'query_count', 'acknowledged']
      - CASE WHEN c.mac_address IS NULL THEN '' ELSE 'ip_address' END END
$$;

-- Other nodes read it again.
CREATE TRIGGER clients_acknowledged AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.acknowledged <> NEW.acknowledged)
  EXECUTE FUNCTION note_table_version('client_settings');
