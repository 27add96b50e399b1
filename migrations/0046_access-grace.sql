-- Up Migration
-- An installation that has clients with public addresses or keys when it first gets a release that refuses strangers announces
-- that for a day. Others have nothing to announce: private addresses may ask as before.
CREATE TABLE access_grace (
  id      boolean PRIMARY KEY DEFAULT true CHECK (id), -- one row at most
  ends_at timestamptz NOT NULL
);
INSERT INTO access_grace (ends_at)
  SELECT now() + interval '1 day' WHERE EXISTS (
    SELECT FROM clients WHERE last_seen > now() - interval '7 days' AND (
      client_key IS NOT NULL OR NOT ip_address <<= ANY (ARRAY[
        '127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16',
        '::1', 'fe80::/10', 'fc00::/7']::inet[])));

-- Down Migration
DROP TABLE access_grace;
