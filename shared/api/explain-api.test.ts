import { describe, expect, test } from '@jest/globals';
import { ExplainQuery } from './explain-api.ts';

describe('ExplainQuery', () => {
  test('converts a name to lower case', () => {
    expect(ExplainQuery.parse({ domain: 'B\u00fccher.example.' })).toEqual({
      domain: 'xn--bcher-kva.example',
    });
  });

  test.each([{ domain: '' }, { domain: 'a..b' }, { type: 'NONE' }, { client: 'here' }, { query_id: '-1' }])(
    'rejects %j',
    (query) => {
      expect(ExplainQuery.safeParse(query).success).toBe(false);
    },
  );
});
