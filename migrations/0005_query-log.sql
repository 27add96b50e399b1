-- The query log: one row for each answered query, one partition for each day in UTC.
--
-- Columns stand in the order of their alignment, and the closed sets are the small numbers of
-- shared/query-log.ts, so a row takes 140 bytes. `type` is the 16-bit qtype as a signed number.
-- The only index is BRIN on time: a B-tree would cost half as much CPU again for each row written.

-- Up Migration
CREATE SEQUENCE query_log_id_seq CACHE 5000;

CREATE TABLE query_log (
  id               bigint NOT NULL DEFAULT nextval('query_log_id_seq'),
  "timestamp"      timestamptz NOT NULL,
  node_id          integer NOT NULL,
  group_id         integer NOT NULL,
  response_time_us integer NOT NULL,
  type             smallint NOT NULL,
  rcode            smallint NOT NULL,
  status           smallint NOT NULL,
  protocol         smallint NOT NULL,
  dnssec           smallint NOT NULL,
  cached           boolean NOT NULL,
  client           inet NOT NULL,
  domain           text NOT NULL, -- presentation form, lower case, no final dot
  block_source     text,
  block_rule       text,
  upstream         text,
  answers          bytea          -- resource records in wire form, as sent
) PARTITION BY RANGE ("timestamp");
ALTER SEQUENCE query_log_id_seq OWNED BY query_log.id;
CREATE INDEX query_log_timestamp_idx ON query_log USING brin ("timestamp") WITH (pages_per_range = 32);

-- Batches that are in the log, so that one that is sent again after a lost connection is not stored twice.
CREATE TABLE query_log_batches (
  id         uuid PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX query_log_batches_applied_at_idx ON query_log_batches USING brin (applied_at);

-- Down Migration
DROP TABLE query_log_batches;
DROP TABLE query_log;
