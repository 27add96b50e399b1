-- The site (server.site) of the node that saw a client at its addresses: two sites may use the same ones.

-- Up Migration
ALTER TABLE clients ADD COLUMN site text NOT NULL DEFAULT '';

-- Down Migration
ALTER TABLE clients DROP COLUMN site;
