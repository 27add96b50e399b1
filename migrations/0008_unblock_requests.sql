-- Requests of devices to unblock a name, made on the page /check. Closed ones stay for an hour, as their number is limited.

-- Up Migration

CREATE TABLE unblock_requests (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client_id  integer NOT NULL REFERENCES clients ON DELETE CASCADE,
  domain     text NOT NULL,
  is_open    boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX unblock_requests_open_key ON unblock_requests (client_id) WHERE is_open;
CREATE INDEX unblock_requests_client_id_idx ON unblock_requests (client_id);

-- Pages of all nodes show the open ones.
INSERT INTO table_versions (name) VALUES ('unblock_requests');
CREATE TRIGGER unblock_requests_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON unblock_requests
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();
