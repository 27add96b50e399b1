-- The nodes that share this database, and single facts about the installation.

-- Up Migration
CREATE TABLE nodes (
  id              integer PRIMARY KEY, -- derived from the name, so a node knows it with the database down
  name            text NOT NULL CONSTRAINT nodes_name_key UNIQUE,
  version         text,
  address         text,
  started_at      timestamptz,
  last_seen       timestamptz NOT NULL DEFAULT now(),
  snapshot_id     bigint,
  policy_revision bigint,
  lag_ms          integer,
  qps             real
);

CREATE TABLE meta (
  key        text PRIMARY KEY, -- e.g. `seeded`: the first start has put its defaults in
  value      jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Down Migration
DROP TABLE meta;
DROP TABLE nodes;
