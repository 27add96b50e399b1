-- One node fetches the service catalog for all.

-- Up Migration
CREATE TABLE service_catalog (
  id              boolean PRIMARY KEY DEFAULT true CHECK (id), -- there is one
  url             text,        -- that what follows is of
  content_key     text,        -- of the catalog as nodes keep it, in blobs
  etag            text,
  last_modified   text,
  last_checked_at timestamptz,
  failures        integer NOT NULL DEFAULT 0 -- since the last fetch that succeeded
);
INSERT INTO service_catalog DEFAULT VALUES;
INSERT INTO table_versions (name) VALUES ('service_catalog');
CREATE TRIGGER service_catalog_version AFTER UPDATE ON service_catalog
  FOR EACH ROW WHEN (OLD.content_key IS DISTINCT FROM NEW.content_key) EXECUTE FUNCTION note_table_version();

-- Down Migration
DELETE FROM table_versions WHERE name = 'service_catalog';
DROP TABLE service_catalog;
