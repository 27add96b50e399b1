-- Clients that name themselves over DNS over TLS and HTTPS.

-- Up Migration
ALTER TABLE clients ADD COLUMN client_key text -- a label in lower case; null = none
  CONSTRAINT clients_key_form CHECK (client_key ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$');
CREATE UNIQUE INDEX clients_key_key ON clients (client_key);
ALTER TABLE clients DROP CONSTRAINT clients_known_by;
ALTER TABLE clients ADD CONSTRAINT clients_known_by
  CHECK (ip_address IS NOT NULL OR mac_address IS NOT NULL OR client_key IS NOT NULL);

-- Policy knows them by their keys, and rules by name and MAC.
DROP TRIGGER clients_version_insert ON clients;
DROP TRIGGER clients_version_delete ON clients;
DROP TRIGGER clients_version_update ON clients;
CREATE TRIGGER clients_version_insert AFTER INSERT ON clients
  FOR EACH ROW WHEN (NEW.group_id IS NOT NULL OR NEW.client_key IS NOT NULL) EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_delete AFTER DELETE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS NOT NULL OR OLD.client_key IS NOT NULL) EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_update AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS DISTINCT FROM NEW.group_id
    OR OLD.client_key IS DISTINCT FROM NEW.client_key
    OR NEW.client_key IS NOT NULL
      AND (OLD.name IS DISTINCT FROM NEW.name OR OLD.mac_address IS DISTINCT FROM NEW.mac_address)
    OR NEW.group_id IS NOT NULL
      AND (OLD.mac_address IS DISTINCT FROM NEW.mac_address
        OR NEW.mac_address IS NULL AND OLD.ip_address IS DISTINCT FROM NEW.ip_address))
  EXECUTE FUNCTION note_table_version();

-- Down Migration
DROP TRIGGER clients_version_insert ON clients;
DROP TRIGGER clients_version_delete ON clients;
DROP TRIGGER clients_version_update ON clients;
DELETE FROM clients WHERE ip_address IS NULL AND mac_address IS NULL;
ALTER TABLE clients DROP CONSTRAINT clients_known_by;
ALTER TABLE clients ADD CONSTRAINT clients_known_by CHECK (ip_address IS NOT NULL OR mac_address IS NOT NULL);
ALTER TABLE clients DROP COLUMN client_key;
CREATE TRIGGER clients_version_insert AFTER INSERT ON clients
  FOR EACH ROW WHEN (NEW.group_id IS NOT NULL) EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_delete AFTER DELETE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS NOT NULL) EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_update AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS DISTINCT FROM NEW.group_id OR NEW.group_id IS NOT NULL
    AND (OLD.mac_address IS DISTINCT FROM NEW.mac_address
      OR NEW.mac_address IS NULL AND OLD.ip_address IS DISTINCT FROM NEW.ip_address))
  EXECUTE FUNCTION note_table_version();
