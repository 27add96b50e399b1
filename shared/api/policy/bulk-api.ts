/** Requests and answers of `{api}/managed-domains/bulk`, `{api}/clients/bulk` and `{api}/local-records/bulk`. */
import { z } from 'zod';
import { Id } from '../fields.ts';
import { Client, ClientCreateBody } from './clients-api.ts';
import { LocalRecord, LocalRecordCreateBody } from './local-records-api.ts';
import { ManagedDomain, ManagedDomainCreateBody } from './rules-api.ts';

/** Maximum number of rows that one request may create and delete together. */
export const MAX_BULK_ROWS = 10_000;

/** Rows to create, and ids of rows to delete first: all of them, or none. */
function bulkOf<Create extends z.ZodType>(create: Create) {
  return z
    .strictObject({
      create: z.array(create).max(MAX_BULK_ROWS).default([]),
      delete: z
        .array(Id)
        .max(MAX_BULK_ROWS)
        .refine((ids) => new Set(ids).size === ids.length, 'expected each id once')
        .default([])
        .meta({ description: 'deleted before rows are created', examples: [[]] }),
    })
    .refine((body) => body.create.length + body.delete.length <= MAX_BULK_ROWS, {
      message: `expected at most ${MAX_BULK_ROWS} rows`,
      path: ['create'],
    });
}

function bulkAnswerOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({
    created: z.array(row).meta({ description: 'in the order of the request' }),
    deleted: z.array(Id),
  });
}

export const ManagedDomainBulkBody = bulkOf(ManagedDomainCreateBody).meta({ id: 'ManagedDomainBulk' });
export const ManagedDomainBulkAnswer = bulkAnswerOf(ManagedDomain).meta({ id: 'ManagedDomainsChanged' });

export const ClientBulkBody = bulkOf(ClientCreateBody).meta({ id: 'ClientBulk' });
export type ClientBulkBody = z.output<typeof ClientBulkBody>;
export const ClientBulkAnswer = bulkAnswerOf(Client).meta({ id: 'ClientsChanged' });

export const LocalRecordBulkBody = bulkOf(LocalRecordCreateBody).meta({ id: 'LocalRecordBulk' });
export type LocalRecordBulkBody = z.output<typeof LocalRecordBulkBody>;
export const LocalRecordBulkAnswer = bulkAnswerOf(LocalRecord).meta({ id: 'LocalRecordsChanged' });
