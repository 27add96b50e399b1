-- What people cleared from the query log. Rows that arrive later, as from the spool of a node, are cut by the same marks.

-- Up Migration

CREATE TABLE query_log_clears (
  id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at   timestamptz NOT NULL DEFAULT now(),
  created_by   text NOT NULL,
  from_time    timestamptz,          -- null = from the first row on
  to_time      timestamptz NOT NULL, -- exclusive
  client_id    integer,              -- null = all clients
  client_ids   integer[],            -- of all clients of its device
  client_name  text,                 -- what people called it
  addresses    inet[],               -- where that client was known
  rows         bigint NOT NULL DEFAULT 0, -- removed so far
  first_time   timestamptz,          -- of the removed rows
  last_time    timestamptz,
  blocks       integer NOT NULL DEFAULT 0, -- to be looked at
  blocks_done  integer NOT NULL DEFAULT 0,
  done_at      timestamptz
);
