-- Who a node's name belongs to: the data directory that claimed it, and the process that holds it now.

-- Up Migration
ALTER TABLE nodes ADD COLUMN uuid uuid; -- of the data directory; null = no one has claimed the name yet
ALTER TABLE nodes ADD COLUMN run uuid;  -- of the process; null = it has ended and given up the name

-- Down Migration
ALTER TABLE nodes DROP COLUMN run;
ALTER TABLE nodes DROP COLUMN uuid;
