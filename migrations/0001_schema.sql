-- The schema of Weir 0.1.0. Each later change is a separate migration, from 0002 on.
--
-- Domain names are in ASCII, lower case, without the final dot. Columns that end in _secs or _ms have that unit. A foreign
-- key on groups is RESTRICT if deleting the group would silently change what a rule, list or client means.

-- Up Migration

-- === Versions and history ===

-- Versions of the tables that nodes keep in memory; tables that are read together share one. Triggers write them and send
-- each change to all nodes by NOTIFY. A UUID, not a number: a restored database never repeats one.
CREATE TABLE table_versions (
  name    text PRIMARY KEY,
  version uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO table_versions (name) VALUES
  ('groups'), ('list_sources'), ('list_copies'), ('managed_domains'), ('regex_filters'), ('services'),
  ('service_catalog'), ('forward_zones'), ('local_records'), ('schedules'), ('safe_search'), ('clients'),
  ('client_settings'), ('client_subnets'), ('grants'), ('blocking_switch'), ('config_values'), ('access'),
  ('web_certificate');

-- The argument is the name of the version; without it, the name of the table.
CREATE FUNCTION note_table_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE table_versions SET version = gen_random_uuid() WHERE name = coalesce(TG_ARGV[0], TG_TABLE_NAME);
  RETURN NULL;
END $$;

CREATE FUNCTION tell_table_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('weir', NEW.name);
  RETURN NULL;
END $$;
CREATE TRIGGER table_versions_told AFTER UPDATE ON table_versions
  FOR EACH ROW EXECUTE FUNCTION tell_table_version();

-- Every change of policy or lists; those since the oldest that control-plane/policy/change/revision-store.ts keeps can be
-- rolled back to.
CREATE TABLE revisions (
  id          bigint GENERATED ALWAYS AS IDENTITY (START WITH 2) PRIMARY KEY,
  created_at  timestamptz NOT NULL DEFAULT now(),
  author      text NOT NULL,
  summary     text NOT NULL,
  last_change bigint NOT NULL DEFAULT 0,     -- highest policy_changes.seq when it was made
  is_own      boolean NOT NULL DEFAULT false -- made by Weir, for example for new content of a list
);
CREATE INDEX revisions_people_idx ON revisions (id) WHERE NOT is_own;
-- The state before the first change, so that this one can be undone as well. With wal_level = minimal a number that a
-- sequence gives in the transaction that creates it is lost in a crash, so that this one is written here.
INSERT INTO revisions (id, author, summary, is_own) OVERRIDING SYSTEM VALUE
  VALUES (1, 'system', 'Weir: installed', true);

-- Rows of the policy tables as they were before each change that people made, for as long as a revision needs them.
-- Triggers write it.
CREATE TABLE policy_changes (
  seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  table_name text NOT NULL,
  key        text NOT NULL, -- values of the key columns, separated by spaces
  was        jsonb          -- null = the row did not exist
);
CREATE INDEX policy_changes_table_idx ON policy_changes (table_name, seq);

-- The arguments are the key columns.
CREATE FUNCTION note_policy_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  old_key text;
  new_key text;
  was     jsonb;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    SELECT string_agg(to_jsonb(OLD) ->> name, ' ' ORDER BY place) INTO old_key
      FROM unnest(TG_ARGV) WITH ORDINALITY AS columns (name, place);
    was := to_jsonb(OLD);
    -- A rollback brings the content of a list back only if a person has changed it.
    IF TG_TABLE_NAME = 'list_sources' AND TG_OP = 'UPDATE' AND was ->> 'content_key' <> to_jsonb(NEW) ->> 'content_key' THEN
      was := was || '{"has_new_content": true}';
    END IF;
    INSERT INTO policy_changes (table_name, key, was) VALUES (TG_TABLE_NAME, old_key, was);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    SELECT string_agg(to_jsonb(NEW) ->> name, ' ' ORDER BY place) INTO new_key
      FROM unnest(TG_ARGV) WITH ORDINALITY AS columns (name, place);
    IF new_key IS DISTINCT FROM old_key THEN
      INSERT INTO policy_changes (table_name, key, was) VALUES (TG_TABLE_NAME, new_key, NULL);
    END IF;
  END IF;
  RETURN NULL;
END $$;

-- Who changed what, when and from where. Every change through the API or the command line adds a row.
CREATE TABLE audit_log (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  actor      text NOT NULL,             -- name of a user or token, or `system`
  address    inet,                      -- of the client; null = Weir itself, or the command line
  action     text NOT NULL,
  subject    text NOT NULL,
  revision   bigint,                    -- null = it made none
  before     jsonb,                     -- null = it did not exist
  after      jsonb,                     -- null = it no longer exists
  left_out   integer NOT NULL DEFAULT 0 -- changed rows that `before` and `after` do not show
);
CREATE INDEX audit_log_created_at_idx ON audit_log (created_at, id);
CREATE INDEX audit_log_revision_idx ON audit_log (revision) WHERE revision IS NOT NULL;

-- === Policy, written through the API ===

-- Groups of clients. Each client belongs to one; `Default` (id 1) has the clients without another group.
CREATE TABLE groups (
  id         integer GENERATED BY DEFAULT AS IDENTITY (START WITH 2) PRIMARY KEY,
  name       text NOT NULL,
  enabled    boolean NOT NULL DEFAULT true,
  comment    text NOT NULL DEFAULT '',
  no_ipv6    boolean NOT NULL DEFAULT false, -- its clients get no IPv6 addresses
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT groups_default_stays_enabled CHECK (id <> 1 OR enabled)
);
CREATE UNIQUE INDEX groups_name_key ON groups (lower(name));
INSERT INTO groups (id, name, comment) VALUES (1, 'Default', 'Clients that belong to no other group');

-- Subscribed blocklists and allowlists. The API writes settings, the node that refreshes lists the facts of a fetch.
CREATE TABLE list_sources (
  id              integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  kind            text NOT NULL DEFAULT 'block' CHECK (kind IN ('block', 'allow')),
  name            text NOT NULL,
  url             text NOT NULL,
  enabled         boolean NOT NULL DEFAULT true,
  comment         text NOT NULL DEFAULT '',
  subdomains      boolean NOT NULL DEFAULT false, -- plain and hosts names also cover their subdomains
  format          text,                           -- as detected at the last fetch
  status          text NOT NULL DEFAULT 'pending',
  rules           integer NOT NULL DEFAULT 0,
  invalid_lines   integer NOT NULL DEFAULT 0,
  bytes           bigint NOT NULL DEFAULT 0,
  etag            text,
  last_modified   text,                           -- the header as the server sent it
  last_checked_at timestamptz,
  last_changed_at timestamptz,
  last_error      text,
  failures        integer NOT NULL DEFAULT 0,     -- since the last fetch that succeeded
  file_node       text,                           -- node whose file counts; null = not a file, or not read
  content_key     text,                           -- names the active copy in `blobs`
  content_url_key text,                           -- names the URL that the active copy was fetched from
  held_key        text,                           -- names the held update in `blobs`
  held            jsonb,                          -- why it is held; counts only while held_key has a copy
  judged          jsonb,                          -- Judgement in lists/sources/source-store.ts; null = not judged yet
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT list_sources_url_key UNIQUE (kind, url)
);

-- The groups that a list applies to; a list without a row applies to every group.
CREATE TABLE list_source_groups (
  source_id integer NOT NULL REFERENCES list_sources ON DELETE CASCADE,
  group_id  integer NOT NULL REFERENCES groups ON DELETE RESTRICT,
  PRIMARY KEY (source_id, group_id)
);
CREATE INDEX list_source_groups_group_id_idx ON list_source_groups (group_id);

-- Rules for single domains.
CREATE TABLE managed_domains (
  id         integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  name       text NOT NULL,
  domain     text NOT NULL, -- with `*.` in front it also covers all subdomains
  action     text NOT NULL CHECK (action IN ('allow', 'deny')),
  group_id   integer REFERENCES groups ON DELETE RESTRICT, -- null = every group
  comment    text NOT NULL DEFAULT '',
  enabled    boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX managed_domains_rule_key ON managed_domains (domain, action, coalesce(group_id, 0));
CREATE INDEX managed_domains_group_id_idx ON managed_domains (group_id);

-- Rules that are regular expressions.
CREATE TABLE regex_filters (
  id         integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  name       text NOT NULL,
  pattern    text NOT NULL,
  action     text NOT NULL CHECK (action IN ('allow', 'deny')),
  group_id   integer REFERENCES groups ON DELETE RESTRICT, -- null = every group
  comment    text NOT NULL DEFAULT '',
  enabled    boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX regex_filters_rule_key ON regex_filters (md5(pattern), action, coalesce(group_id, 0));
CREATE INDEX regex_filters_group_id_idx ON regex_filters (group_id);

-- Schedule profiles, assigned to groups or to blocked services.
CREATE TABLE schedule_profiles (
  id         integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  name       text NOT NULL,
  timezone   text NOT NULL, -- IANA name
  comment    text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX schedule_profiles_name_key ON schedule_profiles (lower(name));

-- The time slots of a profile, in minutes of the day in the time zone of the profile.
CREATE TABLE schedule_slots (
  id           integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  profile_id   integer NOT NULL REFERENCES schedule_profiles ON DELETE CASCADE,
  days         smallint NOT NULL CHECK (days BETWEEN 1 AND 127),          -- bit 0 = Monday
  start_minute smallint NOT NULL CHECK (start_minute BETWEEN 0 AND 1439), -- inclusive
  end_minute   smallint NOT NULL CHECK (end_minute BETWEEN 0 AND 1440),   -- exclusive; before the start: next day
  action       text NOT NULL CHECK (action IN ('block_all', 'allow_all')),
  created_at   timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT schedule_slots_not_empty CHECK (start_minute <> end_minute)
);
CREATE INDEX schedule_slots_profile_id_idx ON schedule_slots (profile_id);

-- The profile of a group; a group has one at most.
CREATE TABLE group_schedules (
  group_id   integer PRIMARY KEY REFERENCES groups ON DELETE CASCADE,
  profile_id integer NOT NULL REFERENCES schedule_profiles ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX group_schedules_profile_id_idx ON group_schedules (profile_id);

-- Services that users define; the built-in ones are in a file of the program.
CREATE TABLE custom_services (
  service_id text PRIMARY KEY CHECK (service_id LIKE 'custom-%'),
  name       text NOT NULL,
  category   text NOT NULL,
  domains    text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX custom_services_name_key ON custom_services (lower(name));

-- Services that are blocked for a group.
CREATE TABLE blocked_services (
  id         integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  service_id text NOT NULL,
  group_id   integer NOT NULL REFERENCES groups ON DELETE CASCADE,
  profile_id integer REFERENCES schedule_profiles ON DELETE CASCADE, -- only during its block_all slots; null = always
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT blocked_services_once_key UNIQUE (service_id, group_id)
);
CREATE INDEX blocked_services_group_id_idx ON blocked_services (group_id);
CREATE INDEX blocked_services_profile_id_idx ON blocked_services (profile_id);

-- The catalog of services that was fetched last. Written by the node that refreshes it.
CREATE TABLE service_catalog (
  id              boolean PRIMARY KEY DEFAULT true CHECK (id), -- there is one row
  url             text,                                        -- that the other columns are about
  content_key     text,                                        -- names the catalog in `blobs`
  etag            text,
  last_modified   text,
  last_checked_at timestamptz,
  failures        integer NOT NULL DEFAULT 0                   -- since the last fetch that succeeded
);
INSERT INTO service_catalog DEFAULT VALUES;

-- Search engines and video sites whose safe mode is enforced for a group.
CREATE TABLE safe_search_configs (
  group_id     integer NOT NULL REFERENCES groups ON DELETE CASCADE,
  engine       text NOT NULL,
  enabled      boolean NOT NULL,
  youtube_mode text NOT NULL CHECK (youtube_mode IN ('strict', 'moderate')), -- only YouTube has two modes
  PRIMARY KEY (group_id, engine)
);

-- Zones that separate servers are asked for instead of the upstream pools, or that are answered here.
CREATE TABLE forward_zones (
  id         integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  zone       text NOT NULL CONSTRAINT forward_zones_zone_key UNIQUE, -- a name, or a network
  servers    text[] NOT NULL, -- upstream URLs; none = answered here
  comment    text NOT NULL DEFAULT '',
  enabled    boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Records that Weir answers itself, in addition to those of the configuration and of DHCP.
CREATE TABLE local_records (
  id          integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  hostname    text NOT NULL,            -- fqdn without its domain
  domain      text NOT NULL DEFAULT '', -- the zone that the name belongs to; '' = none
  fqdn        text NOT NULL,            -- with `*.` in front it covers all subdomains
  record_type text NOT NULL CHECK (record_type IN ('A', 'AAAA', 'CNAME', 'TXT', 'PTR', 'MX', 'SRV')),
  value       text NOT NULL,            -- canonical
  ttl         integer NOT NULL DEFAULT 300 CHECK (ttl BETWEEN 0 AND 604800), -- seconds
  comment     text NOT NULL DEFAULT '',
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX local_records_record_key ON local_records (fqdn, record_type, md5(value));

-- Clients as the nodes saw them, and their names, groups and keys as set through the API.
CREATE TABLE clients (
  id          integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  ip_address  inet,                         -- where it was seen last; identifies a client without a MAC
  mac_address macaddr,
  client_key  text                          -- by which it names itself over DoT and DoH, a label; null = none
    CONSTRAINT clients_key_form CHECK (client_key ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  addresses   inet[] NOT NULL DEFAULT '{}', -- where it was seen, the last one first
  site        text NOT NULL DEFAULT '',     -- server.site of the node that saw it: sites may share addresses
  hostname    text,
  name        text,                         -- set through the API
  group_id    integer REFERENCES groups ON DELETE RESTRICT, -- null = the group of its subnet, else Default
  exclude_from_log   boolean NOT NULL DEFAULT false, -- its queries get no rows in the query log
  exclude_from_stats boolean NOT NULL DEFAULT false, -- its queries are not counted
  first_seen  timestamptz,
  last_seen   timestamptz,
  query_count bigint NOT NULL DEFAULT 0,
  CONSTRAINT clients_known_by CHECK (ip_address IS NOT NULL OR mac_address IS NOT NULL OR client_key IS NOT NULL)
);
CREATE UNIQUE INDEX clients_mac_key ON clients (mac_address);
CREATE UNIQUE INDEX clients_ip_key ON clients (ip_address) WHERE mac_address IS NULL;
CREATE UNIQUE INDEX clients_key_key ON clients (client_key);
CREATE INDEX clients_group_id_idx ON clients (group_id) WHERE group_id IS NOT NULL;

-- What people set of a client, which is part of revisions; null = nothing: it was only seen. The address of a client that
-- is known by its MAC is where it was seen last.
CREATE FUNCTION client_settings(c clients) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN num_nonnulls(c.name, c.group_id, c.client_key) > 0 OR c.exclude_from_log OR c.exclude_from_stats THEN
    to_jsonb(c) - ARRAY['addresses', 'site', 'hostname', 'first_seen', 'last_seen', 'query_count']
      - CASE WHEN c.mac_address IS NULL THEN '' ELSE 'ip_address' END END
$$;

CREATE FUNCTION note_client_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policy_changes (table_name, key, was) VALUES ('clients', coalesce(NEW.id, OLD.id)::text,
    CASE WHEN client_settings(OLD) IS NOT NULL THEN to_jsonb(OLD) END);
  -- Once is enough for thousands of clients in one transaction.
  UPDATE table_versions SET version = gen_random_uuid()
    WHERE name = 'client_settings' AND xmin <> pg_current_xact_id()::xid;
  RETURN NULL;
END $$;

-- Networks whose clients are in a group.
CREATE TABLE client_subnets (
  id         integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  cidr       cidr NOT NULL CONSTRAINT client_subnets_cidr_key UNIQUE,
  group_id   integer NOT NULL REFERENCES groups ON DELETE RESTRICT,
  comment    text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX client_subnets_group_id_idx ON client_subnets (group_id);

-- Temporary rules for one client, one group or everyone. Not part of revisions, as most end by themselves.
CREATE TABLE grants (
  id         integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  domain     text, -- null = every name
  subdomains boolean NOT NULL DEFAULT true, -- whether the names below the domain are covered too
  client_id  integer REFERENCES clients ON DELETE CASCADE,
  group_id   integer REFERENCES groups ON DELETE CASCADE,
  action     text NOT NULL CHECK (action IN ('allow', 'block')),
  until      timestamptz, -- null = until deleted
  created_at timestamptz NOT NULL,
  CONSTRAINT grants_for_one CHECK (num_nonnulls(client_id, group_id) <= 1)
);
CREATE INDEX grants_client_id_idx ON grants (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX grants_group_id_idx ON grants (group_id) WHERE group_id IS NOT NULL;

-- Whether blocking is paused: one row, or none while the configuration decides. Not part of revisions.
CREATE TABLE blocking_switch (
  id         integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  enabled    boolean NOT NULL,
  until      timestamptz, -- null = until changed
  "before"   boolean,     -- the state after `until`; null = that of the configuration
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- The configuration of the cluster: a row for each key that is not at its default.
CREATE TABLE config_values (
  key        text PRIMARY KEY, -- for example `dns.query_timeout_ms`
  value      jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Until when clients that `dns.allowed_clients` does not have are still answered: one row, or none. Written only by the
-- migration of a release that starts to refuse clients which asked in the last week.
CREATE TABLE access_grace (
  id      boolean PRIMARY KEY DEFAULT true CHECK (id),
  ends_at timestamptz NOT NULL
);

-- === Access to the API. Secrets are stored as hashes, except those of second factors ===

-- The password of the administrator, one row at most. Written at the setup and by `weir` on the command line.
CREATE TABLE admin_credential (
  id            smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  password_hash text NOT NULL, -- Argon2id, PHC string
  updated_at    timestamptz NOT NULL DEFAULT now()
);

-- The administrator (id 1), and the users that the API or a login at an OpenID provider added.
CREATE TABLE users (
  id            integer GENERATED BY DEFAULT AS IDENTITY (START WITH 2) PRIMARY KEY,
  username      text, -- ASCII; null = the configuration names the administrator
  display_name  text NOT NULL DEFAULT '',
  role          text NOT NULL CHECK (role IN ('admin', 'viewer')),
  enabled       boolean NOT NULL DEFAULT true,
  password_hash text, -- Argon2id, PHC string; the administrator's is in admin_credential
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT users_administrator_check
    CHECK (CASE id WHEN 1 THEN username IS NULL AND password_hash IS NULL AND role = 'admin' AND enabled
                   ELSE username IS NOT NULL END)
);
CREATE UNIQUE INDEX users_username_key ON users (lower(username));
INSERT INTO users (id, role) VALUES (1, 'admin');

-- Users who log in at an OpenID provider. Written at each login there.
CREATE TABLE provided_users (
  issuer  text NOT NULL,
  subject text NOT NULL, -- `sub`: permanently names a user of the provider
  user_id integer NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (issuer, subject)
);

-- Second factors for logins with a password: codes by time (RFC 6238).
CREATE TABLE second_factors (
  user_id      integer PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  secret       bytea NOT NULL, -- no list, log or backup reads it
  confirmed_at timestamptz,    -- null = waits for its first code, and logins ask for none
  last_step    bigint          -- time step of the newest accepted code
);

-- Recovery codes of second factors; a used one is deleted.
CREATE TABLE recovery_codes (
  user_id   integer NOT NULL REFERENCES second_factors (user_id) ON DELETE CASCADE,
  code_hash bytea NOT NULL, -- SHA-256
  PRIMARY KEY (user_id, code_hash)
);

-- API tokens.
CREATE TABLE api_tokens (
  id           integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  name         text NOT NULL,
  key_hash     bytea NOT NULL CONSTRAINT api_tokens_key_hash_key UNIQUE, -- SHA-256 of the key
  prefix       text NOT NULL, -- first characters of the key
  role         text NOT NULL CHECK (role IN ('admin', 'viewer')),
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz    -- at most a minute behind
);

-- Sessions of users or tokens, with the role of their owner. Written at logins and, at most once a minute, when used.
CREATE TABLE sessions (
  id           integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, -- public, gives no access
  secret_hash  bytea NOT NULL CONSTRAINT sessions_secret_hash_key UNIQUE, -- SHA-256 of the cookie
  user_id      integer REFERENCES users (id) ON DELETE CASCADE,
  token_id     integer REFERENCES api_tokens (id) ON DELETE CASCADE,
  ip_address   inet,
  user_agent   text,
  remember_me  boolean NOT NULL DEFAULT false,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  idle_secs    integer CHECK (idle_secs > 0), -- life after the last use; null = until expires_at
  CONSTRAINT sessions_owner_check CHECK (num_nonnulls(user_id, token_id) = 1)
);
CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);
CREATE INDEX sessions_idle_idx ON sessions (last_seen_at) WHERE idle_secs IS NOT NULL;
CREATE INDEX sessions_user_id_idx ON sessions (user_id);
CREATE INDEX sessions_token_id_idx ON sessions (token_id);

-- Failed logins of each user name from each client address.
CREATE TABLE login_failures (
  username text NOT NULL,
  address  text NOT NULL, -- IPv4, or the /64 of IPv6
  failures integer NOT NULL,
  last_at  timestamptz NOT NULL,
  PRIMARY KEY (username, address)
);
CREATE INDEX login_failures_last_at_idx ON login_failures (last_at);

-- === The cluster ===

-- The nodes that share this database. Each node writes its own row at its start and with a heartbeat every two seconds.
CREATE TABLE nodes (
  id              integer PRIMARY KEY, -- derived from the name, so a node knows it without the database
  name            text NOT NULL CONSTRAINT nodes_name_key UNIQUE,
  uuid            uuid,                -- of the data directory; null = the name is not claimed yet
  run             uuid,                -- of the process; null = it has ended and released the name
  version         text,
  address         text,
  state           text CHECK (state IN ('starting', 'ready', 'draining')),
  started_at      timestamptz,
  last_seen       timestamptz NOT NULL DEFAULT now(),
  snapshot_id     bigint,
  policy_revision bigint,
  policy_mark     bigint,              -- see setMark() in storage/cluster/policy-position.ts
  applied_at      timestamptz,         -- when its policy_revision became active there
  qps             real,
  figures         jsonb,               -- only for display, see storage/cluster/node-figures.ts
  forgotten_at    timestamptz          -- deleted by a user; its name stays for its rows in the query log
) WITH (fillfactor = 50); -- heartbeats change no index: half of each page has room for the next version of a row

-- The node that does a job which only one may do, and until when (control-plane/storage/cluster/leases.ts).
CREATE TABLE leases (
  job   text PRIMARY KEY,
  node  uuid NOT NULL,   -- of its data directory
  token bigint NOT NULL, -- from lease_tokens: higher than that of every holder before
  until timestamptz NOT NULL
);
CREATE SEQUENCE lease_tokens;

-- Single facts about the installation, such as `first_source_seeded`.
CREATE TABLE meta (
  key        text PRIMARY KEY,
  value      jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- The secret that the nodes share (control-plane/storage/cluster/cluster-secret.ts). Anyone who can read this table can read what
-- is sealed with it: it is in no backup and in no answer of the API.
CREATE TABLE cluster_secret (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  secret  bytea NOT NULL CHECK (octet_length(secret) = 32),
  made_at timestamptz NOT NULL DEFAULT now()
);

-- The uploaded certificate, for all nodes: sealed, see control-plane/web/tls/shared-certificate.ts.
CREATE TABLE web_certificate (
  is_only    boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version    uuid NOT NULL DEFAULT gen_random_uuid(),
  sealed     bytea NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- Copies of lists and of the service catalog, that one node fetches for all.
CREATE TABLE blobs (
  content_key text NOT NULL, -- first half of the SHA-256 of the text, hexadecimal
  part        integer NOT NULL,
  bytes       bytea NOT NULL, -- gzip, at most 1 MiB
  PRIMARY KEY (content_key, part)
);
ALTER TABLE blobs ALTER bytes SET STORAGE EXTERNAL; -- compressed already

-- === The query log and statistics, written by every node ===

-- Runs: one life of a process. It numbers its queries from 0, so (run, number) names a query wherever it waits. `stored`
-- holds the numbers that are in the log: a block that is sent twice is stored once, and a gap is a loss.
CREATE TABLE query_runs (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key        uuid NOT NULL CONSTRAINT query_runs_key_key UNIQUE,
  part_of    uuid, -- of rows that only the log or only statistics have: the key of the main run of their process
  node_id    integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  last_at    timestamptz NOT NULL DEFAULT now(), -- of the newest block
  last_seq   bigint NOT NULL DEFAULT -1,         -- highest number stored
  stored     int8multirange NOT NULL DEFAULT '{}',
  -- How many numbers it had given when it last stored some; after its end, those not in `stored` are lost or on its disk.
  next_seq   bigint NOT NULL DEFAULT 0
);

-- The log in blocks (control-plane/query-log/block/block-layout.ts), one partition for each day in UTC.
CREATE TABLE query_blocks (
  day        date NOT NULL, -- in UTC
  run_id     integer NOT NULL,
  first_seq  bigint NOT NULL,
  row_count  integer NOT NULL,
  node_id    integer NOT NULL,
  hour       timestamptz NOT NULL,
  first_time timestamptz NOT NULL,
  last_time  timestamptz NOT NULL,
  lengths    integer[] NOT NULL,
  checksums  integer[] NOT NULL,
  head       bytea NOT NULL,
  names      bytea NOT NULL,
  queries    bytea NOT NULL,
  answers    bytea,
  used_by    "char" NOT NULL DEFAULT 'b' CHECK (used_by IN ('b', 'l', 's')), -- log and statistics, or one of them
  listed     "char",        -- lists of names that count it: 'h' = of its hour, day and month; 'd' = all but hours
  repeats    bigint NOT NULL DEFAULT 0, -- limited queries that its rows stand for in addition to themselves
  PRIMARY KEY (day, run_id, first_seq)
) PARTITION BY RANGE (day);
-- They are compressed already, and a reader of few columns reads few pages.
ALTER TABLE query_blocks ALTER head SET STORAGE EXTERNAL, ALTER names SET STORAGE EXTERNAL,
  ALTER queries SET STORAGE EXTERNAL, ALTER answers SET STORAGE EXTERNAL;
CREATE INDEX query_blocks_last_time_idx ON query_blocks (last_time);
CREATE INDEX query_blocks_unlisted_idx ON query_blocks (last_time) WHERE listed IS NULL;

-- Counts of a minute, a quarter of an hour, or a day in UTC, stored in the transaction of their blocks.
CREATE TABLE query_counts (
  grain        "char" NOT NULL CHECK (grain IN ('m', 'q', 'd')),
  start        timestamptz NOT NULL,
  node_id      integer NOT NULL,
  queries      bigint NOT NULL,
  blocked      bigint NOT NULL,
  cached       bigint NOT NULL,
  forwarded    bigint NOT NULL,
  rate_limited bigint NOT NULL,
  counts       jsonb NOT NULL, -- by `kind:value`, see minute-counts.ts
  PRIMARY KEY (grain, start, node_id)
) WITH (fillfactor = 50);
ALTER TABLE query_counts ALTER counts SET STORAGE MAIN;

CREATE FUNCTION weir_add_counts(a jsonb, b jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT a || coalesce(jsonb_object_agg(key, value::bigint + coalesce((a ->> key)::bigint, 0)), '{}')
  FROM jsonb_each_text(b)
$$;

-- Names and clients of each hour, day and month of a node (control-plane/query-log/top-lists/name-list.ts), added up in the
-- background. A block is marked in the transaction that adds it, so the lists of a span and the blocks that they do not
-- count give every query once.
CREATE TABLE query_names (
  grain            "char" NOT NULL CHECK (grain IN ('h', 'd', 'M')),
  start            timestamptz NOT NULL,           -- in UTC
  node_id          integer NOT NULL,
  queries          bigint NOT NULL,                -- all that were counted, also of names that were dropped
  name_entries     integer NOT NULL,
  names_unseen     bigint NOT NULL,                -- highest count of a name outside the list, in a group; 0 = none is
  client_entries   integer NOT NULL,
  clients_unseen   bigint NOT NULL,
  is_alone         boolean NOT NULL DEFAULT false, -- the blocks and lists of hours are gone
  names_checksum   integer NOT NULL,
  clients_checksum integer NOT NULL,
  names            bytea NOT NULL,
  clients          bytea NOT NULL,
  PRIMARY KEY (grain, start, node_id)
);
ALTER TABLE query_names ALTER names SET STORAGE EXTERNAL, ALTER clients SET STORAGE EXTERNAL; -- compressed already

-- For external dashboards and reports: one row for each count of a span. Columns are only added, never changed.
CREATE VIEW weir_stats_minutes AS
  SELECT c.start AS time, coalesce(n.name, c.node_id::text) AS node, c.queries, c.blocked, c.cached, c.forwarded,
    c.rate_limited FROM query_counts AS c LEFT JOIN nodes AS n ON n.id = c.node_id WHERE grain = 'm';
CREATE VIEW weir_stats_quarters AS
  SELECT c.start AS time, coalesce(n.name, c.node_id::text) AS node, c.queries, c.blocked, c.cached, c.forwarded,
    c.rate_limited FROM query_counts AS c LEFT JOIN nodes AS n ON n.id = c.node_id WHERE grain = 'q';
CREATE VIEW weir_stats_days AS
  SELECT c.start AS time, coalesce(n.name, c.node_id::text) AS node, c.queries, c.blocked, c.cached, c.forwarded,
    c.rate_limited FROM query_counts AS c LEFT JOIN nodes AS n ON n.id = c.node_id WHERE grain = 'd';
-- The same by kind and value, such as type and 28, status and BLOCKED_LIST, upstream and its address.
CREATE VIEW weir_stats_values AS
  SELECT CASE c.grain WHEN 'm' THEN 'minute' WHEN 'q' THEN 'quarter' ELSE 'day' END AS span, c.start AS time,
    coalesce(n.name, c.node_id::text) AS node, split_part(v.key, ':', 1) AS kind,
    substr(v.key, strpos(v.key, ':') + 1) AS value, v.value::bigint AS count
  FROM query_counts AS c LEFT JOIN nodes AS n ON n.id = c.node_id, jsonb_each_text(c.counts) AS v;

-- === Triggers ===

-- A row that is written as it was has not changed.
CREATE FUNCTION keep_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  written timestamptz := NEW.updated_at;
BEGIN
  NEW.updated_at := OLD.updated_at;
  IF NEW IS DISTINCT FROM OLD THEN
    NEW.updated_at := written;
  END IF;
  RETURN NEW;
END $$;

-- Tables every change of which concerns all nodes: table, version, trigger.
DO $$
DECLARE
  part record;
BEGIN
  FOR part IN SELECT * FROM (VALUES
    ('groups', 'groups'), ('list_source_groups', 'list_sources'), ('managed_domains', 'managed_domains'),
    ('regex_filters', 'regex_filters'), ('custom_services', 'services'), ('blocked_services', 'services'),
    ('forward_zones', 'forward_zones'), ('local_records', 'local_records'), ('schedule_profiles', 'schedules'),
    ('schedule_slots', 'schedules'), ('group_schedules', 'schedules'), ('safe_search_configs', 'safe_search'))
    AS parts (table_name, version_name)
  LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION note_table_version(%L)',
      part.table_name || '_version', part.table_name, part.version_name);
  END LOOP;
  FOR part IN SELECT * FROM (VALUES ('client_subnets'), ('grants'), ('blocking_switch'), ('config_values'),
    ('web_certificate')) AS parts (table_name)
  LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I
      FOR EACH STATEMENT EXECUTE FUNCTION note_table_version()', part.table_name || '_version', part.table_name);
  END LOOP;
  -- Tables that revisions restore row by row: table, key column.
  FOR part IN SELECT * FROM (VALUES ('groups', 'id'), ('managed_domains', 'id'), ('regex_filters', 'id'),
    ('custom_services', 'service_id'), ('blocked_services', 'id'), ('forward_zones', 'id'), ('local_records', 'id'),
    ('schedule_profiles', 'id'), ('schedule_slots', 'id'), ('group_schedules', 'group_id'), ('client_subnets', 'id'))
    AS keys (table_name, key_column)
  LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %I
      FOR EACH ROW EXECUTE FUNCTION note_policy_change(%L)',
      part.table_name || '_change', part.table_name, part.key_column);
  END LOOP;
  FOR part IN SELECT * FROM (VALUES ('groups'), ('managed_domains'), ('regex_filters'), ('custom_services'),
    ('forward_zones'), ('local_records'), ('schedule_profiles'), ('users')) AS parts (table_name)
  LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION keep_updated_at()',
      part.table_name || '_updated_at', part.table_name);
  END LOOP;
END $$;
CREATE TRIGGER list_source_groups_change AFTER INSERT OR UPDATE OR DELETE ON list_source_groups
  FOR EACH ROW EXECUTE FUNCTION note_policy_change('source_id', 'group_id');
CREATE TRIGGER safe_search_configs_change AFTER INSERT OR UPDATE OR DELETE ON safe_search_configs
  FOR EACH ROW EXECUTE FUNCTION note_policy_change('group_id', 'engine');

-- The blocked services are read with the slots of their profiles.
CREATE TRIGGER schedule_profiles_services_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON schedule_profiles
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version('services');
CREATE TRIGGER schedule_slots_services_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON schedule_slots
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version('services');
CREATE TRIGGER service_catalog_version AFTER UPDATE ON service_catalog
  FOR EACH ROW WHEN (OLD.content_key IS DISTINCT FROM NEW.content_key) EXECUTE FUNCTION note_table_version();

-- The facts of a fetch change neither policy nor another node; the active copy concerns all nodes.
CREATE TRIGGER list_sources_version AFTER INSERT OR DELETE OR TRUNCATE ON list_sources
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();
CREATE TRIGGER list_sources_version_update AFTER UPDATE ON list_sources
  FOR EACH ROW WHEN (ROW (OLD.name, OLD.url, OLD.kind, OLD.enabled, OLD.subdomains) IS DISTINCT FROM
    ROW (NEW.name, NEW.url, NEW.kind, NEW.enabled, NEW.subdomains))
  EXECUTE FUNCTION note_table_version();
CREATE TRIGGER list_sources_copies AFTER UPDATE ON list_sources
  FOR EACH ROW WHEN (OLD.content_key IS DISTINCT FROM NEW.content_key OR OLD.held_key IS DISTINCT FROM NEW.held_key)
  EXECUTE FUNCTION note_table_version('list_copies');
CREATE TRIGGER list_sources_change
  AFTER INSERT OR DELETE OR UPDATE OF kind, name, url, enabled, comment, subdomains, content_key ON list_sources
  FOR EACH ROW EXECUTE FUNCTION note_policy_change('id');

-- Policy needs only the clients with a group, a key or an exclusion, and what identifies them; sightings change nothing of
-- that.
CREATE TRIGGER clients_version_insert AFTER INSERT ON clients
  FOR EACH ROW WHEN (NEW.group_id IS NOT NULL OR NEW.client_key IS NOT NULL
    OR NEW.exclude_from_log OR NEW.exclude_from_stats)
  EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_delete AFTER DELETE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS NOT NULL OR OLD.client_key IS NOT NULL
    OR OLD.exclude_from_log OR OLD.exclude_from_stats)
  EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_update AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.group_id IS DISTINCT FROM NEW.group_id
    OR OLD.client_key IS DISTINCT FROM NEW.client_key
    OR OLD.exclude_from_log <> NEW.exclude_from_log
    OR OLD.exclude_from_stats <> NEW.exclude_from_stats
    OR NEW.client_key IS NOT NULL
      AND (OLD.name IS DISTINCT FROM NEW.name OR OLD.mac_address IS DISTINCT FROM NEW.mac_address)
    OR (NEW.group_id IS NOT NULL OR NEW.exclude_from_log OR NEW.exclude_from_stats)
      AND (OLD.mac_address IS DISTINCT FROM NEW.mac_address
        OR NEW.mac_address IS NULL AND OLD.ip_address IS DISTINCT FROM NEW.ip_address))
  EXECUTE FUNCTION note_table_version();
CREATE TRIGGER clients_version_truncate AFTER TRUNCATE ON clients
  FOR EACH STATEMENT EXECUTE FUNCTION note_table_version();

CREATE TRIGGER clients_change_insert AFTER INSERT ON clients
  FOR EACH ROW WHEN (client_settings(NEW) IS NOT NULL) EXECUTE FUNCTION note_client_change();
CREATE TRIGGER clients_change_delete AFTER DELETE ON clients
  FOR EACH ROW WHEN (client_settings(OLD) IS NOT NULL) EXECUTE FUNCTION note_client_change();
CREATE TRIGGER clients_change_update AFTER UPDATE ON clients
  FOR EACH ROW WHEN (client_settings(OLD) IS DISTINCT FROM client_settings(NEW)) EXECUTE FUNCTION note_client_change();

-- The same for clients with a grant.
CREATE FUNCTION note_granted_client() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM grants WHERE client_id = NEW.id) THEN
    UPDATE table_versions SET version = gen_random_uuid() WHERE name = 'grants';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER clients_grants_version AFTER UPDATE ON clients
  FOR EACH ROW WHEN (OLD.mac_address IS DISTINCT FROM NEW.mac_address
    OR NEW.mac_address IS NULL AND OLD.ip_address IS DISTINCT FROM NEW.ip_address)
  EXECUTE FUNCTION note_granted_client();

-- Only settings that decide about names are part of revisions; sessions, the log and the cache are not.
CREATE TRIGGER config_values_added AFTER INSERT ON config_values
  FOR EACH ROW WHEN (NEW.key ~ '^(dns|blocking)[.]') EXECUTE FUNCTION note_policy_change('key');
CREATE TRIGGER config_values_changed AFTER UPDATE OR DELETE ON config_values
  FOR EACH ROW WHEN (OLD.key ~ '^(dns|blocking)[.]') EXECUTE FUNCTION note_policy_change('key');

-- A revoked right ends on all nodes: what they remember of tokens and sessions is read again.
CREATE TRIGGER sessions_access AFTER DELETE ON sessions
  FOR EACH ROW EXECUTE FUNCTION note_table_version('access');
CREATE TRIGGER api_tokens_access AFTER INSERT OR DELETE ON api_tokens
  FOR EACH ROW EXECUTE FUNCTION note_table_version('access');
CREATE TRIGGER api_tokens_access_update AFTER UPDATE ON api_tokens
  FOR EACH ROW WHEN (OLD.role <> NEW.role OR OLD.key_hash <> NEW.key_hash)
  EXECUTE FUNCTION note_table_version('access');
CREATE TRIGGER users_access AFTER UPDATE ON users
  FOR EACH ROW WHEN (OLD.role <> NEW.role OR OLD.enabled <> NEW.enabled)
  EXECUTE FUNCTION note_table_version('access');
