#!/bin/bash
# `standby`: copies `primary` unless it has a copy, and follows it. A password is in $PGPASSWORD.
set -e
umask 077
[ -s "$PGDATA/PG_VERSION" ] || pg_basebackup --host=primary --username=replica --pgdata="$PGDATA" --slot=standby --wal-method=stream --write-recovery-conf
exec postgres
