-- Sources of allowlists stand beside those of blocklists, and a source knows which copy of its list counts.

-- Up Migration
ALTER TABLE blocklist_sources RENAME TO list_sources;
ALTER TABLE blocklist_source_groups RENAME TO list_source_groups;
ALTER TABLE list_sources
  ADD COLUMN kind        text NOT NULL DEFAULT 'block' CHECK (kind IN ('block', 'allow')),
  ADD COLUMN content_key text, -- names the copy that is in force
  ADD COLUMN held_key    text; -- names a newer copy that waits to be approved
ALTER TABLE list_sources DROP CONSTRAINT blocklist_sources_url_key;
ALTER TABLE list_sources ADD CONSTRAINT list_sources_url_key UNIQUE (kind, url);

-- Down Migration
DELETE FROM list_sources WHERE kind = 'allow';
ALTER TABLE list_sources DROP CONSTRAINT list_sources_url_key;
ALTER TABLE list_sources DROP COLUMN kind, DROP COLUMN content_key, DROP COLUMN held_key;
ALTER TABLE list_sources ADD CONSTRAINT blocklist_sources_url_key UNIQUE (url);
ALTER TABLE list_source_groups RENAME TO blocklist_source_groups;
ALTER TABLE list_sources RENAME TO blocklist_sources;
