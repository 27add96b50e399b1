/** HTTP of `{api}/local-records`. A change is in the database and in force when the answer is sent. */
import type { IdParams } from '../../shared/api/fields.ts';
import type {
  LocalRecord,
  LocalRecordCreate,
  LocalRecordUpdate,
} from '../../shared/api/policy/local-records-api.ts';
import type { WrittenLocalRecord } from '../../shared/policy/local-record.ts';
import { conflict } from '../api/api-error.ts';
import type { Queryable } from '../db/database.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import { localRecords } from '../snapshot/build/snapshot-records.ts';
import { findAliasLoop, buildLocalTree } from '../snapshot/build/local-tree.ts';
import { readRecord, splitName } from './read-record.ts';
import * as store from './record-store.ts';
import type { StoredRecord } from './record-store.ts';

/** GET local-records: those of every source, in order of precedence. */
export async function listLocalRecords({ database, localNames }: ApiContext): Promise<LocalRecord[]> {
  const stored = await store.listRecords(database);
  const { configRecords, leases } = localNames.live();
  const leased = localRecords({ localRecords: [] }, { configRecords, leases }).filter(
    ({ source, type, fqdn }) =>
      source === 'dhcp' && type !== 'PTR' && stored.every((record) => record.fqdn !== fqdn),
  );
  return [
    ...configRecords.map((record) => shownOther(record, 'config')),
    ...stored.map(shown),
    ...leased.map((record) => shownOther(record, 'dhcp')),
  ];
}

/** POST local-records */
export function createLocalRecord(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, LocalRecordCreate>,
): Promise<LocalRecord> {
  const record = readRecord(request.body, null, context.localNames.localDomain());
  return change(context, authorOf(request), 'created', (tx) => store.insertRecord(tx, record));
}

/** PUT local-records/{id} */
export function updateLocalRecord(
  context: ApiContext,
  request: RouteRequest<IdParams, unknown, LocalRecordUpdate>,
): Promise<LocalRecord> {
  const { body, params } = request;
  return change(context, authorOf(request), 'changed', async (tx) => {
    const before = await store.findRecord(tx, params.id);
    return store.replaceRecord(tx, params.id, readRecord(body, before, context.localNames.localDomain()));
  });
}

/** DELETE local-records/{id} */
export async function deleteLocalRecord(context: ApiContext, request: RouteRequest<IdParams>): Promise<void> {
  await change(context, authorOf(request), 'deleted', (tx) => store.deleteRecord(tx, request.params.id));
}

async function change(
  context: ApiContext,
  author: string,
  verb: 'created' | 'changed' | 'deleted',
  work: (tx: Queryable) => Promise<StoredRecord>,
): Promise<LocalRecord> {
  const record = await context.policy.change(author, async (tx) => {
    const result = await work(tx);
    if (verb !== 'deleted') await refuseContradictions(context, tx, result);
    const { fqdn, record_type: type, value } = result;
    const summary = `local record ${fqdn} ${type} ${value.slice(0, 100)}: ${verb}`;
    return { result, summary };
  });
  return shown(record);
}

/** 409 if a name would have a CNAME beside other records, or where aliases would lead back to themselves. */
async function refuseContradictions(
  { localNames }: ApiContext,
  tx: Queryable,
  changed: StoredRecord,
): Promise<void> {
  const rows = (await store.listRecords(tx)).map((record) => ({
    ...record,
    type: record.record_type,
    ttlSecs: record.ttl,
  }));
  const { configRecords } = localNames.live();
  const others = [...configRecords, ...rows.filter(({ id }) => id !== changed.id)].filter(
    ({ fqdn }) => fqdn === changed.fqdn,
  );
  const isAlias = changed.record_type === 'CNAME';
  const contrary = others.find(({ type }) => isAlias || type === 'CNAME');
  if (contrary !== undefined)
    throw conflict(
      `${changed.fqdn} has a record of type ${contrary.type} already; a CNAME stands alone (RFC 1034 section 3.6.2)`,
    );
  if (!isAlias) return;
  const loop = findAliasLoop(
    buildLocalTree(localRecords({ localRecords: rows }, { configRecords, leases: [] })),
  );
  if (loop !== undefined) throw conflict(`the CNAME would lead ${loop} back to itself`);
}

function shown(record: StoredRecord): LocalRecord {
  const { record_type: type, value } = record;
  return { ...record, ip: type === 'A' || type === 'AAAA' ? value : null, source: 'api' };
}

function shownOther(record: WrittenLocalRecord, source: 'config' | 'dhcp'): LocalRecord {
  const { fqdn, type, value, ttlSecs } = record;
  return {
    id: null,
    ...splitName(fqdn),
    record_type: type,
    value,
    ip: type === 'A' || type === 'AAAA' ? value : null,
    ttl: ttlSecs,
    comment: '',
    source,
    created_at: null,
    updated_at: null,
  };
}
