/** HTTP routes of `{api}/local-records`. A change is stored and active when the response is sent. */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { LocalRecordBulkAnswer, LocalRecordBulkBody } from '../../../shared/api/policy/bulk-api.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import {
  LocalRecord,
  LocalRecordCreateBody,
  LocalRecordList,
  LocalRecordUpdateBody,
} from '../../../shared/api/policy/local-records-api.ts';
import type { WrittenLocalRecord } from '../../../shared/policy/local-record.ts';
import type { Author } from '../../api/caller.ts';
import { conflict } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import { BULK_LIMIT_BYTES, RowFaults } from '../../api/row-faults.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Database } from '../../storage/db/database.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import type { LivePolicy } from '../../policy/change/runtime-state.ts';
import { localRecords } from '../../policy/snapshot/build/snapshot-records.ts';
import { contradictionsOf } from './record-contradictions.ts';
import { readRecord, splitName } from './read-record.ts';
import * as store from './record-store.ts';
import type { StoredRecord } from './record-store.ts';

const TAKEN = {
  409: 'the record already exists, contradicts another one, or would create a loop of aliases',
};

/** Local names that are not in the database, but in the configuration and in DHCP leases. */
export interface LocalNames {
  /** Domain that is appended to single-label names, '' = none; see `dns.local_domain`. */
  localDomain(): string;
  live(): Pick<LivePolicy, 'configRecords' | 'leases'>;
}

const localRecord = entity({
  path: '/local-records/{id}',
  params: IdParams,
  answer: LocalRecord,
  body: LocalRecordUpdateBody,
  read: async (db, { id }) => toLocalRecord(await store.findRecord(db, id)),
});

/** The routes of local records. */
export function recordRoutes(context: {
  database: Database;
  policy: PolicyChanges;
  localNames: LocalNames;
}): Route[] {
  return [
    listLocalRecords(context.database, context.localNames),
    createLocalRecord(context.policy, context.localNames),
    changeLocalRecords(context.policy, context.localNames),
    readLocalRecord(context.database),
    updateLocalRecord(context.policy, context.localNames),
    deleteLocalRecord(context.policy, context.localNames),
  ];
}

/** Lists records of all sources, in order of precedence. */
function listLocalRecords(database: Database, localNames: LocalNames): Route {
  return route({
    method: 'GET',
    path: '/local-records',
    access: 'viewer',
    tag: 'Local names',
    summary: 'All local records from all sources',
    answer: LocalRecordList,
    handle: async () => {
      const stored = await store.listRecords(database);
      const { configRecords, leases } = localNames.live();
      const leased = localRecords({ localRecords: [] }, { configRecords, leases }).filter(
        ({ source, type, fqdn }) =>
          source === 'dhcp' && type !== 'PTR' && stored.every((record) => record.fqdn !== fqdn),
      );
      return [
        ...configRecords.map((record) => toApiOther(record, 'config')),
        ...stored.map(toLocalRecord),
        ...leased.map((record) => toApiOther(record, 'dhcp')),
      ];
    },
  });
}

function changeLocalRecords(policy: PolicyChanges, localNames: LocalNames): Route {
  return route({
    method: 'POST',
    path: '/local-records/bulk',
    access: 'admin',
    tag: 'Local names',
    summary:
      'Delete and create many local records in one revision: either all of these changes are made or none',
    body: LocalRecordBulkBody,
    bodyLimitBytes: BULK_LIMIT_BYTES,
    answer: LocalRecordBulkAnswer,
    errors: {
      409:
        'a record cannot be created, as for POST /local-records; `errors` names each such record by its ' +
        'index',
    },
    handle: async (request) => {
      const { create, delete: deleted } = request.body;
      const created = await policy.change(authorOf(request), async (tx) => {
        const result = await changeTogether(tx, localNames, request.body);
        const counts = { created: create.length, deleted: deleted.length };
        const action = codedAction('created_and_deleted', counts);
        return { result, summary: { subject: codedSubject('local_records'), action } };
      });
      return { created: created.map(toLocalRecord), deleted };
    },
  });
}

async function changeTogether(
  tx: Queryable,
  localNames: LocalNames,
  body: LocalRecordBulkBody,
): Promise<StoredRecord[]> {
  const faults = new RowFaults();
  await store.deleteRecords(tx, body.delete, faults);
  const domain = localNames.localDomain();
  const records = body.create.flatMap(
    (given, index) => faults.collect(`create.${index}`, () => readRecord(given, null, domain)) ?? [],
  );
  faults.throwIfAny();
  const created = await store.insertRecords(tx, records, faults);
  faults.throwIfAny();
  for (const { index, message } of await contradictionsOf(tx, localNames.live().configRecords, created))
    faults.conflict(`create.${index}`, message);
  faults.throwIfAny();
  return created;
}

function readLocalRecord(database: Database): Route {
  return route({
    method: 'GET',
    path: '/local-records/{id}',
    access: 'viewer',
    tag: 'Local names',
    summary: 'One local record with the source api',
    params: IdParams,
    answer: LocalRecord,
    entity: localRecord,
    handle: async ({ params }) => toLocalRecord(await store.findRecord(database, params.id)),
  });
}

function createLocalRecord(policy: PolicyChanges, localNames: LocalNames): Route {
  return route({
    method: 'POST',
    path: '/local-records',
    access: 'admin',
    tag: 'Local names',
    summary: 'Create a local record; a record of an address also answers PTR queries for it',
    body: LocalRecordCreateBody,
    status: 201,
    answer: LocalRecord,
    entity: localRecord,
    errors: TAKEN,
    handle: (request) => {
      const record = readRecord(request.body, null, localNames.localDomain());
      return change(policy, localNames, authorOf(request), 'created', (tx) => store.insertRecord(tx, record));
    },
  });
}

function updateLocalRecord(policy: PolicyChanges, localNames: LocalNames): Route {
  return route({
    method: 'PUT',
    path: '/local-records/{id}',
    access: 'admin',
    tag: 'Local names',
    summary: 'Change a local record; absent fields keep their value',
    params: IdParams,
    body: LocalRecordUpdateBody,
    answer: LocalRecord,
    entity: localRecord,
    errors: TAKEN,
    handle: (request) => {
      const { body, params } = request;
      return change(policy, localNames, authorOf(request), 'changed', async (tx) => {
        const before = await store.findRecord(tx, params.id);
        return store.replaceRecord(tx, params.id, readRecord(body, before, localNames.localDomain()));
      });
    },
  });
}

function deleteLocalRecord(policy: PolicyChanges, localNames: LocalNames): Route {
  return route({
    method: 'DELETE',
    path: '/local-records/{id}',
    access: 'admin',
    tag: 'Local names',
    summary: 'Delete a local record',
    params: IdParams,
    entity: localRecord,
    handle: async (request) => {
      await change(policy, localNames, authorOf(request), 'deleted', (tx) =>
        store.deleteRecord(tx, request.params.id),
      );
    },
  });
}

async function change(
  policy: PolicyChanges,
  localNames: LocalNames,
  author: Author,
  verb: 'created' | 'changed' | 'deleted',
  work: (tx: Queryable) => Promise<StoredRecord>,
): Promise<LocalRecord> {
  const record = await policy.change(author, async (tx) => {
    const result = await work(tx);
    if (verb !== 'deleted') {
      const [found] = await contradictionsOf(tx, localNames.live().configRecords, [result]);
      if (found !== undefined) throw conflict(found.message);
    }
    const { fqdn, record_type: type, value } = result;
    const subject = codedSubject('local_record', { name: fqdn, type, value: value.slice(0, 100) });
    return { result, summary: { subject, action: codedAction(verb) } };
  });
  return toLocalRecord(record);
}

function toLocalRecord(record: StoredRecord): LocalRecord {
  const { record_type: type, value } = record;
  return { ...record, ip: type === 'A' || type === 'AAAA' ? value : null, source: 'api' };
}

function toApiOther(record: WrittenLocalRecord, source: 'config' | 'dhcp'): LocalRecord {
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
