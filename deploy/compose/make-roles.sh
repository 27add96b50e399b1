#!/bin/bash
# Run once by the image of PostgreSQL, in a new `primary`: the role that owns the database of Weir, the one that its queries
# run as, which gets its rights from Weir, and one that may do nothing but replicate. Only this script logs in as the superuser.
set -e
psql --username=postgres --set=owner="$OWNER_PASSWORD" --set=query="$QUERY_PASSWORD" --set=replica="$REPLICA_PASSWORD" <<'END'
CREATE ROLE weir LOGIN PASSWORD :'owner';
ALTER DATABASE weir OWNER TO weir;
CREATE ROLE weir_app LOGIN PASSWORD :'query';
CREATE ROLE replica REPLICATION LOGIN PASSWORD :'replica';
SELECT pg_create_physical_replication_slot('standby');
END
echo 'host replication replica all scram-sha-256' >>"$PGDATA/pg_hba.conf"
