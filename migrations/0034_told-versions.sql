-- Every node learns at once what another one has changed: a version that changes is told by NOTIFY, and everything that
-- nodes keep in memory has a version.

-- Up Migration
INSERT INTO table_versions (name) VALUES ('blocking_switch'), ('config_values'), ('list_copies'), ('access');

CREATE FUNCTION tell_table_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('weir', NEW.name);
  RETURN NULL;
END $$;
CREATE TRIGGER table_versions_told AFTER UPDATE ON table_versions
  FOR EACH ROW EXECUTE FUNCTION tell_table_version();

CREATE TRIGGER blocking_switch_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON blocking_switch
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();
CREATE TRIGGER config_values_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON config_values
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();
DROP TRIGGER config_values_told ON config_values;
DROP FUNCTION tell_config_change;

-- What a source says of its last fetch concerns no other node; which copy of its list counts, all of them.
DROP TRIGGER list_sources_version ON list_sources;
CREATE TRIGGER list_sources_version AFTER INSERT OR DELETE OR TRUNCATE ON list_sources
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();
CREATE TRIGGER list_sources_version_update AFTER UPDATE ON list_sources
  FOR EACH ROW WHEN (ROW (OLD.name, OLD.url, OLD.kind, OLD.enabled, OLD.subdomains) IS DISTINCT FROM
    ROW (NEW.name, NEW.url, NEW.kind, NEW.enabled, NEW.subdomains))
  EXECUTE FUNCTION note_table_version();
CREATE TRIGGER list_sources_copies AFTER UPDATE ON list_sources
  FOR EACH ROW WHEN (OLD.content_key IS DISTINCT FROM NEW.content_key OR OLD.held_key IS DISTINCT FROM NEW.held_key)
  EXECUTE FUNCTION note_table_version('list_copies');

-- A right that is taken away ends everywhere; what was read of tokens and sessions is not believed any more.
CREATE TRIGGER sessions_access AFTER DELETE ON sessions
  FOR EACH ROW EXECUTE FUNCTION note_table_version('access');
CREATE TRIGGER api_tokens_access AFTER INSERT OR DELETE ON api_tokens
  FOR EACH ROW EXECUTE FUNCTION note_table_version('access');
CREATE TRIGGER api_tokens_access_update AFTER UPDATE ON api_tokens
  FOR EACH ROW WHEN (OLD.role <> NEW.role OR OLD.key_hash <> NEW.key_hash)
  EXECUTE FUNCTION note_table_version('access');
CREATE TRIGGER users_access AFTER UPDATE ON users
  FOR EACH ROW WHEN (OLD.role <> NEW.role OR OLD.enabled <> NEW.enabled)
  EXECUTE FUNCTION note_table_version('access');

-- Down Migration
DROP TRIGGER users_access ON users;
DROP TRIGGER api_tokens_access_update ON api_tokens;
DROP TRIGGER api_tokens_access ON api_tokens;
DROP TRIGGER sessions_access ON sessions;
DROP TRIGGER list_sources_copies ON list_sources;
DROP TRIGGER list_sources_version_update ON list_sources;
DROP TRIGGER list_sources_version ON list_sources;
CREATE TRIGGER list_sources_version AFTER INSERT OR UPDATE OF kind, name, enabled OR DELETE OR TRUNCATE ON list_sources
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version('list_sources');
CREATE FUNCTION tell_config_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('weir_config', '');
  RETURN NULL;
END $$;
CREATE TRIGGER config_values_told AFTER INSERT OR UPDATE OR DELETE ON config_values
  FOR EACH STATEMENT EXECUTE FUNCTION tell_config_change();
DROP TRIGGER config_values_version ON config_values;
DROP TRIGGER blocking_switch_version ON blocking_switch;
DROP TRIGGER table_versions_told ON table_versions;
DROP FUNCTION tell_table_version;
DELETE FROM table_versions WHERE name IN ('blocking_switch', 'config_values', 'list_copies', 'access');
