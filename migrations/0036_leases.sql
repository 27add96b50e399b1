-- Which node does a job that is to be done once in the cluster, and until when it may (control-plane/cluster/leases.ts).

-- Up Migration
CREATE SEQUENCE lease_tokens;
CREATE TABLE leases (
  job   text PRIMARY KEY,
  node  uuid NOT NULL,        -- of its data directory
  token bigint NOT NULL,      -- each holder has a higher one than those before
  until timestamptz NOT NULL
);

-- Down Migration
DROP TABLE leases;
DROP SEQUENCE lease_tokens;
