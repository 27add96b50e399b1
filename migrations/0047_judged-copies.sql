-- By which reading of lists the guard judged the copy of a source, and what reaches far in it; null = by an older release.

-- Up Migration
ALTER TABLE list_sources ADD COLUMN judged jsonb; -- see Judgement in lists/sources/source-store.ts

-- Down Migration
ALTER TABLE list_sources DROP COLUMN judged;
