-- The query log in blocks (control-plane/query-log/block/block-layout.ts), and the counts of statistics.
--
-- A run is one life of a process. It numbers its queries from 0, so (run, number) names a query wherever it waits, and
-- `stored` says which are here: a block that is sent twice is stored once, and a hole is a loss.

-- Up Migration
CREATE TABLE query_runs (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key        uuid NOT NULL CONSTRAINT query_runs_key_key UNIQUE,
  node_id    integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  last_at    timestamptz NOT NULL DEFAULT now(), -- of the newest block
  last_seq   bigint NOT NULL DEFAULT -1,         -- highest number stored
  stored     int8multirange NOT NULL DEFAULT '{}'
);

CREATE TABLE query_blocks (
  day        date NOT NULL, -- in UTC
  run_id     integer NOT NULL,
  first_seq  bigint NOT NULL,
  row_count  integer NOT NULL,
  node_id    integer NOT NULL,
  hour       timestamptz NOT NULL,
  first_time timestamptz NOT NULL,
  last_time  timestamptz NOT NULL,
  lengths    integer[] NOT NULL,
  checksums  integer[] NOT NULL,
  head       bytea NOT NULL,
  names      bytea NOT NULL,
  queries    bytea NOT NULL,
  answers    bytea,
  PRIMARY KEY (day, run_id, first_seq)
) PARTITION BY RANGE (day);
-- What is compressed already is not compressed again, and a reader of few columns reads few pages.
ALTER TABLE query_blocks ALTER head SET STORAGE EXTERNAL, ALTER names SET STORAGE EXTERNAL,
  ALTER queries SET STORAGE EXTERNAL, ALTER answers SET STORAGE EXTERNAL;
CREATE INDEX query_blocks_last_time_idx ON query_blocks (last_time);

-- Counts of a minute, a quarter of an hour, or a day in UTC; `counts` by `kind:value`, see minute-counts.ts.
CREATE TABLE query_counts (
  grain        "char" NOT NULL CHECK (grain IN ('m', 'q', 'd')),
  start        timestamptz NOT NULL,
  node_id      integer NOT NULL,
  queries      bigint NOT NULL,
  blocked      bigint NOT NULL,
  cached       bigint NOT NULL,
  forwarded    bigint NOT NULL,
  rate_limited bigint NOT NULL,
  counts       jsonb NOT NULL,
  PRIMARY KEY (grain, start, node_id)
) WITH (fillfactor = 50);
ALTER TABLE query_counts ALTER counts SET STORAGE MAIN;

CREATE FUNCTION weir_add_counts(a jsonb, b jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT a || coalesce(jsonb_object_agg(key, value::bigint + coalesce((a ->> key)::bigint, 0)), '{}')
  FROM jsonb_each_text(b)
$$;

-- For dashboards and reports: one row for each count of a span. Columns are added only, never changed.
CREATE VIEW weir_stats_minutes AS
  SELECT c.start AS time, coalesce(n.name, c.node_id::text) AS node, c.queries, c.blocked, c.cached, c.forwarded,
    c.rate_limited FROM query_counts AS c LEFT JOIN nodes AS n ON n.id = c.node_id WHERE grain = 'm';
CREATE VIEW weir_stats_quarters AS
  SELECT c.start AS time, coalesce(n.name, c.node_id::text) AS node, c.queries, c.blocked, c.cached, c.forwarded,
    c.rate_limited FROM query_counts AS c LEFT JOIN nodes AS n ON n.id = c.node_id WHERE grain = 'q';
CREATE VIEW weir_stats_days AS
  SELECT c.start AS time, coalesce(n.name, c.node_id::text) AS node, c.queries, c.blocked, c.cached, c.forwarded,
    c.rate_limited FROM query_counts AS c LEFT JOIN nodes AS n ON n.id = c.node_id WHERE grain = 'd';
-- The same by kind and value, such as type and 28, status and BLOCKED_LIST, upstream and its address.
CREATE VIEW weir_stats_values AS
  SELECT CASE c.grain WHEN 'm' THEN 'minute' WHEN 'q' THEN 'quarter' ELSE 'day' END AS span, c.start AS time,
    coalesce(n.name, c.node_id::text) AS node, split_part(v.key, ':', 1) AS kind,
    substr(v.key, strpos(v.key, ':') + 1) AS value, v.value::bigint AS count
  FROM query_counts AS c LEFT JOIN nodes AS n ON n.id = c.node_id, jsonb_each_text(c.counts) AS v;

-- Down Migration
DROP VIEW weir_stats_values;
DROP VIEW weir_stats_days;
DROP VIEW weir_stats_quarters;
DROP VIEW weir_stats_minutes;
DROP FUNCTION weir_add_counts(jsonb, jsonb);
DROP TABLE query_counts;
DROP TABLE query_blocks;
DROP TABLE query_runs;
