/** Requests and responses of `/bulk` of managed domains, regex filters, clients and local records. */
import { z } from 'zod';
import { Id } from '../fields.ts';
import { Client, ClientCreateBody } from './clients-api.ts';
import { LocalRecord, LocalRecordCreateBody } from './local-records-api.ts';
import { ManagedDomain, ManagedDomainCreateBody, RegexFilter, regexFiltersOf } from './rules-api.ts';

/** Maximum number of rows that one request may create and delete together. */
export const MAX_BULK_ROWS = 10_000;
/** Maximum number of regex filters that one request may create and delete together. */
export const MAX_BULK_FILTERS = 200;

/** Rows to create, and ids of rows to delete first. Either all of these changes are made or none. */
function bulkOf<Row extends z.ZodType>(create: z.ZodArray<Row>, max = MAX_BULK_ROWS) {
  return z
    .strictObject({
      create: create.max(max).default([]),
      delete: z
        .array(Id)
        .max(max)
        .refine((ids) => new Set(ids).size === ids.length, 'expected each id once')
        .default([])
        .meta({ description: 'ids of rows to delete before rows are created', examples: [[]] }),
    })
    .refine((body) => body.create.length + body.delete.length <= max, {
      message: `expected at most ${max} rows`,
      path: ['create'],
    });
}

function bulkAnswerOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({
    created: z.array(row).meta({ description: 'the created rows, in the order of the request' }),
    deleted: z.array(Id),
  });
}

export const ManagedDomainBulkBody = bulkOf(z.array(ManagedDomainCreateBody)).meta({
  id: 'ManagedDomainBulk',
});
export const ManagedDomainBulkAnswer = bulkAnswerOf(ManagedDomain).meta({ id: 'ManagedDomainsChanged' });

export const RegexFilterBulkBody = bulkOf(regexFiltersOf(MAX_BULK_FILTERS), MAX_BULK_FILTERS).meta({
  id: 'RegexFilterBulk',
});
export const RegexFilterBulkAnswer = bulkAnswerOf(RegexFilter).meta({ id: 'RegexFiltersChanged' });

export const ClientBulkBody = bulkOf(z.array(ClientCreateBody)).meta({ id: 'ClientBulk' });
export type ClientBulkBody = z.output<typeof ClientBulkBody>;
export const ClientBulkAnswer = bulkAnswerOf(Client).meta({ id: 'ClientsChanged' });

export const LocalRecordBulkBody = bulkOf(z.array(LocalRecordCreateBody)).meta({ id: 'LocalRecordBulk' });
export type LocalRecordBulkBody = z.output<typeof LocalRecordBulkBody>;
export const LocalRecordBulkAnswer = bulkAnswerOf(LocalRecord).meta({ id: 'LocalRecordsChanged' });
