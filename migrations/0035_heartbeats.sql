-- Each node says every two seconds how it does, so that any of them can show all.

-- Up Migration
ALTER TABLE nodes
  ADD COLUMN state        text CHECK (state IN ('starting', 'ready', 'draining')),
  ADD COLUMN applied_at   timestamptz, -- when its policy_revision came into force there
  ADD COLUMN figures      jsonb,       -- what only people read, see cluster/node-figures.ts
  ADD COLUMN forgotten_at timestamptz; -- said by a person; the name of its rows in the query log stays
-- The updates of a heartbeat change no index: half of each page is room for the next one.
ALTER TABLE nodes SET (fillfactor = 50);

-- Down Migration
ALTER TABLE nodes RESET (fillfactor);
ALTER TABLE nodes DROP COLUMN forgotten_at, DROP COLUMN figures, DROP COLUMN applied_at, DROP COLUMN state;
