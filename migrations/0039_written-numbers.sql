-- How many numbers a run had given to rows when it last stored some: those that are not in `stored` once its process is
-- gone are lost, or wait on its disk.

-- Up Migration
ALTER TABLE query_runs ADD COLUMN next_seq bigint NOT NULL DEFAULT 0;

-- Down Migration
ALTER TABLE query_runs DROP COLUMN next_seq;
