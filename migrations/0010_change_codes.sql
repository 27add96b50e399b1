-- Subject and action of a change as codes with parameters, which the dashboard shows in its language (shared/policy/changes/). The
-- English text beside them stays.

-- Up Migration

ALTER TABLE revisions ADD COLUMN codes jsonb; -- null = written by an earlier release
ALTER TABLE audit_log ADD COLUMN codes jsonb; -- the same

UPDATE revisions SET codes =
  '{"subject": {"code": "weir", "params": {}}, "action": {"code": "installed", "params": {}}}'
  WHERE id = 1 AND summary = 'Weir: installed';
