-- The configuration of the cluster, a row for each key that is not at its default. The four settings that had a table
-- of their own are keys like others now.

-- Up Migration
CREATE TABLE config_values (
  key        text PRIMARY KEY, -- e.g. `dns.query_timeout_ms`
  value      jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

INSERT INTO config_values (key, value)
  SELECT 'dns.' || field.key, field.value
    FROM dns_settings, jsonb_each(to_jsonb(dns_settings) - 'id') AS field WHERE field.value <> 'null';

-- What decides about names is a part of revisions; sessions, the log and the cache are not undone with rules.
CREATE TRIGGER config_values_added AFTER INSERT ON config_values
  FOR EACH ROW WHEN (NEW.key ~ '^(dns|blocking)[.]') EXECUTE FUNCTION note_policy_change('key');
CREATE TRIGGER config_values_changed AFTER UPDATE OR DELETE ON config_values
  FOR EACH ROW WHEN (OLD.key ~ '^(dns|blocking)[.]') EXECUTE FUNCTION note_policy_change('key');

-- Each node takes the rows that another one has changed.
CREATE FUNCTION tell_config_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('weir_config', '');
  RETURN NULL;
END $$;
CREATE TRIGGER config_values_told AFTER INSERT OR UPDATE OR DELETE ON config_values
  FOR EACH STATEMENT EXECUTE FUNCTION tell_config_change();

DELETE FROM policy_changes WHERE table_name = 'dns_settings';
DROP TABLE dns_settings;

-- Down Migration
CREATE TABLE dns_settings (
  id                            integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  never_forward_non_fqdn        boolean,
  never_forward_reverse_lookups boolean,
  local_domain                  text,
  local_dns_server              text
);
INSERT INTO dns_settings (never_forward_non_fqdn, never_forward_reverse_lookups, local_domain, local_dns_server)
  SELECT (SELECT value::boolean FROM config_values WHERE key = 'dns.never_forward_non_fqdn'),
    (SELECT value::boolean FROM config_values WHERE key = 'dns.never_forward_reverse_lookups'),
    (SELECT value #>> '{}' FROM config_values WHERE key = 'dns.local_domain'),
    (SELECT value #>> '{}' FROM config_values WHERE key = 'dns.local_dns_server');
CREATE TRIGGER dns_settings_change AFTER INSERT OR UPDATE OR DELETE ON dns_settings
  FOR EACH ROW EXECUTE FUNCTION note_policy_change('id');
DELETE FROM policy_changes WHERE table_name = 'config_values';
DROP TABLE config_values;
DROP FUNCTION tell_config_change;
DELETE FROM meta WHERE key = 'config_seeded';
