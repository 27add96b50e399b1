-- Up Migration
ALTER TABLE groups ADD COLUMN no_ipv6 boolean NOT NULL DEFAULT false; -- its clients get no IPv6 addresses

-- Down Migration
ALTER TABLE groups DROP COLUMN no_ipv6;
