#!/bin/bash
# Run once by the image of PostgreSQL, in a new `primary`: a role that may do nothing but replicate.
set -e
psql --username=postgres --set=password="$REPLICA_PASSWORD" \
  <<<"CREATE ROLE replica REPLICATION LOGIN PASSWORD :'password'; SELECT pg_create_physical_replication_slot('standby');"
echo 'host replication replica all scram-sha-256' >>"$PGDATA/pg_hba.conf"
