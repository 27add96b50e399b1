import { describe, expect, test } from '@jest/globals';
import { SimulateBody } from './simulate-api.ts';

describe('SimulateBody, the draft of a simulation,', () => {
  test('is an empty draft by default', () => {
    expect(SimulateBody.parse({})).toEqual({
      period: '24h',
      limit: 100,
      lists: { add: [], drop: [] },
      managed_domains: { add: [], drop: [] },
      regex_filters: { add: [], drop: [] },
      services: { block: [], unblock: [] },
      clients: [],
      client_subnets: [],
    });
  });

  test('reports the path of an invalid field', () => {
    const { error } = SimulateBody.safeParse({ managed_domains: { add: [{ domain: 'a..b' }] } });
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(['managed_domains.add.0.domain']);
  });
});
