-- Days off, such as holidays, on which some slots of a schedule do not apply.

-- Up Migration

ALTER TABLE schedule_profiles ADD COLUMN days_off jsonb NOT NULL DEFAULT '[]'; -- [{"from": "2026-07-01", "to": "2026-07-31"}]
-- A slot that spans midnight belongs to the day on which it ends.
ALTER TABLE schedule_slots ADD COLUMN skips_days_off boolean NOT NULL DEFAULT false;

-- A rollback restores rows as they are noted here.
UPDATE policy_changes SET was = was || '{"days_off": []}' WHERE table_name = 'schedule_profiles';
UPDATE policy_changes SET was = was || '{"skips_days_off": false}' WHERE table_name = 'schedule_slots';
