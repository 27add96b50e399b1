-- Users of the role family, who may pause blocking and grant names for the clients that an administrator has linked to them.

-- Up Migration

ALTER TABLE users DROP CONSTRAINT users_role_check,
  ADD CONSTRAINT users_role_check CHECK (role IN ('admin', 'family', 'viewer'));

CREATE TABLE user_clients (
  user_id   integer NOT NULL REFERENCES users ON DELETE CASCADE,
  client_id integer NOT NULL REFERENCES clients ON DELETE CASCADE,
  PRIMARY KEY (user_id, client_id)
);
CREATE INDEX user_clients_client_id_idx ON user_clients (client_id);

-- Who gets the role family again later gets none of the clients of before.
CREATE FUNCTION delete_user_clients() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM user_clients WHERE user_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER users_clients AFTER UPDATE ON users
  FOR EACH ROW WHEN (OLD.role = 'family' AND NEW.role <> 'family') EXECUTE FUNCTION delete_user_clients();

-- A link that is removed ends the right on all nodes: what they remember of sessions is read again.
CREATE TRIGGER user_clients_access AFTER INSERT OR DELETE ON user_clients
  FOR EACH ROW EXECUTE FUNCTION note_table_version('access');
