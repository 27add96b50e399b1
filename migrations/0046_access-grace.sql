-- Up Migration
-- An installation that has clients when it first gets a release that refuses strangers announces that for a day.
CREATE TABLE access_grace (
  id      boolean PRIMARY KEY DEFAULT true CHECK (id), -- one row at most
  ends_at timestamptz NOT NULL
);
INSERT INTO access_grace (ends_at)
  SELECT now() + interval '1 day' WHERE EXISTS (SELECT FROM clients WHERE last_seen > now() - interval '7 days');

-- Down Migration
DROP TABLE access_grace;
