-- Revisions that Weir makes by itself do not use up those of people; what is found out about a list changes no policy.

-- Up Migration
ALTER TABLE revisions ADD COLUMN is_own boolean NOT NULL DEFAULT false; -- a list's new content, say
UPDATE revisions SET is_own = author = 'system';

-- Only the columns that policy is made of: else the facts of a fetch lock the version after the source's row, and
-- going back to a revision does it the other way round.
DROP TRIGGER list_sources_version ON list_sources;
CREATE TRIGGER list_sources_version
  AFTER INSERT OR UPDATE OF kind, name, enabled OR DELETE OR TRUNCATE ON list_sources
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version('list_sources');

-- Down Migration
DROP TRIGGER list_sources_version ON list_sources;
CREATE TRIGGER list_sources_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON list_sources
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version('list_sources');
ALTER TABLE revisions DROP COLUMN is_own;
