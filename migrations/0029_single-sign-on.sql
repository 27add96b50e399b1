-- People who log in at an OpenID provider and have their role from it.

-- Up Migration
CREATE TABLE provided_users (
  issuer  text NOT NULL,
  subject text NOT NULL,                          -- `sub`: names a person of the provider for ever
  user_id integer NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (issuer, subject)
);

-- Down Migration
DROP TABLE provided_users;
