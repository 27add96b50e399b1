-- The certificate that was uploaded at any node, for all of them: sealed, see control-plane/tls/shared-certificate.ts.

-- Up Migration
CREATE TABLE web_certificate (
  is_only    boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version    uuid NOT NULL DEFAULT gen_random_uuid(),
  sealed     bytea NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO table_versions (name) VALUES ('web_certificate');
CREATE TRIGGER web_certificate_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON web_certificate
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();

-- Down Migration
DROP TABLE web_certificate;
DELETE FROM table_versions WHERE name = 'web_certificate';
