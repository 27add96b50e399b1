-- Sessions that end when they are not used, as clients of the compatibility API open them and never end them.

-- Up Migration
ALTER TABLE sessions ADD COLUMN idle_secs integer CHECK (idle_secs > 0); -- life after the last use; NULL = ends at expires_at
CREATE INDEX sessions_idle_idx ON sessions (last_seen_at) WHERE idle_secs IS NOT NULL;

-- Down Migration
ALTER TABLE sessions DROP COLUMN idle_secs;
