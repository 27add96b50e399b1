-- Lists of the names and clients of each hour, day and month of a node (control-plane/query-log/names/name-list.ts).
--
-- A block says which lists count it, and is marked in the transaction that adds it to them: so the lists of a span and
-- the blocks that they do not count give every query once.

-- Up Migration
CREATE TABLE query_names (
  grain            "char" NOT NULL CHECK (grain IN ('h', 'd', 'M')),
  start            timestamptz NOT NULL, -- in UTC
  node_id          integer NOT NULL,
  queries          bigint NOT NULL,      -- counted, also those for names that were dropped
  name_entries     integer NOT NULL,
  names_unseen     bigint NOT NULL,      -- highest count of a name that is not in the list, in a group; 0 = all are
  client_entries   integer NOT NULL,
  clients_unseen   bigint NOT NULL,
  is_alone         boolean NOT NULL DEFAULT false, -- blocks and lists of hours are gone
  names_checksum   integer NOT NULL,
  clients_checksum integer NOT NULL,
  names            bytea NOT NULL,
  clients          bytea NOT NULL,
  PRIMARY KEY (grain, start, node_id)
);
-- What is compressed already is not compressed again.
ALTER TABLE query_names ALTER names SET STORAGE EXTERNAL, ALTER clients SET STORAGE EXTERNAL;

-- 'h': in the lists of its hour, day and month; 'd': of its day and month; null: in no list.
ALTER TABLE query_blocks ADD COLUMN listed "char";
CREATE INDEX query_blocks_unlisted_idx ON query_blocks (last_time) WHERE listed IS NULL;

-- Down Migration
ALTER TABLE query_blocks DROP COLUMN listed;
DROP TABLE query_names;
