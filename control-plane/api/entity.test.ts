import { describe, expect, test } from '@jest/globals';
import { IdParams } from '../../shared/api/fields.ts';
import { Group, GroupUpdateBody } from '../../shared/api/policy/groups-api.ts';
import type { Queryable } from '../storage/db/queryable.ts';
import type { ApiError } from './api-error.ts';
import { entity, readOnlyFields, tagsIn, withoutReadOnly } from './entity.ts';

const KIDS: Group = {
  ...{ id: 7, name: 'Kids', enabled: true, comment: '', is_default: false, no_ipv6: false, client_count: 3 },
  ...{ created_at: '2026-01-15T12:00:00.000Z', updated_at: '2026-01-15T12:00:00.000Z' },
};

const group = entity({
  path: '/groups/{id}',
  params: IdParams,
  answer: Group,
  body: GroupUpdateBody,
  read: async () => KIDS,
});

/** Status of a change with this `If-Match` header. */
async function statusOf(ifMatch: string): Promise<number> {
  try {
    await group.preconditionOf(ifMatch, { id: 7 })!({} as Queryable);
    return 200;
  } catch (error) {
    return (error as ApiError).status;
  }
}

describe('an API entity', () => {
  test('has an ETag that depends on its writable fields only', () => {
    const etag = group.etagOf(KIDS);
    expect(group.etagOf({ ...KIDS, client_count: 4, updated_at: '2026-01-16T12:00:00.000Z' })).toBe(etag);
    expect(group.etagOf({ ...KIDS, comment: 'other' })).not.toBe(etag);
  });

  test('has a URL path made of the fields of its response, percent-encoded', () => {
    expect(group.locate(KIDS)).toBe('/groups/7');
    expect(group.locate({ id: 'a/b' })).toBe('/groups/a%2Fb');
  });

  test('accepts requests without If-Match, and requires the current ETag in If-Match if the header is sent', async () => {
    const etag = group.etagOf(KIDS);
    expect(group.preconditionOf(undefined, { id: 7 })).toBeUndefined();
    const fields = [etag, `"other", ${etag}`, `W/${etag}`, '*', '"other"', ''];
    expect(await Promise.all(fields.map(statusOf))).toEqual([200, 200, 200, 200, 412, 412]);
  });
});

describe('tagsIn()', () => {
  test.each([
    ['"a"', ['a']],
    ['"a", W/"b" , "c"', ['a', 'b', 'c']],
    [' * ', null],
    ['', ['']],
  ])('reads If-Match %s', (field, tags) => {
    expect(tagsIn(field)).toEqual(tags);
  });
});

describe('withoutReadOnly()', () => {
  test('keeps the writable fields of the schema and unknown fields', () => {
    const body = { ...KIDS, surprise: 1 };
    expect(Object.keys(withoutReadOnly(body, group, GroupUpdateBody) as object)).toEqual([
      ...['name', 'enabled', 'comment', 'no_ipv6', 'surprise'],
    ]);
    expect(readOnlyFields(group.fields, GroupUpdateBody)).toEqual([
      ...['id', 'is_default', 'client_count', 'created_at', 'updated_at'],
    ]);
  });

  test.each([[null], ['text'], [[{ id: 1 }]]])('leaves the validation of %j to the schema', (body) => {
    expect(withoutReadOnly(body, group, GroupUpdateBody)).toBe(body);
  });
});
