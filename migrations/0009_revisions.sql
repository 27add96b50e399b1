-- Every change of policy or lists, and for the last ones the policy as it was after the change.

-- Up Migration
CREATE TABLE revisions (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at  timestamptz NOT NULL DEFAULT now(),
  author      text NOT NULL,
  summary     text NOT NULL,
  policy      jsonb,                       -- rows of the policy tables; null once it is too old to go back to
  list_copies text[] NOT NULL DEFAULT '{}' -- content keys of the lists that were in force
);

-- Down Migration
DROP TABLE revisions;
