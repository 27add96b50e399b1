-- Who changed what, when, from where; and the policy tables whose changed rows were not noted so far.

-- Up Migration
CREATE TABLE audit_log (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  actor      text NOT NULL,              -- name of a user or token, or `system`
  address    inet,                       -- where the request came from; null = Weir itself, or the command line
  action     text NOT NULL,
  subject    text NOT NULL,
  revision   bigint,                     -- null = it made none
  before     jsonb,                      -- null = there was nothing
  after      jsonb,                      -- null = there is nothing any more
  left_out   integer NOT NULL DEFAULT 0  -- changed rows that `before` and `after` do not show
);
CREATE INDEX audit_log_created_at_idx ON audit_log (created_at, id);
CREATE INDEX audit_log_revision_idx ON audit_log (revision) WHERE revision IS NOT NULL;

CREATE TRIGGER groups_change AFTER INSERT OR UPDATE OR DELETE ON groups
  FOR EACH ROW EXECUTE FUNCTION note_policy_change('id');
-- What is found out about a list is no policy.
CREATE TRIGGER list_sources_change
  AFTER INSERT OR DELETE OR UPDATE OF kind, name, url, enabled, comment, subdomains, content_key ON list_sources
  FOR EACH ROW EXECUTE FUNCTION note_policy_change('id');
CREATE TRIGGER list_source_groups_change AFTER INSERT OR UPDATE OR DELETE ON list_source_groups
  FOR EACH ROW EXECUTE FUNCTION note_policy_change('source_id', 'group_id');

-- Down Migration
DROP TRIGGER list_source_groups_change ON list_source_groups;
DROP TRIGGER list_sources_change ON list_sources;
DROP TRIGGER groups_change ON groups;
DROP TABLE audit_log;
