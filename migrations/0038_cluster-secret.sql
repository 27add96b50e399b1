-- The secret that the nodes share (control-plane/cluster/cluster-secret.ts). Whoever reads this table can read what is
-- sealed with it: it is in no backup and no answer of the API.

-- Up Migration
CREATE TABLE cluster_secret (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  secret  bytea NOT NULL CHECK (octet_length(secret) = 32),
  made_at timestamptz NOT NULL DEFAULT now()
);

-- Down Migration
DROP TABLE cluster_secret;
