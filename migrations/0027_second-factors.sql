-- A second factor for logins with a password: codes by time (RFC 6238), and recovery codes.

-- Up Migration
CREATE TABLE second_factors (
  user_id      integer PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  secret       bytea NOT NULL,                    -- no list, log or backup reads it
  confirmed_at timestamptz,                       -- NULL: a code is still to be shown, and none is asked for
  last_step    bigint                             -- time step of the newest code that was taken
);

CREATE TABLE recovery_codes (
  user_id   integer NOT NULL REFERENCES second_factors (user_id) ON DELETE CASCADE,
  code_hash bytea NOT NULL,                       -- SHA-256; a code that was used is deleted
  PRIMARY KEY (user_id, code_hash)
);

-- Down Migration
DROP TABLE recovery_codes;
DROP TABLE second_factors;
