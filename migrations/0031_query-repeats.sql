-- A row of the query log may stand for further limited queries of its client network and second (dns.rate_limit): how many
-- the rows of a block stand for beyond themselves. The block says so by row and client (block-layout.ts, format 2).

-- Up Migration
ALTER TABLE query_blocks ADD COLUMN repeats bigint NOT NULL DEFAULT 0;

-- Down Migration
ALTER TABLE query_blocks DROP COLUMN repeats;
