-- What a person sees of a held copy before it is approved: why it is held, its rules, those in force, names that matter.

-- Up Migration
ALTER TABLE list_sources ADD COLUMN held jsonb; -- counts only while held_key has a copy
-- Copies that are held already say it as text.
UPDATE list_sources SET held = jsonb_build_object(
    'reason', CASE
      WHEN last_error LIKE 'held: the list shrank %' THEN 'shrank'
      WHEN last_error LIKE 'held: the list grew %' THEN 'grew'
      WHEN last_error LIKE 'held: it would no longer allow %' THEN 'allows_less'
      WHEN last_error LIKE 'held: undone %' THEN 'undone'
      ELSE 'blocks_names' END,
    'rules', substring(last_error FROM ' to ([0-9]+) rules$')::integer,
    'rules_in_force', coalesce(substring(last_error FROM ' from ([0-9]+) to ')::integer, rules),
    'names', to_jsonb(string_to_array(
      coalesce(substring(last_error FROM 'asked for here: (.*?)(?: and [0-9]+ more)?$'), ''), ', ')),
    'name_count', 0)
  WHERE held_key IS NOT NULL;
UPDATE list_sources SET held = jsonb_set(held, '{name_count}', to_jsonb(jsonb_array_length(held->'names')
    + coalesce(substring(last_error FROM ' and ([0-9]+) more$')::integer, 0)))
  WHERE held IS NOT NULL;

-- Down Migration
ALTER TABLE list_sources DROP COLUMN held;
