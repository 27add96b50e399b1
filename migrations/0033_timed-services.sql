-- A service can be blocked only while the slots of a schedule profile that block everything hold.

-- Up Migration
ALTER TABLE blocked_services ADD COLUMN profile_id integer REFERENCES schedule_profiles ON DELETE CASCADE; -- null = always
CREATE INDEX blocked_services_profile_id_idx ON blocked_services (profile_id);
-- The blocked services are read with the slots of their profiles.
CREATE TRIGGER schedule_profiles_services_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON schedule_profiles
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version('services');
CREATE TRIGGER schedule_slots_services_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON schedule_slots
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version('services');

-- Down Migration
DROP TRIGGER schedule_slots_services_version ON schedule_slots;
DROP TRIGGER schedule_profiles_services_version ON schedule_profiles;
-- Without their profile they would be blocked always.
DELETE FROM blocked_services WHERE profile_id IS NOT NULL;
ALTER TABLE blocked_services DROP COLUMN profile_id;
