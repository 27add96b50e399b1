-- Contents that all nodes need and one fetches: copies of lists. And what any node has to know of a
-- source to go on where another one stopped.

-- Up Migration
CREATE TABLE blobs (
  content_key text NOT NULL, -- first half of the SHA-256 of the text, hexadecimal
  part        integer NOT NULL,
  bytes       bytea NOT NULL, -- gzip, at most 1 MiB
  PRIMARY KEY (content_key, part)
);
-- Compressed already.
ALTER TABLE blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;

ALTER TABLE list_sources
  ADD COLUMN content_url_key text, -- names the URL that the copy in force is of
  ADD COLUMN failures integer NOT NULL DEFAULT 0; -- since the last fetch that succeeded
UPDATE list_sources SET content_url_key = left(encode(sha256(convert_to(url, 'UTF8')), 'hex'), 16)
  WHERE content_key IS NOT NULL AND status <> 'pending';

-- Down Migration
ALTER TABLE list_sources DROP COLUMN failures, DROP COLUMN content_url_key;
DROP TABLE blobs;
