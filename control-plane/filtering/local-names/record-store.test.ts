import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { insertRecord, listRecords } from './record-store.ts';
import type { RecordFields } from './record-store.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

const record = (hostname: string): RecordFields => ({
  ...{ hostname, domain: 'home.arpa', fqdn: `${hostname}.home.arpa` },
  ...{ record_type: 'TXT', value: `{"a, \\ ${hostname}}`, ttl: 60, comment: '' },
});

describe('insertRecord()', () => {
  test('stores records unchanged and in order', async () => {
    const written = [];
    for (const name of ['c', 'a', 'b']) written.push(await insertRecord(own.database, record(name)));
    expect(written).toMatchObject(['c', 'a', 'b'].map(record));
    expect(await listRecords(own.database)).toEqual(written);
  });

  test('is refused with 409, and stores nothing, if the record exists', async () => {
    await insertRecord(own.database, record('there'));
    await expect(insertRecord(own.database, record('there'))).rejects.toMatchObject({ status: 409 });
    const names = (await listRecords(own.database)).map(({ hostname }) => hostname);
    expect(names).toEqual(['c', 'a', 'b', 'there']);
  });
});
