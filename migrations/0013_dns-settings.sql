-- What was set through the API about names of the local network; null = the configuration decides.

-- Up Migration
CREATE TABLE dns_settings (
  id                            integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  never_forward_non_fqdn        boolean,
  never_forward_reverse_lookups boolean,
  local_domain                  text, -- ASCII, lower case, no final dot; empty = none
  local_dns_server              text  -- host:port; empty = none
);

-- Down Migration
DROP TABLE dns_settings;
