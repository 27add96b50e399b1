-- When a client identified itself by its key, apart from queries that were counted by its address.

-- Up Migration

CREATE TABLE client_key_sightings (
  client_id  integer PRIMARY KEY REFERENCES clients ON DELETE CASCADE,
  client_key text NOT NULL, -- another key of the client has not been seen yet
  first_seen timestamptz NOT NULL,
  last_seen  timestamptz NOT NULL
);
