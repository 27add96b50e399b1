-- What a change of policy costs is what it changes: every policy table says when it changes, so that nothing else is
-- read again, and each changed row is noted as it was, so that revisions hold no copies of tables.

-- Up Migration
INSERT INTO table_versions (name) VALUES ('groups'), ('list_sources'), ('managed_domains'), ('regex_filters'),
  ('services'), ('forward_zones'), ('local_records'), ('schedules'), ('safe_search');

-- Tables that are read together have one version, whose name is the argument.
CREATE OR REPLACE FUNCTION note_table_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE table_versions SET version = gen_random_uuid() WHERE name = coalesce(TG_ARGV[0], TG_TABLE_NAME);
  RETURN NULL;
END $$;

-- Rows as they were before each change, as long as a revision that one can go back to is older.
CREATE TABLE policy_changes (
  seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  table_name text NOT NULL,
  key        text NOT NULL, -- key columns of the row, with blanks between
  was        jsonb          -- null = there was no such row
);

-- The arguments are the key columns.
CREATE FUNCTION note_policy_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  old_key text;
  new_key text;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    SELECT string_agg(to_jsonb(OLD) ->> name, ' ' ORDER BY place) INTO old_key
      FROM unnest(TG_ARGV) WITH ORDINALITY AS columns (name, place);
    INSERT INTO policy_changes (table_name, key, was) VALUES (TG_TABLE_NAME, old_key, to_jsonb(OLD));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    SELECT string_agg(to_jsonb(NEW) ->> name, ' ' ORDER BY place) INTO new_key
      FROM unnest(TG_ARGV) WITH ORDINALITY AS columns (name, place);
    IF new_key IS DISTINCT FROM old_key THEN
      INSERT INTO policy_changes (table_name, key, was) VALUES (TG_TABLE_NAME, new_key, NULL);
    END IF;
  END IF;
  RETURN NULL;
END $$;

DO $$
DECLARE
  part record;
BEGIN
  FOR part IN SELECT * FROM (VALUES ('groups', 'groups'), ('list_sources', 'list_sources'),
    ('list_source_groups', 'list_sources'), ('managed_domains', 'managed_domains'), ('regex_filters', 'regex_filters'),
    ('custom_services', 'services'), ('blocked_services', 'services'), ('forward_zones', 'forward_zones'),
    ('local_records', 'local_records'), ('schedule_profiles', 'schedules'), ('schedule_slots', 'schedules'),
    ('group_schedules', 'schedules'), ('safe_search_configs', 'safe_search')) AS parts (table_name, version_name)
  LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION note_table_version(%L)',
      part.table_name || '_version', part.table_name, part.version_name);
  END LOOP;
  FOR part IN SELECT * FROM (VALUES ('managed_domains', 'id'), ('regex_filters', 'id'), ('custom_services', 'service_id'),
    ('blocked_services', 'id'), ('forward_zones', 'id'), ('local_records', 'id'), ('schedule_profiles', 'id'),
    ('schedule_slots', 'id'), ('group_schedules', 'group_id'), ('client_subnets', 'id'), ('dns_settings', 'id'))
    AS keys (table_name, key_column)
  LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %I
      FOR EACH ROW EXECUTE FUNCTION note_policy_change(%L)',
      part.table_name || '_change', part.table_name, part.key_column);
  END LOOP;
END $$;
CREATE TRIGGER safe_search_configs_change AFTER INSERT OR UPDATE OR DELETE ON safe_search_configs
  FOR EACH ROW EXECUTE FUNCTION note_policy_change('group_id', 'engine');

-- Of the changes since the revisions that there are, nothing is known: they stay as history only.
UPDATE revisions SET policy = NULL, list_copies = '{}';
ALTER TABLE revisions DROP COLUMN table_versions;
ALTER TABLE revisions ADD COLUMN last_change bigint NOT NULL DEFAULT 0; -- policy_changes.seq that is the last before it
DROP TABLE table_copies;

-- Down Migration
CREATE TABLE table_copies (
  name    text NOT NULL,
  version uuid NOT NULL,
  rows    json NOT NULL,
  PRIMARY KEY (name, version)
);
ALTER TABLE table_copies ALTER COLUMN rows SET STORAGE EXTERNAL;
UPDATE revisions SET policy = NULL, list_copies = '{}';
ALTER TABLE revisions DROP COLUMN last_change;
ALTER TABLE revisions ADD COLUMN table_versions jsonb NOT NULL DEFAULT '{}';
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['groups', 'list_sources', 'list_source_groups', 'managed_domains', 'regex_filters',
    'custom_services', 'blocked_services', 'forward_zones', 'local_records', 'schedule_profiles', 'schedule_slots',
    'group_schedules', 'safe_search_configs']
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %I', name || '_version', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['managed_domains', 'regex_filters', 'custom_services', 'blocked_services',
    'forward_zones', 'local_records', 'schedule_profiles', 'schedule_slots', 'group_schedules', 'client_subnets',
    'dns_settings', 'safe_search_configs']
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %I', name || '_change', name);
  END LOOP;
END $$;
DROP FUNCTION note_policy_change;
DROP TABLE policy_changes;
CREATE OR REPLACE FUNCTION note_table_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE table_versions SET version = gen_random_uuid() WHERE name = TG_TABLE_NAME;
  RETURN NULL;
END $$;
DELETE FROM table_versions WHERE name NOT IN ('clients', 'client_subnets');
