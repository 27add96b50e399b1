-- Large policy tables say when they change, so that they are neither read nor copied when another one does.

-- Up Migration
CREATE TABLE table_versions (
  name    text PRIMARY KEY,
  version uuid NOT NULL DEFAULT gen_random_uuid() -- no number: it tells databases apart, too
);
INSERT INTO table_versions (name) VALUES ('clients'), ('client_subnets');

CREATE FUNCTION note_table_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE table_versions SET version = gen_random_uuid() WHERE name = TG_TABLE_NAME;
  RETURN NULL;
END $$;

CREATE TRIGGER client_subnets_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON client_subnets
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();

-- Of clients, policy knows who was given a group, and by what; sightings change nothing of that.
CREATE TRIGGER clients_version_insert AFTER INSERT ON clients
  FOR EACH ROW WHEN (NEW.group_id IS NOT NULL) EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_delete AFTER DELETE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS NOT NULL) EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_update AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS DISTINCT FROM NEW.group_id OR NEW.group_id IS NOT NULL
    AND (OLD.mac_address IS DISTINCT FROM NEW.mac_address
      OR NEW.mac_address IS NULL AND OLD.ip_address IS DISTINCT FROM NEW.ip_address))
  EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_truncate AFTER TRUNCATE ON clients
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();

-- What revisions hold of such a table, once for all revisions between which it did not change.
CREATE TABLE table_copies (
  name    text NOT NULL,
  version uuid NOT NULL,
  rows    json NOT NULL,
  PRIMARY KEY (name, version)
);
-- Compressing a megabyte takes longer than writing it.
ALTER TABLE table_copies ALTER COLUMN rows SET STORAGE EXTERNAL;
ALTER TABLE revisions ADD COLUMN table_versions jsonb NOT NULL DEFAULT '{}';

-- Down Migration
ALTER TABLE revisions DROP COLUMN table_versions;
DROP TABLE table_copies;
DROP TRIGGER clients_version_truncate ON clients;
DROP TRIGGER clients_version_update ON clients;
DROP TRIGGER clients_version_delete ON clients;
DROP TRIGGER clients_version_insert ON clients;
DROP TRIGGER client_subnets_version ON client_subnets;
DROP FUNCTION note_table_version;
DROP TABLE table_versions;
