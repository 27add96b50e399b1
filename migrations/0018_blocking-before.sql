-- Up Migration

-- What holds when the timer ends: what was switched before it without a timer; null = the configuration.
ALTER TABLE blocking_switch ADD COLUMN "before" boolean;

-- Down Migration
ALTER TABLE blocking_switch DROP COLUMN "before";
