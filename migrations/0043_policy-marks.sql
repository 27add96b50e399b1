-- Each node says how far it has followed the changes of others, also of those that make no revision.

-- Up Migration
ALTER TABLE nodes ADD COLUMN policy_mark bigint; -- see setMark() in policy/policy-position.ts
ALTER TABLE nodes DROP COLUMN lag_ms;            -- never written: for how long a node lags is known when it is asked

-- Down Migration
ALTER TABLE nodes ADD COLUMN lag_ms integer;
ALTER TABLE nodes DROP COLUMN policy_mark;
DELETE FROM meta WHERE key = 'position_mark';
