/** The routes of names that this server answers for itself. Part of `route-table.ts`, whose head says what a row means. */
import { IdParams } from '../../shared/api/fields.ts';
import {
  LocalRecord,
  LocalRecordCreateBody,
  LocalRecordList,
  LocalRecordUpdateBody,
} from '../../shared/api/policy/local-records-api.ts';
import * as records from '../local-names/record-routes.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';

const TAKEN = { 409: 'the record is there already, contradicts another, or would make a loop of aliases' };

export const localNamesRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/local-records',
    access: 'viewer',
    tag: 'Local names',
    summary: 'All local records, whatever their source',
    answer: LocalRecordList,
    handle: records.listLocalRecords,
  }),
  route({
    method: 'POST',
    path: '/local-records',
    access: 'admin',
    tag: 'Local names',
    summary: 'Create a local record; an address is found by its reverse name too',
    body: LocalRecordCreateBody,
    status: 201,
    answer: LocalRecord,
    errors: TAKEN,
    handle: records.createLocalRecord,
  }),
  route({
    method: 'PUT',
    path: '/local-records/{id}',
    access: 'admin',
    tag: 'Local names',
    summary: 'Change a local record; absent fields keep their value',
    params: IdParams,
    body: LocalRecordUpdateBody,
    answer: LocalRecord,
    errors: TAKEN,
    handle: records.updateLocalRecord,
  }),
  route({
    method: 'DELETE',
    path: '/local-records/{id}',
    access: 'admin',
    tag: 'Local names',
    summary: 'Delete a local record',
    params: IdParams,
    handle: records.deleteLocalRecord,
  }),
];
