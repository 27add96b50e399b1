-- Of a list that is a file, the nodes may have different ones: that of one node counts for all.

-- Up Migration
ALTER TABLE list_sources ADD COLUMN file_node text; -- its name; null = no node has read the file, or it lost it

-- Down Migration
ALTER TABLE list_sources DROP COLUMN file_node;
